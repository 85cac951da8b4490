package signals

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Changes returns an object as it is after the signal; live is not changed, and one that is
// held already comes back as it is. live is the object, or where Scale is set its Scale
// (autoscaling/v1). pods are the names of the object's pods, which only those signals want
// that NamesPods. It is an error where the signal means nothing to the object: then there is
// nothing to write.
func (s Signal) Changes(live *unstructured.Unstructured, pods ...string) (map[string]any, error) {
	if err := s.fits(live, pods); err != nil {
		return nil, err
	}
	after := runtime.DeepCopyJSON(live.Object)
	if s.Holds(live, pods...) {
		return after, nil
	}
	wanted := filled(s.patchFor(live), pods).(map[string]any)
	if s.Each == "" {
		return patch.Merge(after, wanted), nil
	}
	items, _, _ := unstructured.NestedSlice(after, fieldNames(s.Each)...)
	for i := range items {
		items[i] = patch.Merge(items[i].(map[string]any), wanted)
	}
	if err := unstructured.SetNestedSlice(after, items, fieldNames(s.Each)...); err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.Kind, s.Preset, err)
	}
	return after, nil
}

// fits says why the signal means nothing to an object.
func (s Signal) fits(live *unstructured.Unstructured, pods []string) error {
	subject := live.GetKind() + "/" + live.GetName()
	if s.Requires != "" && !hasField(live.Object, s.Requires) {
		return fmt.Errorf("%s has no %s, which %s needs: write a patch for it instead", subject, s.Requires, s.Preset)
	}
	if s.NamesPods() && len(pods) == 0 {
		return fmt.Errorf("%s has no pods, which %s lists by name: there is nothing to %s", subject, s.Preset, s.Preset)
	}
	if s.Each == "" {
		return nil
	}
	items, ok, err := unstructured.NestedSlice(live.Object, fieldNames(s.Each)...)
	if err != nil || !ok || len(items) == 0 {
		return fmt.Errorf("%s has no items in %s, which %s changes: write a patch for it instead", subject, s.Each, s.Preset)
	}
	for i, item := range items {
		if _, ok := item.(map[string]any); !ok {
			return fmt.Errorf("%s: %s[%d] is not a mapping: write a patch for it instead", subject, s.Each, i)
		}
	}
	return nil
}

// Holds says whether an object is as the signal would make it, by whomever. Of a signal
// that names pods it is so when each of them is named; without pods, when any is.
func (s Signal) Holds(live *unstructured.Unstructured, pods ...string) bool {
	patch := s.patchFor(live)
	if s.Scale { // The API leaves out replicas that are 0.
		replicas, found, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "replicas")
		return !found || sameValue(replicas, int64(0))
	}
	if s.Each == "" {
		return s.held(live.Object, patch, pods)
	}
	items, _, _ := unstructured.NestedSlice(live.Object, fieldNames(s.Each)...)
	for _, item := range items {
		if fields, ok := item.(map[string]any); !ok || !s.held(fields, patch, pods) {
			return false
		}
	}
	return len(items) > 0
}

// NamesPods says that the patch has the names of the object's pods in it.
func (s Signal) NamesPods() bool { return namesPods(s.Patch) }

func namesPods(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, PodsOf)
	case map[string]any:
		for _, field := range v {
			if namesPods(field) {
				return true
			}
		}
	}
	return false
}

// patchFor chooses between fields that exclude each other.
func (s Signal) patchFor(live *unstructured.Unstructured) map[string]any {
	if s.Or != nil && hasField(live.Object, s.Or.When) {
		return s.Or.Patch
	}
	return s.Patch
}

func (s Signal) held(fields, patch map[string]any, pods []string) bool {
	for key, want := range patch {
		got, ok := fields[key]
		if !ok {
			return false
		}
		if deeper, ok := want.(map[string]any); ok {
			children, _ := got.(map[string]any)
			if !s.held(children, deeper, pods) {
				return false
			}
			continue
		}
		if !s.heldAt(got, want, pods) {
			return false
		}
	}
	return true
}

func (s Signal) heldAt(got, want any, pods []string) bool {
	if text, ok := want.(string); ok && strings.Contains(text, PodsOf) {
		named, _ := got.(string)
		list := strings.Split(named, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return named != "" && !slices.ContainsFunc(pods, func(p string) bool { return !slices.Contains(list, p) })
	}
	return s.Presence || sameValue(got, want) || slices.ContainsFunc(s.Same, func(other any) bool { return sameValue(got, other) })
}

// sameValue compares numbers whatever Go made of them.
func sameValue(x, y any) bool {
	a, isA := numeric(x)
	b, isB := numeric(y)
	if isA && isB {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// filled writes the names of pods where a patch wants them.
func filled(v any, pods []string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, PodsOf, strings.Join(slices.Sorted(slices.Values(pods)), ","))
	case map[string]any:
		out := maps.Clone(v)
		for key, field := range out {
			out[key] = filled(field, pods)
		}
		return out
	}
	return v
}

// hasField says whether there is a field at a path of names: spec.job.
func hasField(fields map[string]any, path string) bool {
	_, ok, err := unstructured.NestedFieldNoCopy(fields, fieldNames(path)...)
	return ok && err == nil
}

func fieldNames(path string) []string { return strings.Split(path, ".") }
