package regulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Plans of manual requests. They are as pure and total as NewPlan, and Runner.Do runs them in
// the same way. Each covers one request, finishes started operations first, and leaves the rules
// to the next NewPlan. The limits of rules (budget, hold-off, damping) do not apply.

// StopByHand sends a signal to an app at the request of user. If the app already has the signal,
// this cause joins, and the app stays held until the request is withdrawn too. It is refused if
// the app does nothing on the signal, if the manifest does not allow it, and if a manager
// reverts changes of a target.
func StopByHand(w *SystemState, s *system.System, j *Journal, app, signal, user string, now time.Time) *Plan {
	p := newPlanner(w, s, j, now)
	user = cmp.Or(user, "an unknown user")
	p.groups = append(p.groups, p.unfinished(nil))
	p.hold(app, signal, Cause{RequestedBy: user, Why: "held manually by " + user, At: p.now})
	p.sendAll()
	return p.planned()
}

// HoldForRun sends a signal to the dependents of an app because a command is about to change it:
// the signals of rules that fire on its upgrade, and without such a rule to the apps that need
// it directly. EndRun recovers them by the ID of the run. An app that cannot be held is refused;
// the caller decides whether to run the command anyway. An app that the system lacks is an
// error.
func HoldForRun(w *SystemState, s *system.System, j *Journal, app, signal, id, command, user string, now time.Time) (*Plan, error) {
	p := newPlanner(w, s, j, now)
	if !p.knows(app) {
		return nil, fmt.Errorf("app %s: the System has no app of that name; it has %s", app, cmp.Or(strings.Join(p.names, ", "), "none"))
	}
	reason := fmt.Sprintf("a run changes %s: %s", app, cmp.Or(command, "a command"))
	if user != "" {
		reason += " (" + user + ")"
	}
	cause := Cause{App: app, Run: cmp.Or(id, "run"), Why: reason, At: p.now}
	var targets []string
	ruled := false
	for i := range p.s.Regulation.Rules {
		if r := &p.s.Regulation.Rules[i]; appliesTo(r, app) && r.Upgrading && r.Signal == signal {
			ruled = true
			targets = append(targets, p.targets(r, app)...)
		}
	}
	if !ruled {
		targets = p.targets(&system.Rule{}, app)
	}
	slices.Sort(targets)
	p.groups = append(p.groups, p.unfinished(nil))
	for _, t := range slices.Compact(targets) {
		p.hold(t, signal, cause)
	}
	p.sendAll()
	return p.planned(), nil
}

// PauseForRun stops the apps that write to the data of the given apps while a run copies it, except
// those that have to run meanwhile: the apps that directly need one of the given apps, and the given
// apps themselves. A given app without an action of its own on Stop runs on if others need it: it
// writes for them, and they are stopped. EndRun recovers the apps by the ID of the run. If the run is
// killed, its causes end at the limit, and the next plan by the rules recovers the apps. An app that
// cannot be stopped is refused.
func PauseForRun(w *SystemState, s *system.System, j *Journal, apps, except []string, id, reason string, now, limit time.Time) *Plan {
	p := newPlanner(w, s, j, now)
	p.groups = append(p.groups, p.unfinished(nil))
	for _, t := range p.names {
		i := slices.IndexFunc(apps, func(app string) bool { return p.needs.direct[t][app] || app == t && !p.runsOn(t) })
		if i >= 0 && !slices.Contains(except, t) {
			p.hold(t, system.Stop, Cause{App: apps[i], Run: id, Why: reason, At: p.now, Until: limit.Round(0).UTC()})
		}
	}
	p.sendAll()
	return p.planned()
}

// runsOn reports that an app has no action of its own on Stop, and that others need it.
func (p *planner) runsOn(app string) bool {
	if a := p.states[app]; a != nil && len(a.Actions[system.Stop]) > 0 && !slices.ContainsFunc(a.Actions[system.Stop], func(r Resolved) bool { return r.Default }) {
		return false
	}
	return slices.ContainsFunc(p.names, func(t string) bool { return t != app && p.needs.direct[t][app] })
}

// hold sends a signal without a rule, or joins an existing hold.
func (p *planner) hold(app, signal string, c Cause) {
	if h, ok := p.j.HoldOf(app, signal); ok {
		step := Step{Verb: AddCause, App: app, Signal: signal, Hold: h.ID, Causes: []Cause{c}, Why: c.Why}
		switch {
		case ending(h):
			p.refuse(Refusal{App: app, Signal: signal, Reason: BecauseBusy, Message: fmt.Sprintf("%s of %s is being undone: retry when that has finished", signal, app)})
		case !slices.ContainsFunc(h.Causes, c.same):
			p.groups = append(p.groups, wave{[]Step{step}, joinFirst})
		}
		return
	}
	if r := p.cannot(app, signal); r != nil {
		p.refuse(*r)
		return
	}
	p.sends = append(p.sends, p.send(app, signal, c))
}

