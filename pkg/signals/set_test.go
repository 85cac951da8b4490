package signals_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// TestSignalsOf: the kind itself goes before a pattern, the closer pattern before the
// farther one, scale comes last, and a preset is never taken for another.
func TestSignalsOf(t *testing.T) {
	signal := func(kind, preset, effect string, versions ...string) signals.Signal {
		return signals.Signal{Kind: kind, Preset: preset, Effect: effect, Versions: versions, Patch: map[string]any{"spec": map[string]any{"paused": true}}}
	}
	other := signal("Db.data.example.com", "stop", "other")
	other.Other = true
	but := signal("*.*.example.com", "pause", "below")
	but.Except = []string{"*.not.example.com", "Config", "Shop.exact.example.com"}
	of := signals.NewSet([]signals.Signal{
		but,
		signal("*.data.example.com", "pause", "group"),
		other,
		signal("Db.data.example.com", "pause", "old", "v1beta1"),
		signal("Db.data.example.com", "pause", "kind", "v1", "v2"),
		signal("Db.data.example.com", "stop", "stop"),
		signal("Only.data.example.com", "stop", "only"),
	}, func(gk schema.GroupKind) bool { return gk.Kind == "Scaled" || gk.Kind == "Deployment" })
	for _, c := range []struct{ group, version, kind, preset, want string }{
		{"data.example.com", "v1", "Db", "pause", "kind"},
		{"data.example.com", "", "Db", "pause", "old"},
		{"data.example.com", "v1beta1", "Db", "pause", "old"},
		{"data.example.com", "v3", "Db", "pause", "group"},
		{"data.example.com", "v1", "Db", "stop", "stop"},
		{"data.example.com", "v1", "Only", "pause", "group"},
		{"data.example.com", "v1", "Table", "stop", ""},
		{"web.example.com", "v1", "Site", "pause", "below"},
		{"a.web.example.com", "v1", "Site", "pause", "below"},
		{"example.com", "v1", "Site", "pause", ""},
		{"not.example.com", "v1", "Site", "pause", ""},
		{"web.example.com", "v1", "Config", "pause", ""},
		{"exact.example.com", "v1", "Shop", "pause", ""},
		{"exact.example.com", "v1", "Shops", "pause", "below"},
		{"badexample.com", "v1", "Site", "pause", ""},
		{"example.org", "v1", "Scaled", "stop", "its replicas are set to 0"},
		{"example.org", "v1", "Scaled", "pause", ""},
		{"example.org", "v1", "Plain", "stop", ""},
		{"apps", "v1", "Deployment", "stop", "its pods are deleted"},
		{"apps", "v1", "StatefulSet", "pause", ""},
		{"batch", "v1", "Job", "pause", ""},
	} {
		s, ok := of.Of(schema.GroupVersionKind{Group: c.group, Version: c.version, Kind: c.kind}, c.preset)
		if s.Effect != c.want || ok != (c.want != "") {
			t.Errorf("%s.%s %s: %s: got %q, %v; want %q", c.kind, c.group, c.version, c.preset, s.Effect, ok, c.want)
		}
	}
	var all []string
	for _, s := range of.All(schema.GroupVersionKind{Group: "data.example.com", Version: "v1", Kind: "Db"}) {
		all = append(all, s.Effect)
	}
	if want := []string{"other", "kind", "stop", "group", "below"}; !slices.Equal(all, want) {
		t.Errorf("all are %v, want %v", all, want)
	}
	if _, ok := signals.NewSet(nil, nil).Of(schema.GroupVersionKind{Group: "example.org", Kind: "Scaled"}, signals.PresetStop); ok {
		t.Error("where nobody knows who has a scale, something is scaled")
	}
}

