package regulate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestPlanRandom plays random systems in random troubles, and kills runs anywhere. Whatever
// happens, what is held is let go once the world is calm, and meanwhile what checkSteps,
// checkOrder and checkBudget say is so.
func TestPlanRandom(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 40
	}
	sent := 0
	for seed := range runs {
		r := newRandom(uint64(seed))
		for range 50 {
			r.change()
			r.act(t)
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, r.text())
			}
		}
		r.calm(t)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, r.text())
		}
		sent += r.sent
	}
	t.Logf("%d systems, %d signals sent and taken back", runs, sent)
	if sent < 2*runs {
		t.Errorf("only %d signals in %d systems: too little happens", sent, runs)
	}
}

// random is a system that is played.
type random struct {
	*rand.Rand
	s    *system.System
	w    *regulate.SystemState
	j    *regulate.Journal
	now  time.Time
	sent int
	log  []func() string
}

func (r *random) chance(percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *random, of ...T) T { return of[r.IntN(len(of))] }

func seconds(r *random, of ...int) time.Duration { return time.Duration(pick(r, of...)) * time.Second }

func newRandom(seed uint64) *random {
	r := &random{Rand: rand.New(rand.NewPCG(seed, 7)), s: &system.System{Name: "x"}, w: &regulate.SystemState{}, j: &regulate.Journal{}, now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	var names []string
	for i := range 2 + r.IntN(6) {
		names = append(names, string(rune('a'+i)))
	}
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	for i, name := range names {
		r.s.Apps = append(r.s.Apps, system.App{Name: name})
		ref := object.Ref{Group: "apps", Kind: "Deployment", Name: name}
		a := regulate.AppState{Name: name, Roots: []object.Ref{ref}, Health: health.Healthy, Fingerprint: map[string]string{"v": "0"}}
		for k, other := range names {
			// Rings are possible, and not the rule.
			if k < i && r.chance(40) || r.chance(4) {
				a.Needs = append(a.Needs, regulate.Need{App: other})
			}
		}
		a.Actions = map[string][]regulate.Resolved{"Stop": {{Targets: a.Roots}}, "drain": {{Targets: a.Roots}}}
		r.w.Apps = append(r.w.Apps, a)
	}
	g := &r.s.Regulation
	for i := range 1 + r.IntN(3) {
		rule := system.Rule{
			Name: fmt.Sprint("r", i), Signal: pick(r, "Stop", "Stop", "drain"), Cascade: r.chance(50), Upgrading: r.chance(50),
			For: seconds(r, 0, 10, 30), RecoverFor: seconds(r, 0, 10, 30),
			Health: pick(r, []health.Status{health.Degraded}, []health.Status{health.Degraded, health.Missing, health.Progressing}, []health.Status{health.Unknown, health.Degraded}),
		}
		if r.chance(25) {
			rule.App = pick(r, names...)
		}
		if r.chance(25) {
			rule.To = []string{pick(r, names...), pick(r, names...)}
		}
		g.Rules = append(g.Rules, rule)
	}
	g.MaxUnavailableApps, g.MaxSignalsPerHour = pick(r, 0, 0, 1, 3), pick(r, 0, 0, 3)
	g.HoldOff, g.Settle = seconds(r, 0, 0, 60), seconds(r, 0, 20, 60)
	g.GitOps = pick(r, "", system.Suspend, system.Ignore)
	return r
}

// change lets time pass, and something happen.
func (r *random) change() {
	r.now = r.now.Add(time.Duration(r.IntN(25)) * time.Second)
	if r.chance(3) {
		r.now = r.now.Add(pick(r, -time.Hour, time.Hour, -10*time.Second))
	}
	for range r.IntN(3) {
		a := &r.w.Apps[r.IntN(len(r.w.Apps))]
		a.Since = pick(r, time.Time{}, r.now.Add(-time.Duration(r.IntN(60))*time.Second))
		switch n := r.IntN(100); {
		case n < 50:
			a.Health = pick(r, health.Healthy, health.Healthy, health.Healthy, health.Degraded, health.Degraded, health.Progressing, health.Missing, health.Unknown, health.Suspended)
		case n < 65:
			a.Fingerprint = map[string]string{"v": fmt.Sprint(r.IntN(100))}
		case n < 75:
			a.Rollout = pick(r, "", "", "1 of 2")
		case n < 82:
			a.Actions = map[string][]regulate.Resolved{"Stop": {{Targets: a.Roots, Refused: pick(r, "", "", "needs allowStop: true")}}, "drain": {{Targets: a.Roots}}}
		case n < 88:
			a.Managers = pick(r, nil, map[object.Ref][]regulate.Manager{a.Roots[0]: {{Tool: "flux", Reverts: true}}})
		case n < 94:
			a.Unread = pick(r, nil, []string{"x"})
		default:
			a.Needs = slices.DeleteFunc(slices.Clone(a.Needs), func(regulate.Need) bool { return r.chance(50) })
		}
	}
}

// plan asks for what is to be done: mostly what rules want, sometimes something by hand.
func (r *random) plan() (*regulate.Plan, string) {
	app := r.s.Apps[r.IntN(len(r.s.Apps))].Name
	signal := pick(r, "Stop", "drain")
	switch r.IntN(40) {
	case 0:
		return regulate.StopByHand(r.w, r.s, r.j, app, signal, "bob", r.now), "stop " + app
	case 1:
		return regulate.RecoverByHand(r.w, r.s, r.j, app, "bob", r.chance(50), r.now), "recover " + app
	case 2:
		p, err := regulate.HoldForRun(r.w, r.s, r.j, app, signal, "run", "make", "bob", r.now)
		if err != nil {
			panic(err)
		}
		return p, "run " + app
	case 3:
		return regulate.EndRun(r.w, r.s, r.j, "run", r.now), "endrun"
	case 4:
		if len(r.s.Regulation.Rules) > 1 && r.chance(20) {
			r.s.Regulation.Rules = r.s.Regulation.Rules[1:]
		}
		if len(r.s.Apps) > 2 && r.chance(10) {
			r.s.Apps = r.s.Apps[1:]
		}
	}
	return regulate.NewPlan(r.w, r.s, r.j, r.now), "plan"
}

// act plans, holds what must be true of a plan, and does it or a part of it.
func (r *random) act(t *testing.T) {
	t.Helper()
	world, journal := copyWorld(r.w), r.j.Clone()
	p, what := r.plan()
	if what == "plan" {
		if again := regulate.NewPlan(r.w, r.s, r.j, r.now); !reflect.DeepEqual(p, again) {
			t.Errorf("two plans of the same:\n%s\n%s", planText(p), planText(again))
		}
		r.checkOrder(t, p)
		r.checkBudget(t, p)
	}
	if !reflect.DeepEqual(world, r.w) || !reflect.DeepEqual(journal, r.j) {
		t.Errorf("%s changed what it was given", what)
	}
	checkSteps(t, r.j, p)
	how := pick(r, whole, whole, whole, whole, whole, whole, killed, failing, nothing)
	writes := -1
	if r.chance(20) {
		writes = r.IntN(6)
	}
	r.do(p, how, writes, what)
	if what == "plan" && how == whole && writes < 0 {
		r.checkRest(t, p)
	}
}

// do does a plan, the journal of which is stored and read again.
func (r *random) do(p *regulate.Plan, how ending, writes int, what string) {
	before := r.j.Next
	r.j = applied(r.j, p, how, writes, r.now)
	r.sent += r.j.Next - before
	data, err := json.Marshal(r.j)
	if err != nil {
		panic(err)
	}
	r.j = &regulate.Journal{}
	if err := json.Unmarshal(data, r.j); err != nil {
		panic(err)
	}
	now := r.now
	r.log = append(r.log, func() string {
		return fmt.Sprintf("%s %s (ending %d, writes %d)\n%s", now.Format("15:04:05"), what, how, writes, planText(p))
	})
}

// checkRest makes plans until nothing is to be done, while nothing changes: at once where
// nothing was taken back, else after as many as there are apps. What is held then has a
// cause, or waits for something that is said.
func (r *random) checkRest(t *testing.T, p *regulate.Plan) {
	t.Helper()
	calm := !slices.ContainsFunc(p.Steps, func(s regulate.Step) bool {
		return s.Verb == regulate.RecoverApp || s.Verb == regulate.Resume || s.Verb == regulate.RemoveCause
	})
	for round := 0; ; round++ {
		next := regulate.NewPlan(r.w, r.s, r.j, r.now)
		if len(next.Steps) == 0 {
			if !reflect.DeepEqual(next.Seen, r.j.AppRecords) && len(next.Seen) > 0 && round == 0 && calm && len(p.Steps) == 0 {
				t.Errorf("what is seen is not at rest:\n%+v\n%+v", next.Seen, r.j.AppRecords)
			}
			p = next
			break
		}
		if calm || round > 3*len(r.w.Apps)+3 {
			t.Errorf("nothing changed, and there is more to do:\n%s", planText(next))
			return
		}
		checkSteps(t, r.j, next)
		r.do(next, whole, -1, "again")
	}
	for _, h := range r.j.Holds {
		waits := slices.ContainsFunc(p.Pending, func(w regulate.Wait) bool {
			return w.Verb == regulate.RecoverApp && w.App == h.App && w.Signal == h.Signal
		})
		if len(h.Causes) == 0 && !waits {
			t.Errorf("%s is held by %s without a cause:\n%s", h.App, h.Signal, planText(p))
		}
		if h.Phase != regulate.Held && !waits {
			t.Errorf("%s is %s at rest", h.App, h.Phase)
		}
	}
}

// needed is what an app needs at any depth, and what does not need it.
func (r *random) needed(app string) map[string]bool {
	reach := func(from string) map[string]bool {
		found, open := map[string]bool{}, []string{from}
		for ; len(open) > 0; open = open[1:] {
			a, ok := r.w.App(open[0])
			if !ok {
				continue
			}
			for _, n := range a.Needs {
				if !found[n.App] {
					found[n.App] = true
					open = append(open, n.App)
				}
			}
		}
		return found
	}
	out := reach(app)
	maps.DeleteFunc(out, func(n string, _ bool) bool {
		return reach(n)[app] || !slices.ContainsFunc(r.s.Apps, func(a system.App) bool { return a.Name == n })
	})
	return out
}

// checkOrder holds that who needs an app is stopped before it, and is not let go before it
// unless a hand holds that.
func (r *random) checkOrder(t *testing.T, p *regulate.Plan) {
	t.Helper()
	for _, s := range p.Steps {
		needed := r.needed(s.App)
		for _, o := range p.Steps {
			if s.Verb == regulate.Send && o.Verb == regulate.Send && needed[o.App] && s.Wave >= o.Wave {
				t.Errorf("%s needs %s, and is not stopped before it:\n%s", s.App, o.App, planText(p))
			}
		}
		if s.Verb != regulate.RecoverApp {
			continue
		}
		for _, h := range r.j.Holds {
			// Nor does one wait for what is held because of what is held itself: that may go around.
			byHand := slices.ContainsFunc(h.Causes, func(c regulate.Cause) bool { return c.RequestedBy != "" || c.Run != "" || r.j.Holding(c.App) })
			going := slices.ContainsFunc(p.Steps, func(o regulate.Step) bool {
				return o.Hold == h.ID && (o.Verb == regulate.RecoverApp || o.Verb == regulate.Resume) && o.Wave < s.Wave && r.s.Regulation.Settle == 0
			})
			if needed[h.App] && !byHand && !going {
				t.Errorf("%s is let go though %s, which it needs, is held:\n%s", s.App, h.App, planText(p))
			}
		}
		for n := range needed {
			a, ok := r.w.App(n)
			seen := p.Seen[n]
			if ok && !r.j.Holding(n) && a.Health != health.Healthy && seen != nil && !seen.Recovered.IsZero() && p.At.Sub(seen.Recovered) < r.s.Regulation.Settle {
				t.Errorf("%s is let go though %s was a moment ago, and is %s:\n%s", s.App, n, a.Health, planText(p))
			}
		}
	}
}

// checkBudget holds that rules do not send a signal by which they alone would hold more apps
// than they may.
func (r *random) checkBudget(t *testing.T, p *regulate.Plan) {
	t.Helper()
	held := map[string]bool{}
	for _, h := range r.j.Holds {
		if !slices.ContainsFunc(h.Causes, func(c regulate.Cause) bool { return c.RequestedBy != "" || c.Run != "" }) {
			held[h.App] = true
		}
	}
	before := len(held)
	for _, s := range p.Steps {
		if s.Verb == regulate.Send {
			held[s.App] = true
		}
	}
	if most := r.s.Regulation.MaxUnavailableApps; most > 0 && len(held) > before && len(held) > most {
		t.Errorf("%d apps are held, %d may be:\n%s", len(held), most, planText(p))
	}
}

// calm makes all well, and holds that all is let go then, in bounded steps and time.
func (r *random) calm(t *testing.T) {
	t.Helper()
	for i := range r.w.Apps {
		a := &r.w.Apps[i]
		a.Health, a.Rollout, a.Unread, a.Since = health.Healthy, "", nil, time.Time{}
	}
	r.do(regulate.EndRun(r.w, r.s, r.j, "run", r.now), whole, -1, "endrun")
	for _, a := range r.w.Apps {
		r.do(regulate.RecoverByHand(r.w, r.s, r.j, a.Name, "bob", false, r.now), whole, -1, "recover "+a.Name)
	}
	for range 30 * len(r.w.Apps) {
		p := regulate.NewPlan(r.w, r.s, r.j, r.now)
		checkSteps(t, r.j, p)
		r.checkOrder(t, p)
		if slices.ContainsFunc(p.Steps, func(s regulate.Step) bool { return s.Verb == regulate.Send }) {
			t.Errorf("all is well, and a signal is sent:\n%s", planText(p))
			return
		}
		held := len(r.j.Holds)
		r.do(p, whole, -1, "calm")
		switch {
		case len(r.j.Holds) == 0:
			return
		case len(p.Steps) == 0 && p.NextCheck.IsZero():
			t.Errorf("all is well, and nothing will let go of %d holds:\n%s", held, planText(p))
			return
		case len(p.Steps) == 0:
			r.now = p.NextCheck
		default:
			r.now = r.now.Add(time.Second)
		}
		// What was let go starts, and is well before it must have settled.
		for i := range r.w.Apps {
			a := &r.w.Apps[i]
			a.Health = health.Healthy
			if s := r.j.AppRecords[a.Name]; s != nil && r.now.Sub(s.Recovered) < min(5*time.Second, r.s.Regulation.Settle) {
				a.Health = health.Progressing
			}
		}
	}
	t.Errorf("all is well, and after many plans there are still %d holds", len(r.j.Holds))
}

func (r *random) text() string {
	out := fmt.Sprintf("%+v\n", r.s.Regulation)
	for _, a := range r.w.Apps {
		out += a.Name + " needs"
		for _, n := range a.Needs {
			out += " " + n.App
		}
		out += "\n"
	}
	for _, l := range r.log[max(0, len(r.log)-12):] {
		out += l()
	}
	return out
}

func copyWorld(w *regulate.SystemState) *regulate.SystemState {
	out := &regulate.SystemState{Apps: slices.Clone(w.Apps)}
	for i := range out.Apps {
		a := &out.Apps[i]
		a.Roots, a.Absent, a.Unread, a.Needs = slices.Clone(a.Roots), slices.Clone(a.Absent), slices.Clone(a.Unread), slices.Clone(a.Needs)
		a.Fingerprint, a.Managers = maps.Clone(a.Fingerprint), maps.Clone(a.Managers)
		actions := map[string][]regulate.Resolved{}
		for k, v := range a.Actions {
			actions[k] = slices.Clone(v)
			for n := range actions[k] {
				actions[k][n].Targets, actions[k][n].Notes = slices.Clone(v[n].Targets), slices.Clone(v[n].Notes)
			}
		}
		a.Actions = actions
	}
	return out
}
