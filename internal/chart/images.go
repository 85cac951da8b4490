package chart

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podSpec returns the spec of the pods of a built-in kind.
func podSpec(o *unstructured.Unstructured) map[string]any {
	var path []string
	group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	switch group + "/" + o.GetKind() {
	case "v1/Pod":
		path = []string{"spec"}
	case "v1/PodTemplate":
		path = []string{"template", "spec"}
	case "v1/ReplicationController", "apps/Deployment", "apps/ReplicaSet", "apps/DaemonSet", "apps/StatefulSet", "batch/Job":
		path = []string{"spec", "template", "spec"}
	case "batch/CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template", "spec"}
	default:
		return nil
	}
	at := o.Object
	for _, p := range path {
		at, _ = at[p].(map[string]any)
	}
	return at
}

// imageFields yields the mappings of a pod template that name an image, with the field.
func imageFields(o *unstructured.Unstructured) iter.Seq2[map[string]any, string] {
	return func(yield func(map[string]any, string) bool) {
		spec := podSpec(o)
		for _, list := range []string{"initContainers", "containers", "ephemeralContainers", "volumes"} {
			items, _ := spec[list].([]any)
			for _, item := range items {
				holder, _ := item.(map[string]any)
				name := "image"
				if list == "volumes" {
					holder, _ = holder["image"].(map[string]any)
					name = "reference"
				}
				if s, _ := holder[name].(string); s == "" {
					continue
				}
				if !yield(holder, name) {
					return
				}
			}
		}
	}
}

func images(r *Rendered) []string {
	var all []string
	add := func(o *unstructured.Unstructured) {
		for holder, name := range imageFields(o) {
			all = append(all, holder[name].(string))
		}
	}
	for _, o := range r.Objects {
		add(o)
	}
	for _, h := range r.Hooks {
		add(h.Object)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// RewriteImages replaces the registry host of every image in the pod template of a built-in kind.
// It ignores custom kinds.
func RewriteImages(o *unstructured.Unstructured, registry string) {
	for holder, name := range imageFields(o) {
		holder[name] = RewriteImage(holder[name].(string), registry)
	}
}

// RewriteImage replaces the host of an image by a registry (a host, with or without a path):
// quay.io/a/b:1 becomes mirror/a/b:1, and nginx becomes mirror/library/nginx. Tag and digest stay.
func RewriteImage(image, registry string) string {
	host, rest, ok := strings.Cut(image, "/")
	switch {
	case !ok:
		rest = "library/" + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		rest = image
	case (host == "docker.io" || host == "index.docker.io") && !strings.Contains(rest, "/"):
		rest = "library/" + rest
	}
	return strings.TrimSuffix(registry, "/") + "/" + rest
}
