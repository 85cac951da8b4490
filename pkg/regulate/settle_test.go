package regulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// shared is a bench with two apps that write to the same objects.
func shared(t *testing.T) *bench {
	t.Helper()
	b := newBench()
	b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}`)
	b.api.add(t, "operator", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {x: 1}}`)
	web, one := []object.Ref{ref("apps", "Deployment", "web")}, []object.Ref{ref("shop.test", "Basket", "one")}
	for i, app := range []string{"a", "b"} {
		b.app(app, []system.Action{
			{Scale: &system.Scale{Replicas: int32(i)}},
			{Annotate: map[string]*string{"held": new("true"), app: new("x")}},
			{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": map[string]any{"deep": map[string]any{app: true, "same": 1}, "x": 5}}}},
			{Scale: &system.Scale{Replicas: int32(1 - i)}},
		}, web, web, one, one)
	}
	return b
}

// only does of what there is to do so that the apps are held what is about one app.
func (b *bench) only(t *testing.T, app string, held ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.api.dead, b.api.kill = false, cancel
	j := b.journal(t)
	p := b.plan(j, held...)
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return s.App != app })
	if _, err := b.run(ctx).Do(ctx, p, j); err != nil && !strings.Contains(err.Error(), "and that comes first; the next run resumes it") {
		t.Error(err)
	}
}

// A plan may leave alone what was begun and killed: what it writes to the same objects is
// taken back to what was there before both all the same, whoever goes first.
func TestBegunIsLookedAtFirst(t *testing.T) {
	for _, back := range []bool{false, true} { // killed on the way down, or on the way back
		for n := 1; ; n++ {
			b := shared(t)
			before := b.api.image(t)
			if back {
				b.until(t, "a")
			}
			from := b.api.requests
			killed := false
			b.api.fault = func(i int, _ string) fate {
				kill := i == from+n
				killed = killed || kill
				return fate{kill: kill}
			}
			if back {
				_, _ = b.once(t)
			} else {
				_, _ = b.once(t, "a")
			}
			b.api.fault = nil
			if !killed {
				if n < 6 {
					t.Fatalf("%d writes: too little happens", n)
				}
				break
			}
			b.only(t, "b", "a", "b")
			if n%2 > 0 {
				b.only(t, "b")
			}
			b.until(t)
			b.sameAs(t, before)
			if t.Failed() {
				t.Fatalf("killed after write %d, back %v", n, back)
			}
		}
	}
}

// What was done before the kill is told by the run that finds it.
func TestSettledIsTold(t *testing.T) {
	b := shared(t)
	b.api.fault = func(_ int, what string) fate { return fate{kill: what != "journal"} }
	_, _ = b.once(t, "a")
	b.api.fault = nil
	if got := b.states(t)[0]; got != "a/scale Deployment.apps/shop/web Intended" {
		t.Fatal(got)
	}
	b.ended = nil
	b.only(t, "b", "a") // nothing is to be done
	if got := b.states(t)[0]; got != "a/scale Deployment.apps/shop/web Done" {
		t.Error(got)
	}
	if len(b.ended) != 1 || b.ended[0].Message != "spec.replicas = 0" || b.ended[0].App != "a" {
		t.Errorf("%+v", b.ended)
	}
}

// Holds that share targets are made and taken back side by side, many objects at a time.
func TestManySideBySide(t *testing.T) {
	b := newBench()
	var refs []object.Ref
	for i := range 12 {
		name := fmt.Sprintf("web-%02d", i)
		b.api.add(t, "argocd", true, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop}, spec: {replicas: 3}}`, name))
		refs = append(refs, ref("apps", "Deployment", name))
	}
	before := b.api.image(t)
	now := b.now
	b.runner = func(r *Runner) { r.Parallel, r.Now = 0, func() time.Time { return now } }
	for i, app := range []string{"a", "b", "c"} {
		b.app(app, []system.Action{{Scale: &system.Scale{Replicas: int32(i)}}, {Annotate: map[string]*string{"held": new("true"), app: new("x")}}}, refs, refs)
	}
	b.until(t, "a", "b", "c")
	b.until(t, "b")
	b.until(t)
	b.sameAs(t, before)
}
