package regulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// send creates the step that sends a signal.
func (p *planner) send(app, signal string, causes ...Cause) *Step {
	a := p.states[app]
	managers, notes := p.managers(app, a.Actions[signal])
	actions := slices.Clone(a.Actions[signal])
	if len(notes) > 0 {
		actions[0].Notes = append(slices.Clone(actions[0].Notes), notes...)
	}
	return &Step{Verb: Send, App: app, Signal: signal, Causes: causes, Actions: actions, Managers: managers}
}

// sendAll creates the steps of the signals: dependents first, and the signals to one app in the
// order of rules.
func (p *planner) sendAll() {
	if len(p.sends) == 0 {
		return
	}
	order := map[about]int{}
	var steps []Step
	for i, s := range p.sends {
		s.Why = whys(s.Causes)
		order[about{s.Signal, s.App}] = i
		steps = append(steps, *s)
	}
	p.groups = append(p.groups, wave{steps, func(a, b *Step) bool {
		if a.App == b.App {
			return order[about{a.Signal, a.App}] < order[about{b.Signal, b.App}]
		}
		return p.needs.last(a.App, b.App)
	}})
}

// refusal returns why the signal of a rule is not sent to an app; nil if it is. The state of the
// app comes before the limits of rules, and the budget last, so that only sent signals use it.
func (p *planner) refusal(app, signal string) *Refusal {
	if r := p.cannot(app, signal); r != nil {
		return r
	}
	g, s := &p.s.Regulation, p.seen[app]
	no := func(reason string, end time.Time, format string, args ...any) *Refusal {
		return &Refusal{App: app, Signal: signal, Reason: reason, Until: end, Message: fmt.Sprintf(format, args...)}
	}
	if end := s.Refused.Add(failedFor); !s.Refused.IsZero() && p.now.Before(end) {
		return no(BecauseFailed, end, "the last signal to %s failed %s ago; the next try is at %s (regulate history shows what failed)", app, span(p.now.Sub(s.Refused)), clock(end))
	}
	if end := s.Recovered.Add(g.HoldOff); !s.Recovered.IsZero() && p.now.Before(end) {
		return no(BecauseHoldOff, end, "%s recovered %s ago; rules ignore it until %s (regulation.holdOff: %s)", app, span(p.now.Sub(s.Recovered)), clock(end), span(g.HoldOff))
	}
	if end, n := p.damped(app); !end.IsZero() {
		return no(BecauseDamped, end, "%s", p.dampedWhy(app, n, end))
	}
	if held := p.unavailable(); g.MaxUnavailableApps > 0 && len(held) >= g.MaxUnavailableApps && !slices.Contains(held, app) {
		return no(BecauseBudget, time.Time{}, "rules hold %s already, and regulation.maxUnavailableApps is %d; %s follows when one of them recovers", strings.Join(held, ", "), g.MaxUnavailableApps, app)
	}
	return nil
}

