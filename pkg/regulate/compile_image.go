package regulate

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// liveObject is an object as it was read, and the part that is written: itself, or its Scale.
type liveObject struct {
	main, scale *unstructured.Unstructured
	// replicas is the path of the scaled field in the object, where the API server tells.
	replicas []string
}

func (i *liveObject) fields() map[string]any {
	if i.scale != nil {
		return i.scale.Object
	}
	return i.main.Object
}

// read reads the object of an operation.
func (r *Runner) read(ctx context.Context, t Target) (*liveObject, error) {
	main, err := r.Client.Get(ctx, t.bare())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	if t.Subresource != scaleSubresource {
		return &liveObject{main: main}, nil
	}
	scale, err := r.Client.Get(ctx, t)
	if m := noReplicas.FindStringSubmatch(fmt.Sprint(err)); apierrors.IsInternalError(err) && m != nil {
		return &liveObject{main: main, scale: unscaled(main), replicas: strings.Split(m[1], ".")}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read scale of %s: %w", t, err)
	}
	return &liveObject{main: main, scale: scaleIn(scale)}, nil
}

// noReplicas is the error of the API server for a custom resource without a replica count
// (k8s.io/apiextensions-apiserver, ScaleREST.Get).
var noReplicas = regexp.MustCompile(`spec replicas field "\.([^"]+)" does not exist`)

// unscaled is the Scale of such an object: the API server cannot show it, but accepts a patch of
// it.
func unscaled(main *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": map[string]any{},
		"metadata": map[string]any{
			"name": main.GetName(), "namespace": main.GetNamespace(), "uid": string(main.GetUID()), "resourceVersion": main.GetResourceVersion(),
		},
	}}
}

// scaleIn writes the replica count of a Scale explicitly: its JSON omits 0.
func scaleIn(scale *unstructured.Unstructured) *unstructured.Unstructured {
	if _, ok := patch.Lookup(scale.Object, []string{"spec", "replicas"}); !ok {
		patch.Put(scale.Object, []string{"spec", "replicas"}, int64(0))
	}
	return scale
}

// scaleTo returns the patch of a Scale; nil if the count is unchanged. The JSON omits a count of
// 0, which a JSON patch therefore cannot replace.
func scaleTo(live, want map[string]any) ([]byte, error) {
	current, has := patch.Lookup(live, []string{"spec", "replicas"})
	to, ok := patch.Lookup(want, []string{"spec", "replicas"})
	if !ok || has && patch.Equal(current, to) {
		return nil, nil
	}
	version, _ := patch.Lookup(live, []string{"metadata", "resourceVersion"})
	return json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}, "spec": map[string]any{"replicas": to}})
}

// patch returns the patch from live to want.
func (r *Runner) patch(ctx context.Context, t Target, live, want map[string]any) (*unstructured.Unstructured, error) {
	pt, body, err := types.JSONPatchType, []byte(nil), error(nil)
	if t.Subresource == scaleSubresource {
		pt = types.MergePatchType
		body, err = scaleTo(live, want)
	} else {
		body, err = patch.JSONPatch(live, want)
	}
	if err != nil {
		return nil, permanent("%w", err)
	}
	if body == nil {
		return nil, nil
	}
	after, err := r.Client.Patch(ctx, t, pt, body, WriteOptions{Manager: FieldManager, DryRun: r.DryRun})
	if err == nil && t.Subresource == scaleSubresource {
		after = scaleIn(after)
	}
	return after, err
}

// plain returns the fields of an object that its writer decides.
func plain(fields map[string]any, status bool) map[string]any {
	out := make(map[string]any, len(fields))
	for k, v := range fields {
		if k != "status" || status {
			out[k] = v
		}
	}
	if m, ok := out["metadata"].(map[string]any); ok {
		meta := make(map[string]any, len(m))
		for k, v := range m {
			if k != "resourceVersion" && k != "generation" && k != "managedFields" {
				meta[k] = v
			}
		}
		out["metadata"] = meta
	}
	return out
}

