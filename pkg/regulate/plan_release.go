package regulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// verdict is the decision about an open hold.
type verdict struct {
	// on and gone are its causes; until is when the last of on ends if all of them are well,
	// else zero.
	on, gone []Cause
	until    time.Time
	why      []string // of those that are gone
}

// letGo plans the holds of the journal: it resumes started ones, adds and removes causes, and
// undoes holds without causes.
func (p *planner) letGo() {
	var change, recovers []Step
	for _, h := range p.j.Holds {
		v, joins := p.verdicts[h], p.joins[h.ID]
		step := Step{App: h.App, Signal: h.Signal, Hold: h.ID}
		if ending(h) {
			continue
		}
		if len(v.on)+len(joins) == 0 {
			step.Verb, step.Causes = RecoverApp, v.gone
			step.Why = strings.Join(v.why, "; ")
			if len(v.gone) == 0 {
				step.Why = "no rule holds " + h.App
			}
			recovers = append(recovers, step)
			continue
		}
		if len(joins) > 0 {
			s := step
			s.Verb, s.Causes, s.Why = AddCause, joins, whys(joins)
			change = append(change, s)
		}
		if len(v.gone) > 0 {
			s := step
			s.Verb, s.Causes, s.Why = RemoveCause, v.gone, strings.Join(v.why, "; ")
			change = append(change, s)
		}
		if len(joins) == 0 && !v.until.IsZero() {
			p.wait(Wait{App: h.App, Signal: h.Signal, Verb: RecoverApp, Rule: v.on[0].Rule, Why: p.wellWhy(v.on), Until: v.until})
		}
	}
	recovers = p.inOrder(recovers)
	p.groups = slices.Concat([]wave{p.unfinished(recovers), {change, joinFirst}, {recovers, p.recoverOrder}}, p.groups)
}

// unfinished resumes all started holds except those that are about to be undone. It comes before
// any other step: a started operation may have written to an object that other operations write
// too, which must know the values before. Such holds were started concurrently, so they are
// resumed concurrently.
func (p *planner) unfinished(recovers []Step) wave {
	var out []Step
	for _, h := range p.j.Holds {
		step := Step{Verb: Resume, App: h.App, Signal: h.Signal, Hold: h.ID, Causes: h.Causes}
		switch {
		case slices.ContainsFunc(recovers, func(s Step) bool { return s.Hold == h.ID }):
			continue
		case h.Failed != "":
			step.Why = fmt.Sprintf("%s to %s failed (%s), and is undone", h.Signal, h.App, h.Failed)
		case h.Phase == Recovering:
			step.Why = fmt.Sprintf("%s to %s of %s is being undone, and has not finished", h.Signal, h.App, clock(h.At))
			step.Actions = p.afterwards(h.App)
		case h.Phase != Held:
			step.Why = fmt.Sprintf("%s to %s started at %s, and has not finished: %s", h.Signal, h.App, clock(h.At), cmp.Or(whys(h.Causes), "no rule holds it"))
		default:
			continue
		}
		out = append(out, step)
	}
	return wave{out, neverConflicts}
}

// recoverOrder recovers dependencies first, and of the holds of one app the last one first.
func (p *planner) recoverOrder(a, b *Step) bool {
	if a.App == b.App {
		return a.Hold > b.Hold
	}
	return p.needs.first(a.App, b.App)
}

func neverConflicts(_, _ *Step) bool { return false }

func joinFirst(a, b *Step) bool {
	return a.Hold == b.Hold && a.Verb == AddCause && b.Verb == RemoveCause
}

// afterwards are the actions on Recover of an app that are possible.
func (p *planner) afterwards(app string) []Resolved {
	a := p.states[app]
	if a == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Actions["Recover"]), func(r Resolved) bool { return r.Refused != "" })
}

// evaluateHolds finds the causes of all holds that last.
func (p *planner) evaluateHolds() map[*Hold]verdict {
	out := map[*Hold]verdict{}
	for _, h := range p.j.Holds {
		v, all := verdict{}, true
		for _, c := range h.Causes {
			end, on, reason := p.causeOn(h, c)
			if !on {
				v.gone = append(v.gone, c)
				if !slices.Contains(v.why, reason) {
					v.why = append(v.why, reason)
				}
				continue
			}
			v.on = append(v.on, c)
			all = all && !end.IsZero()
			if end.After(v.until) {
				v.until = end
			}
		}
		if !all {
			v.until = time.Time{}
		}
		out[h] = v
	}
	return out
}