// cannot returns why a signal is not sent to an app, also on manual requests; nil if it is.
func (p *planner) cannot(app, signal string) *Refusal {
	no := func(reason, format string, args ...any) *Refusal {
		return &Refusal{App: app, Signal: signal, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	a := p.states[app]
	switch {
	case !p.knows(app):
		return no(ReasonMissing, "the System has no app %s; it has %s", app, cmp.Or(strings.Join(p.names, ", "), "none"))
	case signal != system.Stop && p.stopped(app):
		return no(BecauseBusy, "%s is stopped; %s is not sent meanwhile", app, signal)
	case a == nil:
		return no(ReasonUnread, "cannot hold %s: it was not read", app)
	case len(a.Unread) > 0:
		return no(ReasonUnread, "%s of %s could not be read, so it cannot be held: check your permission to read it", strings.Join(a.Unread, ", "), app)
	case len(a.Roots) == 0:
		return no(ReasonMissing, "no object of %s exists: %s; there is nothing to hold", app, cmp.Or(strings.Join(a.Absent, ", "), "it has no roots"))
	}
	actions := a.Actions[signal]
	if len(actions) == 0 {
		return no(BecauseNoAction, "%s has no action on %s; add one under on.%s of the app", app, signal, signal)
	}
	for i := range actions {
		if actions[i].Refused != "" {
			reason := BecauseNoAction
			if strings.Contains(actions[i].Refused, "allowStop") {
				reason = BecauseAllowStop
			}
			return no(reason, "%s: %s", app, actions[i].Refused)
		}
	}
	return p.refuseManaged(app, signal, actions)
}

// stopped reports that Stop holds an app, or is about to: another signal would overwrite its
// fields.
func (p *planner) stopped(app string) bool {
	_, held := p.j.HoldOf(app, system.Stop)
	return held || slices.ContainsFunc(p.sends, func(s *Step) bool { return s.App == app && s.Signal == system.Stop })
}

// refuseManaged refuses targets that have a manager, if the manifest says so.
func (p *planner) refuseManaged(app, signal string, actions []Resolved) *Refusal {
	keepers := p.keepers(app, actions)
	if len(keepers) == 0 || p.gitops(app) != system.Refuse {
		return nil
	}
	k := keepers[0]
	does := "would revert it"
	if !k.by.Reverts {
		does = "would revert it on its next upgrade"
	}
	return &Refusal{App: app, Signal: signal, Reason: BecauseGitOps, Message: fmt.Sprintf(
		"%s of %s is managed by %s (%s), which %s; gitops: suspend of the app, or of the regulation, suspends it first, and gitops: ignore continues", p.ref(k.target), app, p.ref(k.by.Ref), k.by.Tool, does)}
}

// manager is a manager of a target.
type manager struct {
	target object.Ref
	by     Manager
}

// keepers returns the managers of the targets of actions, in the order of the targets.
func (p *planner) keepers(app string, actions []Resolved) []manager {
	var out []manager
	for _, r := range actions {
		for _, t := range r.Targets {
			for _, m := range p.states[app].Managers[t] {
				out = append(out, manager{t, m})
			}
		}
	}
	return out
}

// gitops returns the policy for targets of an app that have a manager.
func (p *planner) gitops(app string) system.GitOps {
	var own system.GitOps
	if a, ok := p.s.App(app); ok {
		own = a.GitOps
	}
	switch g := cmp.Or(own, p.s.Regulation.GitOps); g {
	case system.Suspend, system.Ignore:
		return g
	}
	return system.Refuse
}

// managers returns the managers to suspend before actions, and a note about the others: Helm
// reverts nothing by itself.
func (p *planner) managers(app string, actions []Resolved) (out []Manager, notes []string) {
	if p.gitops(app) != system.Suspend {
		return nil, nil
	}
	for _, k := range p.keepers(app, actions) {
		note := fmt.Sprintf("%s (%s) manages %s, and reverts it on its next upgrade, not before", p.ref(k.by.Ref), k.by.Tool, p.ref(k.target))
		switch {
		case k.by.Reverts && !slices.Contains(out, k.by):
			out = append(out, k.by)
		case !k.by.Reverts && !slices.Contains(notes, note):
			notes = append(notes, note)
		}
	}
	return out, notes
}

// damped returns until when rules ignore an app because they stopped it too often, and how often
// they did in the last hour; zero if they do not.
func (p *planner) damped(app string) (end time.Time, n int) {
	stopped, most := p.seen[app].Stopped, p.s.Regulation.MaxSignalsPerHour
	if most <= 0 || len(stopped) < most {
		return time.Time{}, len(stopped)
	}
	return stopped[len(stopped)-most].Add(time.Hour), len(stopped)
}

// unavailable are the apps that only rules hold, or are about to, by name. An app that is also
// held manually or by a run does not count. A hold counts until it is undone.
func (p *planner) unavailable() []string {
	var out []string
	for _, h := range p.j.Holds {
		if !slices.ContainsFunc(h.Causes, Cause.byHand) {
			out = append(out, h.App)
		}
	}
	for app := range p.toHold {
		out = append(out, app)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
