package regulate

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// firing is a rule that fires for an app.
type firing struct {
	rule    *system.Rule
	targets []string
}

// findCauses finds the apps that are causes now, and the signals to send because of them.
func (p *planner) findCauses() {
	for _, app := range p.names {
		for i := range p.s.Regulation.Rules {
			r := &p.s.Regulation.Rules[i]
			if m := p.matches[about{r.Name, app}]; appliesTo(r, app) && m.on {
				p.fire(r, app, m)
			}
		}
	}
	for open := p.open(); len(open) > 0; open = p.open() {
		p.accept(p.next(open))
	}
}

// fire records that a rule fires for an app, or why it does not.
func (p *planner) fire(r *system.Rule, app string, m match) {
	targets := p.targets(r, app)
	if reason := p.ofAnother(r, app); reason != "" {
		p.passed[app] = p.explain(app, r, m) + reason
		return
	}
	if end := m.since.Add(r.For); p.now.Before(end) {
		for _, t := range targets {
			if h, ok := p.j.HoldOf(t, r.Signal); ok && slices.ContainsFunc(h.Causes, Cause{Rule: r.Name, App: app}.same) {
				continue // held because of it already
			}
			p.wait(Wait{App: t, Signal: r.Signal, Verb: Send, Rule: r.Name, Why: p.explain(app, r, m), Until: end})
		}
		p.ripens(end)
		return
	}
	p.firing[app] = append(p.firing[app], firing{r, targets})
}

// ofAnother returns why an app that this one needs may have caused its trouble.
func (p *planner) ofAnother(r *system.Rule, app string) string {
	for _, n := range p.needs.dependencies(app) {
		if !p.knows(n) {
			continue
		}
		if p.matches[about{r.Name, n}].on && appliesTo(r, n) && (!p.needs.all[n][app] || n < app) {
			return fmt.Sprintf("; but %s, which it needs, matches the rule as well, and may be the cause", n)
		}
		if p.held[n] {
			return fmt.Sprintf("; but %s, which it needs, is held, and that may be the cause", n)
		}
		if a := p.states[n]; a != nil && p.settling(p.seen[n]) && a.Health != health.Healthy {
			return fmt.Sprintf("; but %s, which it needs, recovered %s ago and is not Healthy yet", n, span(p.now.Sub(p.seen[n].Recovered)))
		}
	}
	return ""
}

// targets are the apps that get the signal of a rule because of an app, in manifest order; never
// the app itself.
func (p *planner) targets(r *system.Rule, app string) []string {
	var out []string
	for _, t := range p.names {
		switch {
		case t == app:
		case len(r.To) > 0:
			if slices.Contains(r.To, t) {
				out = append(out, t)
			}
		case p.needs.direct[t][app], r.Cascade && p.needs.all[t][app]:
			out = append(out, t)
		}
	}
	return out
}

// open are the apps for which a rule fires and that have no verdict yet, in manifest order.
func (p *planner) open() []string {
	var out []string
	for _, app := range p.names {
		if len(p.firing[app]) > 0 && !p.causes[app] && p.passed[app] == "" {
			out = append(out, app)
		}
	}
	return out
}

// next chooses an open app that no other open one would hold; in a cycle the first by name.
func (p *planner) next(open []string) string {
	edges := map[string]map[string]bool{}
	for _, app := range open {
		edges[app] = map[string]bool{}
		for _, f := range p.firing[app] {
			for _, t := range f.targets {
				if slices.Contains(open, t) {
					edges[app][t] = true
				}
			}
		}
	}
	all := map[string]map[string]bool{}
	for _, app := range open {
		all[app] = reach(app, edges)
	}
	best := ""
	for _, app := range open {
		free := !slices.ContainsFunc(open, func(o string) bool { return o != app && all[o][app] && !all[app][o] })
		if free && (best == "" || app < best) {
			best = app
		}
	}
	return best
}

// accept makes an app a cause, unless it is about to be held itself.
func (p *planner) accept(app string) {
	first := p.firing[app][0].rule
	reason := p.explain(app, first, p.matches[about{first.Name, app}])
	if p.toHold[app] {
		p.passed[app] = reason + "; but it is about to be held itself"
		return
	}
	p.causes[app] = true
	held := 0
	for _, f := range p.firing[app] {
		c := Cause{Rule: f.rule.Name, App: app, Why: p.explain(app, f.rule, p.matches[about{f.rule.Name, app}]), At: p.now}
		for _, t := range f.targets {
			if p.causes[t] {
				continue // a cycle: it is a cause, and not held
			}
			held++
			p.want(t, f.rule.Signal, c)
		}
	}
	if held == 0 {
		reason += "; no app is held because of it"
	}
	p.plans[app] = AppPlan{app, IsCause, reason}
}

// want requests a signal to an app because of a cause.
func (p *planner) want(app, signal string, c Cause) {
	excused := slices.Contains(p.seen[app].OverriddenCauses, c.Rule+"/"+c.App)
	refuse := func() {
		p.refuse(Refusal{App: app, Signal: signal, Rule: c.Rule, Reason: ReasonOverridden, Message: fmt.Sprintf(
			"%s was recovered manually although %s; rules ignore it until that clears (regulate stop %s holds it)", app, c.Why, app)})
	}
	if h, ok := p.j.HoldOf(app, signal); ok {
		switch {
		case slices.ContainsFunc(h.Causes, c.same) && !ending(h):
		case ending(h):
			p.wait(Wait{App: app, Signal: signal, Verb: Send, Rule: c.Rule, Why: c.Why + "; but it is recovering, and that finishes first"})
		case excused:
			refuse()
		default:
			p.joins[h.ID] = append(p.joins[h.ID], c)
		}
		return
	}
	if excused {
		refuse()
		return
	}
	for _, s := range p.sends {
		if s.App == app && s.Signal == signal {
			s.Causes = append(s.Causes, c)
			return
		}
	}
	if r := p.refusal(app, signal); r != nil {
		r.Rule = c.Rule
		p.refuse(*r)
		return
	}
	p.toHold[app] = true
	p.sends = append(p.sends, p.send(app, signal, c))
}

// ending reports a hold that is being undone: that always continues to its end.
func ending(h *Hold) bool { return h.Phase == Recovering || h.Failed != "" }