// causeOn reports whether a cause still holds an app: with its end if it is well, and the reason
// if it ended.
func (p *planner) causeOn(h *Hold, c Cause) (end time.Time, on bool, reason string) {
	if obsolete := p.obsoleteReason(h, c); obsolete != "" {
		return time.Time{}, false, obsolete
	}
	if c.expired(p.now) {
		return time.Time{}, false, fmt.Sprintf("run %s has not ended by %s", c.Run, clock(c.Until))
	}
	if c.byHand() {
		return c.Until, true, ""
	}
	r, _ := p.rule(c.Rule)
	end = p.wellAt(r, c.App)
	if end.IsZero() || p.now.Before(end) {
		return end, true, ""
	}
	return time.Time{}, false, p.causeWhy(c)
}

// obsoleteReason returns why a cause ended whatever the states: the manifest no longer has it.
func (p *planner) obsoleteReason(h *Hold, c Cause) string {
	if !p.knows(h.App) {
		return fmt.Sprintf("the manifest no longer has app %s", h.App)
	}
	if c.byHand() {
		return ""
	}
	r, ok := p.rule(c.Rule)
	switch {
	case !ok:
		return fmt.Sprintf("the manifest no longer has rule %s", c.Rule)
	case !p.knows(c.App):
		return fmt.Sprintf("the manifest no longer has app %s", c.App)
	case !appliesTo(r, c.App) || c.App == h.App:
		return fmt.Sprintf("rule %s no longer applies to %s", r.Name, c.App)
	case r.Signal != h.Signal, len(r.To) > 0 && !slices.Contains(r.To, h.App):
		return fmt.Sprintf("rule %s no longer sends %s to %s", r.Name, h.Signal, h.App)
	}
	return ""
}

// inOrder keeps the steps that wait for no other app. Only without Settle do steps of several
// waves remain: else the health of dependencies is observed first.
func (p *planner) inOrder(recovers []Step) []Step {
	stays := map[string]bool{} // apps that this plan does not recover
	rings := p.rings()
	for {
		var keep []Step
		more := false
		for _, s := range recovers {
			reason, end := p.waitsFor(s.App, stays, rings)
			if reason == "" {
				keep = append(keep, s)
				continue
			}
			more = true
			stays[s.App] = true
			p.wait(Wait{App: s.App, Signal: s.Signal, Verb: RecoverApp, Why: s.Why + "; but " + reason, Until: end})
		}
		recovers = keep
		if !more {
			break
		}
	}
	for i := range recovers {
		recovers[i].Actions = p.afterwards(recovers[i].App)
	}
	return recovers
}

// rings returns for each app that is held because of a held app the apps that must recover
// before it, transitively: the causes of its holds, and its needs. If a rule holds an app that
// its cause needs, that is a cycle, and the need does not count: this breaks each such cycle.
func (p *planner) rings() map[string]map[string]bool {
	edges, all := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, h := range p.j.Holds {
		if edges[h.App] == nil {
			edges[h.App] = map[string]bool{}
		}
		for _, c := range p.verdicts[h].on {
			if c.ofRule() && p.held[c.App] {
				edges[h.App][c.App] = true
				all[h.App] = nil
			}
		}
		for _, n := range p.needs.dependencies(h.App) {
			if p.held[n] && p.needs.first(n, h.App) {
				edges[h.App][n] = true
			}
		}
	}
	for app := range all {
		all[app] = reach(app, edges)
	}
	return all
}

// waitsFor returns why an app is not recovered yet, and until when if known. Apps that need each
// other wait for those with smaller names, and no app waits for one that is held because of it.
func (p *planner) waitsFor(app string, stays map[string]bool, rings map[string]map[string]bool) (string, time.Time) {
	settle := p.s.Regulation.Settle
	for _, n := range p.needs.dependencies(app) {
		if !p.needs.first(n, app) || !p.knows(n) {
			continue
		}
		going := false
		for _, h := range p.j.Holds {
			if h.App != n {
				continue
			}
			on := p.verdicts[h].on
			switch {
			case ending(h) || len(on) == 0 && len(p.joins[h.ID]) == 0:
				going = true
			case rings[n][app]: // it waits for this app
			case len(p.joins[h.ID]) > 0 || slices.ContainsFunc(on, Cause.ofRule):
				return fmt.Sprintf("%s, which it needs, is held", n), time.Time{}
			}
		}
		switch {
		case p.toHold[n]:
			return fmt.Sprintf("%s, which it needs, is about to be held", n), time.Time{}
		case going && (settle > 0 || stays[n]):
			return fmt.Sprintf("%s, which it needs, recovers first", n), time.Time{}
		}
		if a := p.states[n]; !p.held[n] && a != nil && p.settling(p.seen[n]) && a.Health != health.Healthy {
			end := p.seen[n].Recovered.Add(settle)
			return fmt.Sprintf("%s, which it needs, recovered %s ago and is not Healthy yet (settle: %s)", n, span(p.now.Sub(p.seen[n].Recovered)), span(settle)), end
		}
	}
	return "", time.Time{}
}
