package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// versionField checks the kinds whose objects run pods until they are deleted.
func versionField(d *check.Definition, r *check.Result) {
	if !slices.ContainsFunc(d.Workloads(), (*check.Workload).IsLongRunning) {
		return
	}
	storage := d.Storage()
	if storage == nil || storage.Schema == nil || storage.Schema.OpenAPIV3Schema == nil {
		r.AddUnknown(d.Ref, "it has no schema")
		return
	}
	spec, ok := storage.Schema.OpenAPIV3Schema.Properties["spec"]
	if !ok || schemaOpen(&spec) && len(spec.Properties) == 0 {
		r.AddUnknown(d.Ref, "its schema does not say what fields the spec has")
		return
	}
	const deep = 4
	if path := versionPath("spec", &spec, deep); path != "" {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.versions[].schema.openAPIV3Schema.properties.spec",
		Message: fmt.Sprintf("a %s has no field for the version or the image to run", d.Kind.Kind),
	})
}

// versionPath finds the topmost field that states a version or an image, at most deep levels
// down.
func versionPath(path string, s *apiextensionsv1.JSONSchemaProps, deep int) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		if statesVersion(name) {
			return path + "." + name
		}
	}
	if deep == 1 {
		return ""
	}
	for _, name := range names {
		child := s.Properties[name]
		if found := versionPath(path+"."+name, &child, deep-1); found != "" {
			return found
		}
		if items := itemSchema(&child); items != nil {
			if found := versionPath(path+"."+name+"[]", items, deep-1); found != "" {
				return found
			}
		}
	}
	return ""
}

// statesVersion reports whether a field's name is that of the version or image of a program,
// and not of an API or a protocol.
func statesVersion(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case "apiversion", "resourceversion", "tlsversion", "minversion", "maxversion", "imagepullpolicy", "imagepullsecrets", "imagepullsecret", "httpversion", "ipversion", "schemaversion":
		return false
	case "release", "tag", "distribution":
		return true
	}
	return strings.HasSuffix(lower, "version") || strings.HasPrefix(lower, "image") || strings.HasSuffix(lower, "image")
}

// versionActedOn compares the versions in instances with the images of their pods.
func versionActedOn(d *check.Definition, r *check.Result) {
	for _, ref := range d.Instances {
		versions := d.World.Facts.Versions(ref)
		want := cmp.Or(versions["spec.version"], versions["spec.tag"], versions["spec.imageTag"], versions["spec.imageVersion"])
		image := cmp.Or(versions["spec.image"], versions["spec.imageName"])
		field := statedField(versions)
		if want == "" && image == "" {
			continue
		}
		runs := runningImages(d, ref)
		if len(runs) == 0 {
			continue
		}
		switch verdict, got := compareVersion(d.Kind.Kind, want, image, runs); verdict {
		case same:
			r.Pass(ref)
		case older:
			stated := cmp.Or(want, image)
			if !isSettled(d, ref) {
				r.AddUnknown(ref, fmt.Sprintf("%s is requested, %s runs, and pods are being replaced", stated, got))
				continue
			}
			f := check.Finding{
				Object: ref, Field: field, Value: stated, Related: []object.Ref{runs[0].of},
				Message: fmt.Sprintf("%s is requested, and its pods run %s: the operator has not processed it yet, or is stuck", stated, got),
			}
			r.AddFinding(f)
		default:
			if status := versions["status.version"]; status != "" && check.VersionsAgree(want, status) {
				r.Pass(ref)
				continue
			}
			r.AddUnknown(ref, fmt.Sprintf("%s is requested, and it is unknown which image of its pods that means", cmp.Or(want, image)))
		}
	}
}

func statedField(stated map[string]string) string {
	for _, name := range []string{"spec.version", "spec.tag", "spec.imageTag", "spec.imageVersion", "spec.image", "spec.imageName"} {
		if stated[name] != "" {
			return name
		}
	}
	return ""
}

// runningImage is a container of an instance's pods.
type runningImage struct {
	of    object.Ref
	name  string
	text  string
	image check.Image
}

// runningImages returns the containers of the long-running workloads that an instance owns,
// each different image once, in order.
func runningImages(d *check.Definition, ref object.Ref) []runningImage {
	var out []runningImage
	for _, wl := range d.World.WorkloadsOf(d.World.Owned(ref)) {
		if !wl.IsLongRunning() || len(wl.Pods) == 0 {
			continue
		}
		for _, spec := range wl.Specs() {
			for _, c := range spec.Containers {
				out = append(out, runningImage{of: wl.Ref, name: c.Name, text: c.Image, image: check.ParseImage(c.Image)})
			}
		}
	}
	return out
}

// isSettled reports whether no workload of an instance is in a rollout.
func isSettled(d *check.Definition, ref object.Ref) bool {
	for _, wl := range d.World.WorkloadsOf(d.World.Owned(ref)) {
		switch o := wl.Object.(type) {
		case *appsv1.Deployment:
			if o.Status.ObservedGeneration < o.Generation || o.Status.UpdatedReplicas < wl.Replicas {
				return false
			}
		case *appsv1.StatefulSet:
			if o.Status.ObservedGeneration < o.Generation || o.Status.UpdateRevision != o.Status.CurrentRevision {
				return false
			}
		}
	}
	return true
}

type verdict uint8

const (
	unknown verdict = iota
	same
	older
)

// compareVersion reports whether containers run the stated version. One that does is enough.
// Only a container with the name of the kind, or with the repository of the stated image,
// counts as older.
func compareVersion(kind, want, image string, runs []runningImage) (verdict, string) {
	if image != "" {
		if slices.ContainsFunc(runs, func(c runningImage) bool { return c.text == image }) {
			return same, ""
		}
		stated := check.ParseImage(image)
		for _, c := range runs {
			if want == "" && c.image.Repository == stated.Repository && check.IsOlder(c.image.Tag, stated.Tag) {
				return older, c.text
			}
		}
	}
	if want == "" {
		return unknown, ""
	}
	if slices.ContainsFunc(runs, func(c runningImage) bool { return check.VersionsAgree(want, c.image.Tag) }) {
		return same, ""
	}
	for _, c := range runs {
		named := check.PlainName(c.name) == check.PlainName(kind) || check.PlainName(c.image.Name()) == check.PlainName(kind)
		if named && check.IsOlder(c.image.Tag, want) {
			return older, c.text
		}
	}
	return unknown, ""
}
