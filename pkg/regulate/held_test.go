package regulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// tiered is a bench with a Deployment, and an app that does something with it.
func tiered(t *testing.T, actions ...system.Action) *bench {
	t.Helper()
	b := newBench()
	b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, labels: {tier: front}}, spec: {replicas: 3, template: {}}}`)
	var targets [][]object.Ref
	for range actions {
		targets = append(targets, []object.Ref{ref("apps", "Deployment", "web")})
	}
	b.app("web", actions, targets...)
	return b
}

// What another System holds, or a run whose journal is lost, is not held a second time:
// neither where it would be written anew nor where it is as it is wanted.
func TestHeldByAnother(t *testing.T) {
	label := func(v string) system.Action { return system.Action{Label: map[string]*string{"tier": new(v)}} }
	for name, c := range map[string]struct {
		first, second system.Action
		field         string
	}{
		"as it is wanted":    {label("held"), label("held"), "metadata.labels.tier"},
		"another value":      {label("held"), label("off"), "metadata.labels.tier"},
		"taken away":         {label("held"), system.Action{Label: map[string]*string{"tier": nil}}, "metadata.labels.tier"},
		"paused":             {system.Action{Preset: signals.PresetPause}, system.Action{Preset: signals.PresetPause}, "spec.paused"},
		"scaled":             {system.Action{Scale: &system.Scale{Replicas: 1}}, system.Action{Scale: &system.Scale{Replicas: 1}}, "spec.replicas"},
		"scaled and patched": {system.Action{Scale: &system.Scale{Replicas: 1}}, system.Action{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": map[string]any{"replicas": 2}}}}, "spec.replicas"},
		"another field":      {label("held"), system.Action{Scale: &system.Scale{Replicas: 1}}, ""},
		"nobody's":           {system.Action{Scale: &system.Scale{}}, system.Action{Scale: &system.Scale{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := tiered(t, c.first)
			before := b.api.image(t)
			b.until(t, "web")
			held := b.api.image(t)
			first := b.store
			b.store = &fakeStore{api: b.api}
			b.sys.Apps[0].On[system.Stop] = []system.Action{c.second}
			out, err := b.once(t, "web")
			if err != nil {
				t.Fatal(err)
			}
			if c.field == "" {
				if len(out.Failed) > 0 {
					t.Errorf("%+v", out.Failed)
				}
				b.until(t)
			} else if len(out.Failed) != 1 || !strings.HasPrefix(out.Failed[0].Result, c.field+" of Deployment.apps/shop/web is owned by ") || len(b.journal(t).Holds) > 0 {
				t.Errorf("%+v", out.Failed)
			}
			b.sameAs(t, held)
			b.store, b.sys.Apps[0].On[system.Stop] = first, []system.Action{c.first}
			b.until(t)
			b.sameAs(t, before)
		})
	}
}

// A lost journal makes a refusal; when its owner has written the field it can be held again.
func TestHeldByALostRun(t *testing.T) {
	b := tiered(t, system.Action{Label: map[string]*string{"tier": new("held")}})
	b.until(t, "web")
	b.store = &fakeStore{api: b.api}
	if out, err := b.once(t, "web"); err != nil || len(out.Failed) != 1 {
		t.Fatalf("%v %+v", err, out)
	}
	web := Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	b.api.change(t, web, "kubectl", "front", "metadata", "labels", "tier")
	before := b.api.image(t)
	if out, err := b.once(t, "web"); err != nil || len(out.Failed) > 0 {
		t.Fatalf("%v %+v", err, out)
	}
	b.until(t)
	b.sameAs(t, before)
}

// What is owned by FieldManager though nothing is held is no reason: what on.Recover and
// inverses wrote, restarts, and what could not be given back.
func TestOwnedAndNotHeld(t *testing.T) {
	mode := func(v string) system.Action { return system.Action{Annotate: map[string]*string{"mode": new(v)}} }
	inverse := mode("ro")
	inverse.Inverse = &system.Action{Annotate: map[string]*string{"mode": new("rw"), "again": new("1")}}
	again := system.Action{Annotate: map[string]*string{"again": new("2")}}
	for name, build := range map[string]func() *bench{
		"on.Recover": func() *bench {
			b := tiered(t, mode("ro"))
			b.sys.Apps[0].On[system.Recover] = []system.Action{mode("rw")}
			b.after["web"] = b.targets["web"]
			return b
		},
		"inverse": func() *bench { return tiered(t, inverse, again) },
		"restart": func() *bench { return tiered(t, system.Action{Restart: true}) },
		"not given back": func() *bench {
			b := tiered(t, mode("ro"))
			b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, labels: {tier: front}, annotations: {mode: rw}}, spec: {replicas: 3, template: {}}}`)
			patches := 0
			b.api.fault = func(_ int, what string) fate {
				if what != "journal" {
					patches++
				}
				if what != "journal" && patches%3 == 0 {
					return fate{before: apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "web", fmt.Errorf("no"))}
				}
				return fate{}
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := build()
			for range 3 {
				out, err := b.once(t, "web")
				if err != nil || len(out.Failed) > 0 {
					t.Fatalf("%v %+v", err, out.Failed)
				}
				b.until(t)
			}
			if j := b.journal(t); len(j.Owned) != 1 || len(j.Owned[0].Paths) == 0 {
				t.Errorf("%+v", j.Owned)
			}
		})
	}
}

func TestOwnedIsBounded(t *testing.T) {
	j := &Journal{}
	for i := range MaxOwned + 5 {
		j.own(fmt.Sprint("u", i), "/b", "/a", "/b")
	}
	j.own("u10", "/c")
	if first, last := j.Owned[0], j.Owned[MaxOwned-1]; len(j.Owned) != MaxOwned || first.UID != "u5" || last.UID != "u10" || strings.Join(last.Paths, " ") != "/a /b /c" {
		t.Errorf("%d, %+v to %+v", len(j.Owned), first, last)
	}
}
