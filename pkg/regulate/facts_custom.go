package regulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// versionFields are the fields in which custom resources have the wanted version.
var versionFields = [][]string{
	{"spec", "version"},
	{"spec", "image"},
	{"spec", "tag"},
	{"spec", "imageName"},
	{"spec", "imageTag"},
	{"spec", "image", "repository"},
	{"spec", "image", "tag"},
	{"spec", "image", "name"},
	{"spec", "crVersion"},
	{"spec", "serverVersion"},
	{"spec", "postgresVersion"},
	{"spec", "postgresql", "version"},
	{"spec", "kafka", "version"},
	{"spec", "chart", "spec", "version"},
	{"spec", "source", "targetRevision"},
}

// custom reads a custom resource. It uses a hash in place of the generation, which any change of
// the spec raises, and without a status subresource any change of the status too. The hash
// covers the spec, or without one everything but metadata and status, and leaves out what holds
// write.
func (c *Collector) custom(o object.Object, fields map[string]any) fact {
	var f fact
	for _, path := range versionFields {
		if text, ok := scalar(dig(fields, path)); ok && text != "" {
			f.versions = append(f.versions, strings.Join(path, ".")+"="+text)
		}
	}
	spec := map[string]any{}
	if s, ok := fields["spec"]; ok {
		spec["spec"] = s
	} else {
		spec = maps.Clone(fields)
		for _, key := range []string{"apiVersion", "kind", "metadata", "status"} {
			delete(spec, key)
		}
	}
	gvk := schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
	for _, path := range slices.Concat([][]string{{"spec", "replicas"}}, c.written(gvk), c.patched) {
		spec = lessOf(spec, path)
	}
	f.print = sum(spec, nil)
	f.rollout = unobserved(fields)
	f.missing = c.missingFields(gvk, fields)
	return f
}

// written returns the fields that the signals of a kind set.
func (c *Collector) written(gvk schema.GroupVersionKind) [][]string {
	if c.signals == nil {
		return nil
	}
	var out [][]string
	for _, preset := range []string{signals.PresetPause, signals.PresetStop} {
		s, ok := c.signals.Of(gvk, preset)
		if !ok {
			continue
		}
		var above []string
		if s.Each != "" {
			above = strings.Split(s.Each, ".")
		}
		out = append(out, leaves(s.Patch, above)...)
		if s.Or != nil {
			out = append(out, leaves(s.Or.Patch, above)...)
		}
	}
	return out
}

// missingFields returns the fields that signals of a kind require and an object lacks.
func (c *Collector) missingFields(gvk schema.GroupVersionKind, fields map[string]any) map[string]string {
	if c.signals == nil {
		return nil
	}
	var lacks map[string]string
	for _, preset := range []string{signals.PresetPause, signals.PresetStop} {
		s, ok := c.signals.Of(gvk, preset)
		if !ok || s.Requires == "" || dig(fields, strings.Split(s.Requires, ".")) != nil {
			continue
		}
		if lacks == nil {
			lacks = map[string]string{}
		}
		lacks[preset] = s.Requires
	}
	return lacks
}

func dig(v any, path []string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, float64, bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// unobserved returns that the operator of a custom resource has not observed its latest
// generation; empty where it has, or where the status has no generation.
func unobserved(fields map[string]any) string {
	newest, ok := number(dig(fields, []string{"metadata", "generation"}))
	if !ok {
		return ""
	}
	seen, ok := number(dig(fields, []string{"status", "observedGeneration"}))
	if !ok || seen >= newest {
		return ""
	}
	return fmt.Sprintf("generation %d, and its operator has observed %d", newest, seen)
}

// number reads a generation: some operators write it as text.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}