// TestChanges: a signal that means nothing to an object says so, and a way out; lists are
// changed item by item, pods are named in order, and what is held comes back as it is.
func TestChanges(t *testing.T) {
	object := func(fields map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "Db", "metadata": map[string]any{"name": "it"}}}
		maps.Copy(u.Object, fields)
		return u
	}
	spec := func(v any) map[string]any { return map[string]any{"spec": v} }
	each := signals.Signal{Kind: "Db.x", Preset: "stop", Each: "spec.parts", Patch: map[string]any{"stop": true}}
	needs := signals.Signal{Kind: "Db.x", Preset: "stop", Requires: "spec.job", Patch: spec(map[string]any{"job": map[string]any{"state": "suspended"}})}
	named := signals.Signal{Kind: "Db.x", Preset: "stop", Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{"suspend": signals.PodsOf}}}}
	for _, c := range []struct {
		name   string
		signal signals.Signal
		live   *unstructured.Unstructured
		pods   []string
		path   []string
		want   any
		held   bool
		err    string
	}{
		{
			"each item", each, object(spec(map[string]any{"parts": []any{map[string]any{"name": "a", "n": int64(1)}, map[string]any{"name": "b", "stop": true}}})), nil,
			[]string{"spec", "parts"},
			[]any{map[string]any{"name": "a", "n": int64(1), "stop": true}, map[string]any{"name": "b", "stop": true}},
			false, "",
		},
		{"each is held", each, object(spec(map[string]any{"parts": []any{map[string]any{"stop": true}}})), nil, []string{"spec", "parts"}, []any{map[string]any{"stop": true}}, true, ""},
		{"no items", each, object(nil), nil, nil, nil, false, "Db/it has no items in spec.parts, which stop changes: write a patch for it instead"},
		{"an empty list", each, object(spec(map[string]any{"parts": []any{}})), nil, nil, nil, false, "Db/it has no items in spec.parts, which stop changes: write a patch for it instead"},
		{"an item that is none", each, object(spec(map[string]any{"parts": []any{"a"}})), nil, nil, nil, false, "Db/it: spec.parts[0] is not a mapping: write a patch for it instead"},
		{"a job", needs, object(spec(map[string]any{"job": map[string]any{"jar": "a"}})), nil, []string{"spec", "job"}, map[string]any{"jar": "a", "state": "suspended"}, false, ""},
		{"no job", needs, object(spec(map[string]any{})), nil, nil, nil, false, "Db/it has no spec.job, which stop needs: write a patch for it instead"},
		{"pods", named, object(nil), []string{"b", "a"}, []string{"metadata", "annotations", "suspend"}, "a,b", false, ""},
		{"pods that are named", named, object(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"suspend": "b, a,c"}}}), []string{"a", "b"}, []string{"metadata", "annotations", "suspend"}, "b, a,c", true, ""},
		{"a pod that is not named", named, object(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"suspend": "a"}}}), []string{"a", "b"}, []string{"metadata", "annotations", "suspend"}, "a,b", false, ""},
		{"no pods", named, object(nil), nil, nil, nil, false, "Db/it has no pods, which stop lists by name: there is nothing to stop"},
		{"no mapping where one is wanted", needs, object(map[string]any{"spec": map[string]any{"job": "text"}}), nil, []string{"spec", "job"}, map[string]any{"state": "suspended"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := c.live.DeepCopy()
			if got := c.signal.Holds(c.live, c.pods...); got != c.held {
				t.Errorf("it holds: %v", got)
			}
			after, err := c.signal.Changes(c.live, c.pods...)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedFieldNoCopy(after, c.path...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
			if !reflect.DeepEqual(c.live, whole) {
				t.Error("the object was changed")
			}
			unstructured.RemoveNestedField(after, c.path...)
			if !reflect.DeepEqual(c.live, whole) {
				t.Error("what is returned shares fields with the object")
			}
		})
	}
	if !named.Holds(object(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"suspend": "a"}}})) || named.Holds(object(nil)) {
		t.Error("without pods it holds when any is named")
	}
}

