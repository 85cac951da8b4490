package regulate

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// failedFor is how long rules ignore an app after a signal to it failed permanently.
const failedFor = 5 * time.Minute

// NewPlan returns what to do at a moment: which signals to send, which to undo, and why not the
// others. It is pure and total: the same input gives the same plan, and no journal or state
// makes it fail. Times in the future count as now.
//
// A rule fires for an app whose state has been one of the rule's for the time of the rule,
// without a break, by the journal and by the times in objects. Some apps are never a cause: one
// that is held or about to be; one that was recovered less than Settle ago and is Progressing;
// and one that needs an app with trouble by the same rule, which may have caused its trouble.
// Among apps that need each other the first by name is the cause.
//
// Further causes join a signal that was already sent. A signal that cannot be sent is refused as
// a whole, with a reason (Refusal). A hold without causes is undone. The cause of a rule ends
// after RecoverFor without trouble, or when the manifest no longer has the rule, the app or the
// target; a manual one or that of a run ends on request. Dependencies recover first: an app
// waits while an app that it needs is held by a rule, waits itself, or was recovered less than
// Settle ago and is not Healthy. Manual holds block no other app. So each plan recovers some
// apps; NextCheck is when to make the next one.
//
// An app with unknown state (Unknown, unread) has neither trouble nor recovered: its causes
// stay, and it adds none.
func NewPlan(w *SystemState, s *system.System, j *Journal, now time.Time) *Plan {
	p := newPlanner(w, s, j, now)
	p.findCauses()
	p.sendAll()
	p.letGo()
	return p.planned()
}

// planner makes one plan. Its fields except out are set before the first step is planned.
type planner struct {
	s   *system.System
	j   *Journal // a copy
	now time.Time
	// names are the apps of the manifest, in its order, and states their observed states.
	names  []string
	states map[string]*AppState
	needs  needs
	seen   map[string]*AppRecord
	held   map[string]bool
	// frozen are the apps that a rule holds: their state does not count.
	frozen  map[string]bool
	matches map[about]match
	// verdicts has for each hold its causes that last.
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

// wave is steps that follow the waves before; steps of one level run concurrently.
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

// knows reports that an app is in the manifest.
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

// ripens records that the plan changes at t.
func (p *planner) ripens(t time.Time) {
	if t.After(p.now) && (p.again.IsZero() || t.Before(p.again)) {
		p.again = t
	}
}

func (p *planner) wait(w Wait) {
	p.ripens(w.Until)
	p.waits = append(p.waits, w)
}

// refuse keeps the first refusal of an app, a signal and a rule.
func (p *planner) refuse(r Refusal) {
	p.ripens(r.Until)
	if !slices.ContainsFunc(p.refused, func(o Refusal) bool {
		return o.App == r.App && o.Signal == r.Signal && o.Rule == r.Rule && o.Reason == r.Reason
	}) {
		p.refused = append(p.refused, r)
	}
}

// planned returns the result.
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

// statusOf returns the status of an app: held, a cause, flapping, or free.
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
