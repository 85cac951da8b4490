package regulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestPlanAndRun plays random systems whose apps share targets: plans are made of how the
// apps fare and done by a Runner, which is killed after any write, and which an API server
// refuses half way. When all is well again nothing is held, and every object is byte for
// byte as it was, its managedFields included.
func TestPlanAndRun(t *testing.T) {
	runs := 30
	if testing.Short() {
		runs = 6
	}
	sent, kills := 0, 0
	for seed := range runs {
		p := newPlayed(t, uint64(seed))
		before := p.b.api.image(t)
		for range 25 {
			p.change()
			p.turn(t, p.plan)
		}
		p.calm(t)
		p.b.sameAs(t, before)
		if t.Failed() {
			t.Fatalf("seed %d: %+v\n%+v", seed, p.b.sys.Regulation, p.w)
		}
		sent, kills = sent+p.b.journal(t).Next, kills+p.kills
	}
	t.Logf("%d systems, %d signals sent and taken back, %d kills", runs, sent, kills)
	if sent < runs || kills < runs {
		t.Errorf("%d signals and %d kills in %d systems: too little happens", sent, kills, runs)
	}
}

// played is a system that is played, with an API server in memory.
type played struct {
	*rand.Rand
	b     *bench
	w     *SystemState
	kills int
}

func newPlayed(t *testing.T, seed uint64) *played {
	t.Helper()
	p := &played{Rand: rand.New(rand.NewPCG(seed, 11)), b: newBench(), w: &SystemState{}}
	var refs []object.Ref
	for i, manager := range []string{"argocd", "helm", "kubectl"} {
		name := fmt.Sprint("web-", i)
		p.b.api.add(t, manager, i != 1, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop}, spec: {replicas: %d}}`, name, p.IntN(4)))
		refs = append(refs, ref("apps", "Deployment", name))
	}
	// Of one basket in three it is not said how many it wants; of others something else has
	// that number as well.
	size := []string{"", ", size: {count: 1}", fmt.Sprintf(", size: {count: %d, most: 0}", p.IntN(3))}
	p.b.api.add(t, "operator", true, fmt.Sprintf(`{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {x: 1%s}}`, size[p.IntN(len(size))]))
	basket := []object.Ref{ref("shop.test", "Basket", "one")}
	some := func() []object.Ref {
		out := []object.Ref{refs[p.IntN(len(refs))]}
		if other := refs[p.IntN(len(refs))]; other != out[0] {
			out = append(out, other)
		}
		return out
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		targets := [][]object.Ref{some(), some(), some(), basket, basket}
		p.b.app(name, []system.Action{
			{Scale: &system.Scale{Replicas: int32(p.IntN(2))}},
			{Annotate: map[string]*string{"held": new("true"), name: new("x")}},
			{Label: map[string]*string{"tier": new("held")}},
			{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": map[string]any{"deep": map[string]any{name: true, "same": i / 2}, "x": 5 * p.IntN(2)}}}},
			{Scale: &system.Scale{Replicas: int32(p.IntN(3))}},
		}, targets...)
		state := AppState{Name: name, Roots: targets[0], Health: health.Healthy, Actions: map[string][]Resolved{system.Stop: p.b.resolved(name, system.Stop)}}
		for _, other := range []string{"a", "b", "c", "d"} {
			if other < name && p.IntN(100) < 60 || p.IntN(100) < 6 {
				state.Needs = append(state.Needs, Need{App: other})
			}
		}
		p.w.Apps = append(p.w.Apps, state)
	}
	p.b.sys.Regulation = system.Regulation{
		Rules: []system.Rule{
			{Name: "near", Health: []health.Status{health.Degraded}, Signal: system.Stop, RecoverFor: 10 * time.Second},
			{Name: "far", App: "a", Health: []health.Status{health.Missing}, For: 20 * time.Second, Signal: system.Stop, Cascade: true},
		},
		MaxUnavailableApps: p.IntN(4), Settle: time.Duration(p.IntN(2)) * 30 * time.Second,
	}
	return p
}

func (p *played) change() {
	p.b.now = p.b.now.Add(time.Duration(p.IntN(20)) * time.Second)
	a := &p.w.Apps[p.IntN(len(p.w.Apps))]
	all := []health.Status{health.Healthy, health.Healthy, health.Degraded, health.Degraded, health.Missing, health.Unknown}
	a.Health = all[p.IntN(len(all))]
}

// plan asks mostly for what rules want.
func (p *played) plan(j *Journal) *Plan {
	app := p.w.Apps[p.IntN(len(p.w.Apps))].Name
	switch p.IntN(12) {
	case 0:
		return StopByHand(p.w, p.b.sys, j, app, system.Stop, "bob", p.b.now)
	case 1:
		return RecoverByHand(p.w, p.b.sys, j, app, "bob", p.IntN(2) > 0, p.b.now)
	}
	return NewPlan(p.w, p.b.sys, j, p.b.now)
}

// turn makes a plan and does it. It may be killed after a write, or be refused one of what
// it sends.
func (p *played) turn(t *testing.T, plan func(*Journal) *Plan) {
	t.Helper()
	j := p.b.journal(t)
	planned := plan(j)
	only := len(planned.Steps) > 0
	for _, s := range planned.Steps {
		only = only && s.Verb == Send
	}
	at, kill, refuse := p.b.api.requests+1+p.IntN(12), p.IntN(3) == 0, only && p.IntN(4) == 0
	p.b.api.fault = func(n int, what string) fate {
		switch {
		case n == at && kill:
			p.kills++
			return fate{kill: true}
		case n == at && refuse && what != "journal":
			return fate{before: apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "x", fmt.Errorf("no"))}
		}
		return fate{}
	}
	p.do(t, planned, j)
	p.b.api.fault = nil
}

func (p *played) do(t *testing.T, planned *Plan, j *Journal) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.b.api.dead, p.b.api.kill = false, cancel
	if _, err := p.b.run(ctx).Do(ctx, planned, j); err != nil && !p.b.api.dead {
		t.Errorf("nobody was killed, and %v", err)
	}
}

// calm makes all well, has hands let go, and plans until nothing is held.
func (p *played) calm(t *testing.T) {
	t.Helper()
	for i := range p.w.Apps {
		p.w.Apps[i].Health = health.Healthy
	}
	for i := range p.w.Apps {
		j := p.b.journal(t)
		p.do(t, RecoverByHand(p.w, p.b.sys, j, p.w.Apps[i].Name, "bob", false, p.b.now), j)
	}
	for range 60 {
		j := p.b.journal(t)
		if len(j.Holds) == 0 {
			return
		}
		planned := NewPlan(p.w, p.b.sys, j, p.b.now)
		if len(planned.Steps) == 0 && planned.NextCheck.After(p.b.now) {
			p.b.now = planned.NextCheck
		}
		p.do(t, planned, j)
	}
	t.Errorf("all is well, and still held are %+v", p.b.journal(t).Holds)
}