// TestParseSignals: what is read is what is written, and what is wrong is told.
func TestParseSignals(t *testing.T) {
	const fine = `pause: {mode: pause-reconcile, since: 1.2.0, reacted: status.held == true, patch: {spec: {paused: true, n: 2, part: 0.5, "no": "yes", list: [a, 1]}}, resume: {spec: {paused: null}}, effect: it rests, source: "a/b@c:d"}`
	n, problem := strict.Document([]byte(fine))
	if problem != nil {
		t.Fatal(problem)
	}
	got, problems := signals.Parse(n)
	want := []signals.Signal{{
		Preset: "pause", Mode: signals.PauseReconcile, Effect: "it rests", Source: "a/b@c:d", Since: "1.2.0", Reacted: "status.held == true",
		Patch:  map[string]any{"spec": map[string]any{"paused": true, "n": int64(2), "part": 0.5, "no": "yes", "list": []any{"a", int64(1)}}},
		Resume: map[string]any{"spec": map[string]any{"paused": nil}},
	}}
	if len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, problems)
	}
	const rest = `resume: {spec: {a: 1}}, effect: e, source: s}`
	for given, want := range map[string]string{
		`{}`: "it is empty: expected pause or stop",
		`[]`: "expected a mapping of keys to values",
		`stop: {mode: pause-reconcile, patch: {spec: {a: 2}}, ` + rest:                          `"pause-reconcile" is not a mode of stop: expected stop-workload, suspend-run, hold-admission`,
		`stop: {mode: stop-workload, ` + rest:                                                   "patch and resume are missing: expected both, or scale: true",
		`stop: {mode: stop-workload, patch: {}, ` + rest:                                        "expected a merge patch: a mapping of fields to values",
		`stop: {mode: stop-workload, patch: {spec: {a: null}}, ` + rest:                         "the patch removes a field: whether it holds an object cannot be detected",
		`stop: {mode: stop-workload, patch: {spec: {a: 2026-01-01}}, ` + rest:                   `"2026-01-01" is not a JSON value: put it in quotes`,
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, each: spec..a, ` + rest:             `"spec..a" is not a path: expected names separated by dots, as in spec.job`,
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, presence: true, same: [a], ` + rest: "presence and same exclude each other: with presence any value holds",
		`stop: {mode: stop-workload, scale: true, each: spec.a, effect: e, source: s}`:          "scale and each exclude each other",
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, or: {when: spec.b}, ` + rest:        "patch is missing; resume is missing",
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, preset: stop, ` + rest:              `unknown key "preset"`,
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, reacted: status.a, ` + rest:         "reacted: it gives a dyn: expected a bool; compare it with a value, as in status.ready == true",
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, reacted: statu.a == 1, ` + rest:     "reacted: undeclared reference to 'statu' (in container '')",
		`stop: {mode: stop-workload, patch: {spec: {a: 2}}, reacted: status.a == 1, ` + rest:    "",
		`also: {}`: "expected a list of signals",
		`also: [{mode: stop-workload, patch: {spec: {a: 2}}, ` + rest + `]`:                             "preset is missing",
		`also: [{preset: halt, mode: stop-workload, patch: {spec: {a: 2}}, ` + rest + `]`:               `"halt": expected pause or stop`,
		`also: [{preset: stop, mode: stop-workload, patch: {spec: {a: 2}}, ` + rest + `]`:               "",
		`stop: {mode: stop-workload, scale: true, stateful: true, caution: true, effect: e, source: s}`: "",
	} {
		n, problem := strict.Document([]byte(given))
		if problem != nil {
			t.Fatalf("%s: %v", given, problem)
		}
		_, problems := signals.Parse(n)
		var told []string
		for _, p := range problems {
			told = append(told, p.Message)
		}
		if got := strings.Join(told, "; "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s:\n got %s\nwant %s", given, got, want)
		}
	}
}

// TestScaleSignals: through the scale subresource what is written is that of a Scale.
func TestScaleSignals(t *testing.T) {
	for _, s := range signals.BuiltIn() {
		if s.Origin != "built-in" || s.Source == "" {
			t.Errorf("%s %s: origin %q, source %q", s.Kind, s.Preset, s.Origin, s.Source)
		}
		if s.Scale != (fmt.Sprint(s.Patch) == "map[spec:map[replicas:0]]") {
			t.Errorf("%s %s: scale %v writes %v", s.Kind, s.Preset, s.Scale, s.Patch)
		}
		if !s.Scale {
			continue
		}
		for text, held := range map[string]bool{`{"spec": {}}`: true, `{"spec": {"replicas": 0}}`: true, `{"spec": {"replicas": 2}}`: false} {
			scale := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(`{"apiVersion": "autoscaling/v1", "kind": "Scale", `+text[1:]), scale); err != nil {
				t.Fatal(err)
			}
			if got := s.Holds(scale); got != held {
				t.Errorf("%s holds %s: %v", s.Kind, text, got)
			}
		}
	}
}

// TestSignalWarning: what is to be known of a signal, and that an operator of before ignores it.
func TestSignalWarning(t *testing.T) {
	const since = "read by its operator as of 5.19.0: an older one ignores it, and the hold cannot be verified"
	for want, s := range map[string]signals.Signal{
		"":                        {Effect: "left alone"},
		"it loses data":           {Caveat: "it loses data"},
		since:                     {Since: "5.19.0"},
		"it loses data; " + since: {Caveat: "it loses data", Since: "5.19.0"},
		"read by its operator as of 5.19.0: an older one ignores it, and it is held only when its status says that the operator reacted": {Since: "5.19.0", Reacted: "true"},
		"it gains data": {Caveat: "it gains data", Reacted: "true"},
	} {
		if got := s.Warning(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