// changes returns the changes of an action on an object. claims are operations of other holds on
// the same object: fields that they hold too are written again unchanged, so that they stay when
// those holds end, and mappings that they created are shared.
func (r *Runner) changes(a *system.Action, t Target, fields map[string]any, claims []*Operation) ([]patch.Change, map[string]any, error) {
	after, err := r.edit(a, t, fields)
	if err != nil {
		return nil, nil, err
	}
	out := patch.Diff(plain(fields, true), plain(after, true))
	if len(claims) == 0 {
		return out, after, nil
	}
	base := fields
	for _, o := range slices.Backward(claims) {
		base, _ = patch.Undo(unkept(o.Changes), base, false)
	}
	single, err := r.edit(a, t, base)
	if err != nil {
		return out, after, nil
	}
	for _, b := range patch.Diff(plain(base, true), plain(single, true)) {
		if i := slices.IndexFunc(out, func(c patch.Change) bool { return c.Path == b.Path }); i >= 0 {
			out[i].CreatedParents = b.CreatedParents
			continue
		}
		at, ok := b.Resolve(fields)
		if !ok {
			continue
		}
		v, has := patch.Lookup(fields, at)
		b.ExistedBefore, b.Before, b.ExistsAfter, b.After = has, v, has, v
		out = append(out, b)
	}
	slices.SortFunc(out, func(x, y patch.Change) int { return strings.Compare(x.Path, y.Path) })
	return out, after, nil
}

func unkept(changes []patch.Change) []patch.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c patch.Change) bool { return c.Kept })
}

// ways returns the paths of the fields of an operation in the object itself.
func (o *Operation) ways(main *unstructured.Unstructured) [][]string {
	if o.Target.Subresource == scaleSubresource {
		if o.Replicas != "" {
			return [][]string{patch.Tokens(o.Replicas)}
		}
		if at, ok := scaledField(main); ok {
			return [][]string{at}
		}
		return [][]string{{"spec", "replicas"}}
	}
	var out [][]string
	for i := range o.Changes {
		if c := &o.Changes[i]; !c.Kept {
			at, ok := c.Resolve(main.Object)
			if !ok {
				at = patch.Tokens(c.Path)
			}
			out = append(out, at)
		}
	}
	return out
}

// scaledAt finds the field that a Scale sets, by the diff of its write.
func scaledAt(before, after *unstructured.Unstructured, was, now any) (patch.Change, bool) {
	for _, c := range patch.Diff(before.Object, after.Object) {
		if strings.HasPrefix(c.Path, "/spec/") && c.ExistsAfter && patch.Equal(c.After, now) && (!c.ExistedBefore || patch.Equal(c.Before, was)) {
			return c, true
		}
	}
	return patch.Change{}, false
}

// missing counts the mappings on a path that do not exist.
func missing(o map[string]any, at []string) int {
	for n := range at {
		if _, ok := patch.Lookup(o, at[:n+1]); !ok {
			return len(at) - 1 - n
		}
	}
	return 0
}

// mayBeScaled returns the paths of fields with the number of a Scale. The write shows which of
// them it is.
func mayBeScaled(main *unstructured.Unstructured, number any) [][]string {
	out := [][]string{{"spec", "replicas"}}
	var walk func(at []string, v any)
	walk = func(at []string, v any) {
		if m, ok := v.(map[string]any); ok {
			for k := range m {
				walk(append(slices.Clip(at), k), m[k])
			}
		} else if patch.Equal(v, number) {
			out = append(out, at)
		}
	}
	spec, _ := patch.Lookup(main.Object, []string{"spec"})
	walk([]string{"spec"}, spec)
	return out
}

// adopt takes the response of the API server as the result of a write: the server sets defaults
// and normalizes quantities, and admission may change any field.
func (o *Operation) adopt(before, after map[string]any) {
	status := slices.ContainsFunc(o.Changes, func(c patch.Change) bool { return strings.HasPrefix(c.Path, "/status") })
	created := map[string]int{}
	var out []patch.Change
	for _, c := range o.Changes {
		created[c.Path] = c.CreatedParents
		if c.Claims() {
			out = append(out, c)
		}
	}
	for _, c := range patch.Diff(plain(before, status), plain(after, status)) {
		if o.Target.Subresource == scaleSubresource && !strings.HasPrefix(c.Path, "/spec") {
			continue
		}
		c.CreatedParents = max(c.CreatedParents, created[c.Path])
		out = append(out, c)
	}
	slices.SortFunc(out, func(x, y patch.Change) int { return strings.Compare(x.Path, y.Path) })
	o.Changes = out
}
