package regulate

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// What the API server takes and drops fails the hold, and what else was written is taken
// back; what it writes in its own way is accepted.
func TestDropped(t *testing.T) {
	for name, c := range map[string]struct {
		spec   map[string]any
		server func(o map[string]any)
		field  string // dropped
	}{
		"pruned": {map[string]any{"live": true}, func(o map[string]any) { patch.Remove(o, []string{"spec", "live"}, 0) }, "spec.live"},
		"pruned, with a mapping made for it": {
			map[string]any{"deep": map[string]any{"er": "x"}}, func(o map[string]any) { patch.Remove(o, []string{"spec", "deep", "er"}, 1) }, "spec.deep.er",
		},
		"one of two":                {map[string]any{"live": true, "x": 2}, func(o map[string]any) { patch.Remove(o, []string{"spec", "live"}, 0) }, "spec.live"},
		"put back at once":          {map[string]any{"x": 2}, func(o map[string]any) { patch.Put(o, []string{"spec", "x"}, int64(1)) }, "spec.x"},
		"put back where taken away": {map[string]any{"x": nil}, func(o map[string]any) { patch.Put(o, []string{"spec", "x"}, int64(1)) }, "spec.x"},
		"another value":             {map[string]any{"x": 2}, func(o map[string]any) { patch.Put(o, []string{"spec", "x"}, int64(3)) }, ""},
		"a default":                 {map[string]any{"x": nil}, func(o map[string]any) { patch.Put(o, []string{"spec", "x"}, int64(0)) }, ""},
		"no value that is empty":    {map[string]any{"live": false}, func(o map[string]any) { patch.Remove(o, []string{"spec", "live"}, 0) }, ""},
		"a quantity":                {map[string]any{"cpu": "1000m"}, func(o map[string]any) { patch.Put(o, []string{"spec", "cpu"}, "1") }, ""},
		"a duration":                {map[string]any{"every": "3600s"}, func(o map[string]any) { patch.Put(o, []string{"spec", "every"}, "1h0m0s") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.api.add(t, "operator", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {x: 1, cpu: "1", every: 1h0m0s}}`)
			before := b.api.image(t)
			one := []object.Ref{ref("shop.test", "Basket", "one")}
			b.app("web", []system.Action{
				{Annotate: map[string]*string{"held": new("true")}},
				{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": c.spec}}},
				{Label: map[string]*string{"held": new("true")}},
			}, one, one, one)
			writes := 0
			b.api.defaults = func(o map[string]any) {
				if writes++; writes == 2 {
					c.server(o)
				}
			}
			out, err := b.once(t, "web")
			if c.field == "" {
				if err != nil || len(out.Failed) > 0 {
					t.Errorf("%v %+v", err, out.Failed)
				}
				return
			}
			if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, "the API server accepted the write and dropped "+c.field+" of ") {
				t.Fatalf("%v %+v", err, out)
			}
			b.until(t)
			b.sameAs(t, before)
			if j := b.journal(t); j.AppRecords["web"].Refused.IsZero() {
				t.Errorf("%+v", j)
			}
		})
	}
}

// A number that is put back at once is not held.
func TestDroppedScale(t *testing.T) {
	b := tiered(t, system.Action{Scale: &system.Scale{Replicas: 1}})
	before := b.api.image(t)
	b.api.scaled = func(int64) int64 { return 3 }
	out, err := b.once(t, "web")
	if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, "dropped spec.replicas of ") || len(b.journal(t).Holds) > 0 {
		t.Fatalf("%v %+v", err, out)
	}
	b.sameAs(t, before)
}