// RecoverByHand undoes all signals to an app on request, without waiting for other apps; it ends
// manual causes and those of runs. While a rule has a cause the app stays held and this is
// refused. With force those causes are overridden, and do not hold the app again until they have
// ended once. Conflicts of earlier recoveries are restored with force; else a refusal names
// them.
func RecoverByHand(w *SystemState, s *system.System, j *Journal, app, user string, force bool, now time.Time) *Plan {
	p := newPlanner(w, s, j, now)
	var leave, recovers []Step
	held := false
	for _, h := range p.j.Holds {
		if h.App != app {
			continue
		}
		held = true
		step := Step{Verb: RecoverApp, App: app, Signal: h.Signal, Hold: h.ID, Causes: h.Causes, Actions: p.afterwards(app), Why: "recovered manually by " + cmp.Or(user, "an unknown user")}
		rules := slices.DeleteFunc(slices.Clone(p.verdicts[h].on), Cause.byHand)
		hands := slices.DeleteFunc(slices.Clone(h.Causes), Cause.ofRule)
		switch {
		case ending(h):
			continue // resumed instead
		case len(rules) > 0 && !force:
			p.refuse(Refusal{App: app, Signal: h.Signal, Rule: rules[0].Rule, Reason: BecauseCause, Message: fmt.Sprintf(
				"%s is held because %s; it recovers when that clears, or with --force", app, whys(rules))})
			if len(hands) == 0 {
				continue
			}
			step.Verb, step.Causes, step.Actions = RemoveCause, hands, nil
			leave = append(leave, step)
		default:
			p.excuse(app, rules)
			recovers = append(recovers, step)
		}
	}
	refusals := len(p.refused)
	recovers = append(recovers, p.backOfLeft(app, cmp.Or(user, "an unknown user"), force, held)...)
	if !held && len(recovers) == 0 && len(p.refused) == refusals {
		p.refuse(Refusal{App: app, Signal: system.Recover, Reason: BecauseNotHeld, Message: fmt.Sprintf("%s is not held by this System: there is nothing to recover; held: %s", app, cmp.Or(p.heldApps(), "none"))})
	}
	p.groups = []wave{p.unfinished(recovers), {leave, joinFirst}, {recovers, p.recoverOrder}}
	return p.planned()
}

// excuse overrides causes for an app until they have ended once.
func (p *planner) excuse(app string, causes []Cause) {
	s := p.seen[app]
	if s == nil {
		return
	}
	for _, c := range causes {
		if e := c.Rule + "/" + c.App; !slices.Contains(s.OverriddenCauses, e) {
			s.OverriddenCauses = append(s.OverriddenCauses, e)
		}
	}
	slices.Sort(s.OverriddenCauses)
}

// EndRun recovers what a run holds. Holds that wait for no other app are undone at once; the
// others lose the cause, and later plans undo them when their dependencies are Healthy. Until
// then the plan has Pending entries.
func EndRun(w *SystemState, s *system.System, j *Journal, id string, now time.Time) *Plan {
	j = j.Clone()
	ended := map[int][]Cause{}
	for _, h := range j.Holds {
		var stay []Cause
		for _, c := range h.Causes {
			if c.Run != "" && c.Run == id {
				ended[h.ID] = append(ended[h.ID], c)
				continue
			}
			stay = append(stay, c)
		}
		h.Causes = stay
	}
	p := newPlanner(w, s, j, now)
	var recovers, leave []Step
	for _, h := range p.j.Holds {
		step := Step{App: h.App, Signal: h.Signal, Hold: h.ID, Causes: ended[h.ID], Why: "the run has ended: " + whys(ended[h.ID])}
		switch {
		case len(ended[h.ID]) == 0 || ending(h):
		case len(p.verdicts[h].on) == 0:
			step.Verb = RecoverApp
			recovers = append(recovers, step)
		default:
			step.Verb = RemoveCause
			leave = append(leave, step)
		}
	}
	ready := p.inOrder(recovers)
	for _, step := range recovers {
		if !slices.ContainsFunc(ready, func(s Step) bool { return s.Hold == step.Hold }) {
			step.Verb = RemoveCause
			leave = append(leave, step)
		}
	}
	p.groups = []wave{p.unfinished(ready), {leave, joinFirst}, {ready, p.recoverOrder}}
	return p.planned()
}

// heldApps lists the apps that are held, by name.
func (p *planner) heldApps() string {
	var out []string
	for _, h := range p.j.Holds {
		out = append(out, h.App)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}
