package regulate

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// failedFor is how long rules leave an app alone to which a signal failed for good.
const failedFor = 5 * time.Minute

// NewPlan says what is to be done at a moment: which signals are sent, which are undone,
// and why the rest is not. It is pure and total: it reads and changes nothing but what it
// returns, the same input gives the same plan, and no journal or world makes it fail, times
// that lie in the future included (they count as now).
//
// A rule fires for an app whose state is one of the rule's, without a break for as long as
// the rule says, by the memory of the journal and by what objects say of themselves. An app
// that is held, or about to be, is never a cause; nor is one that was recovered less than Settle
// ago and is on its way, nor one that needs an app in trouble by the same rule: its trouble
// may be of that one. Among apps that need each other the first by name is the cause.
//
// A signal that an app has already got is joined by further causes. What cannot be sent is
// refused as a whole, with a reason (Refusal). A hold is undone when none of its causes
// is left: a rule's is gone after RecoverFor without trouble, or when the manifest knows
// rule, app or target no more; that of a hand or of a run when that is said. What is needed
// comes first: an app waits while one that it needs is held by a rule or waits itself, and
// while one that was recovered less than Settle ago is not Healthy. What is held by hand makes
// nobody wait. So what is recovered is recovered app by app, by plan after plan; Again says when
// to make the next one.
//
// An app that is not known (Unknown, not read) is neither in trouble nor well: what is held
// because of it stays held, and nothing else is.
func NewPlan(w *SystemState, s *system.System, j *Journal, now time.Time) *Plan {
	p := newPlanner(w, s, j, now)
	p.findCauses()
	p.sendAll()
	p.letGo()
	return p.planned()
}

// planner makes one plan. Everything in it but out is fixed before the first step is made.
type planner struct {
	s   *system.System
	j   *Journal // a copy
	now time.Time
	// names are the apps of the manifest, in its order, and states what is known of them.
	names  []string
	states map[string]*AppState
	needs  needs
	seen   map[string]*AppRecord
	held   map[string]bool
	// frozen are the apps that a rule holds: how they are says nothing.
	frozen  map[string]bool
	matches map[about]match
	// verdicts say of each hold which of its causes are on.
	verdicts map[*Hold]verdict

	firing  map[string][]firing // by app
	passed  map[string]string   // by app, why it is no cause although a rule fires
	causes  map[string]bool
	toHold  map[string]bool
	joins   map[int][]Cause
	sends   []*Step
	plans   map[string]AppPlan
	groups  []wave
	waits   []Wait
	refused []Refusal
	again   time.Time
}

// about is a rule and an app.
type about struct{ rule, app string }

// wave is steps that follow those of the waves before; steps of one level are done side by
// side.
type wave struct {
	steps  []Step
	before func(a, b *Step) bool
}

func newPlanner(w *SystemState, s *system.System, j *Journal, now time.Time) *planner {
	if w == nil {
		w = &SystemState{}
	}
	if s == nil {
		s = &system.System{}
	}
	p := &planner{
		s: s, j: j.Clone(), now: now.Round(0).UTC(), states: map[string]*AppState{}, seen: map[string]*AppRecord{}, held: map[string]bool{},
		matches: map[about]match{}, firing: map[string][]firing{}, passed: map[string]string{}, causes: map[string]bool{},
		toHold: map[string]bool{}, joins: map[int][]Cause{}, plans: map[string]AppPlan{},
	}
	for i := range s.Apps {
		name := s.Apps[i].Name
		if slices.Contains(p.names, name) {
			continue
		}
		p.names = append(p.names, name)
		if state, ok := w.App(name); ok {
			p.states[name] = state
		}
	}
	p.needs = needsOf(w, p.recalled)
	for _, h := range p.j.Holds {
		p.held[h.App] = true
	}
	p.freeze()
	p.remember()
	p.verdicts = p.evaluateHolds()
	return p
}

// knows says that an app is of the manifest.
func (p *planner) knows(app string) bool { return slices.Contains(p.names, app) }

// rule finds a rule by name.
func (p *planner) rule(name string) (*system.Rule, bool) {
	for i := range p.s.Regulation.Rules {
		if r := &p.s.Regulation.Rules[i]; r.Name == name {
			return r, true
		}
	}
	return nil, false
}

// ripens says that something will be otherwise at t.
func (p *planner) ripens(t time.Time) {
	if t.After(p.now) && (p.again.IsZero() || t.Before(p.again)) {
		p.again = t
	}
}

func (p *planner) wait(w Wait) {
	p.ripens(w.Until)
	p.waits = append(p.waits, w)
}

// refuse keeps one refusal of a kind for an app, a signal and a rule: the first.
func (p *planner) refuse(r Refusal) {
	p.ripens(r.Until)
	if !slices.ContainsFunc(p.refused, func(o Refusal) bool {
		return o.App == r.App && o.Signal == r.Signal && o.Rule == r.Rule && o.Reason == r.Reason
	}) {
		p.refused = append(p.refused, r)
	}
}

// planned puts together what was found.
func (p *planner) planned() *Plan {
	out := &Plan{At: p.now, Pending: p.waits, Refused: p.refused, Seen: orNil(p.seen)}
	next := 0
	for _, g := range p.groups {
		levels := levelsOf(g.steps, g.before)
		most := 0
		for i := range g.steps {
			g.steps[i].Wave = next + levels[i]
			most = max(most, levels[i]+1)
		}
		next += most
		out.Steps = append(out.Steps, g.steps...)
	}
	slices.SortStableFunc(out.Steps, func(a, b Step) int {
		if a.Wave != b.Wave {
			return a.Wave - b.Wave
		}
		return strings.Compare(a.App, b.App)
	})
	for _, app := range p.names {
		out.Apps = append(out.Apps, p.statusOf(app))
	}
	out.NextCheck = p.again
	return out
}

// statusOf says what an app is to regulation: held, a cause, left alone, or free.
func (p *planner) statusOf(app string) AppPlan {
	for _, h := range p.j.Holds {
		if h.App == app {
			return AppPlan{app, IsHeld, p.heldWhy(h)}
		}
	}
	if a, ok := p.plans[app]; ok {
		return a
	}
	for _, h := range p.j.Holds {
		for _, c := range p.verdicts[h].on {
			if c.ofRule() && c.App == app {
				return AppPlan{app, IsCause, p.causeWhy(c)}
			}
		}
	}
	if end, n := p.damped(app); !end.IsZero() {
		p.ripens(end)
		return AppPlan{app, Flapping, p.dampedWhy(app, n, end)}
	}
	return AppPlan{app, NotHeld, p.freeWhy(app)}
}
