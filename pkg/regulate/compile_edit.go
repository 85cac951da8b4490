package regulate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// CordonKey is the key that cordonTraffic adds to the selector of a Service. No Pod has it, so
// the Service has no endpoints.
const CordonKey = "sysop.dev/cordoned"

// restartedAt is the annotation that kubectl rollout restart sets.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// edit returns the fields of an object (or of its Scale) after an action. It does not change
// fields. An error is permanent: the action does not apply to the object.
func (r *Runner) edit(a *system.Action, t Target, fields map[string]any) (map[string]any, error) {
	out := patch.Copy(fields)
	switch {
	case a.Preset != "":
		return r.signal(a.Preset, t, out)
	case a.Patch != nil:
		return patched(a.Patch, t.gvk(), out)
	case a.Scale != nil:
		return patch.Merge(out, map[string]any{"spec": map[string]any{"replicas": int64(a.Scale.Replicas)}}), nil
	case a.Annotate != nil:
		return metadata(out, "annotations", a.Annotate), nil
	case a.Label != nil:
		return metadata(out, "labels", a.Label), nil
	case a.SuspendCronJobs:
		if _, ok := patch.Lookup(out, []string{"spec", "jobTemplate"}); !ok {
			return nil, permanent("%s: suspendCronJobs applies to CronJobs only", t)
		}
		return patch.Merge(out, map[string]any{"spec": map[string]any{"suspend": true}}), nil
	case a.CordonTraffic:
		if selector, ok := patch.Lookup(out, []string{"spec", "selector"}); !ok || patch.Equal(selector, map[string]any{}) {
			return out, nil // a selector cannot identify the manager of its endpoints
		}
		return patch.Merge(out, map[string]any{"spec": map[string]any{"selector": map[string]any{CordonKey: "true"}}}), nil
	case a.Restart:
		if _, ok := patch.Lookup(out, []string{"spec", "template"}); !ok {
			return nil, permanent("%s: it has no pod template, so it cannot be restarted; name workloads under targets", t)
		}
		at := map[string]any{restartedAt: r.Now().UTC().Format(time.RFC3339)}
		return patch.Merge(out, map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": at}}}}), nil
	}
	return nil, permanent("%s: action %q writes nothing", t, a.Name())
}

func (r *Runner) signal(preset string, t Target, fields map[string]any) (map[string]any, error) {
	s, err := r.signalOf(t, preset)
	if err != nil {
		return nil, permanent("%w", err)
	}
	var pods []string
	if r.Pods != nil && s.NamesPods() {
		pods = r.Pods(t.Ref())
	}
	after, err := s.Changes(&unstructured.Unstructured{Object: fields}, pods...)
	if err != nil {
		return nil, permanent("%w", err)
	}
	return after, nil
}

func metadata(fields map[string]any, field string, keys map[string]*string) map[string]any {
	wanted := map[string]any{}
	have, _ := patch.Lookup(fields, []string{"metadata", field})
	current, _ := have.(map[string]any)
	for k, v := range keys {
		if v != nil {
			wanted[k] = *v
		} else if _, ok := current[k]; ok {
			wanted[k] = nil
		}
	}
	if len(wanted) == 0 {
		return fields
	}
	return patch.Merge(fields, map[string]any{"metadata": map[string]any{field: wanted}})
}

// patched applies a patch of the manifest.
func patched(p *system.Patch, gvk schema.GroupVersionKind, fields map[string]any) (map[string]any, error) {
	body, err := patch.Normal(p.Body)
	if err != nil {
		return nil, permanent("patch of %s: %w", gvk.Kind, err)
	}
	if p.Type == system.JSON {
		return jsonPatched(body, gvk, fields)
	}
	merge, ok := body.(map[string]any)
	if !ok {
		return nil, permanent("patch of %s: the body of a %s patch must be a mapping", gvk.Kind, p.Type)
	}
	if p.Type != system.Strategic {
		return patch.Merge(fields, merge), nil
	}
	if p.Subresource == scaleSubresource {
		gvk = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	typed, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, permanent("patch of %s: the API server merges lists of built-in kinds only, so a strategic patch does not work here; use type: merge or json", gvk.GroupKind())
	}
	out, err := strategicpatch.StrategicMergeMapPatch(strategicpatch.JSONMap(fields), strategicpatch.JSONMap(merge), typed)
	if err != nil {
		return nil, permanent("strategic patch of %s: %w", gvk.Kind, err)
	}
	return out, nil
}

func jsonPatched(body any, gvk schema.GroupVersionKind, fields map[string]any) (map[string]any, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, permanent("json patch of %s: %w", gvk.Kind, err)
	}
	ops, err := jsonpatch.DecodePatch(b)
	if err != nil {
		return nil, permanent("json patch of %s: %w", gvk.Kind, err)
	}
	doc, err := json.Marshal(fields)
	if err != nil {
		return nil, permanent("json patch of %s: %w", gvk.Kind, err)
	}
	if doc, err = ops.Apply(doc); err != nil {
		return nil, permanent("json patch of %s: %w", gvk.Kind, err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(doc, &out); err != nil {
		return nil, permanent("json patch of %s: %w", gvk.Kind, err)
	}
	return out, nil
}

func short(v any) string {
	const most = 60
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	s := string(b)
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
