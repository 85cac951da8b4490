package regulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// explain describes a firing rule: db is Degraded for 31 s (rule trouble, for 30 s):
// StatefulSet/db: 0/1 replicas available.
func (p *planner) explain(app string, r *system.Rule, m match) string {
	a := p.states[app]
	state, because := "", ""
	if m.health {
		state = string(healthOf(a))
		because = a.Message
		if a.Cause != (object.Ref{}) {
			because = strings.TrimSuffix(p.ref(a.Cause)+": "+a.Message, ": ")
		}
	} else {
		state, because = "being upgraded", p.upgrade(app)
	}
	out := fmt.Sprintf("%s is %s for %s (rule %s, for %s)", app, state, span(p.now.Sub(m.since)), r.Name, span(r.For))
	if because != "" {
		out += ": " + because
	}
	return out
}

// upgrade returns the evidence of an upgrade: the rollout, or the first changed item by name.
func (p *planner) upgrade(app string) string {
	a, settled := p.states[app], p.seen[app].HealthyFingerprint
	if a.Rollout != "" {
		return a.Rollout
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(settled)), maps.Keys(a.Fingerprint))
	slices.Sort(keys)
	for _, k := range keys {
		was, had := settled[k]
		current, has := a.Fingerprint[k]
		switch {
		case had && !has:
			return k + " is gone"
		case !had:
			return k + " is new"
		case was != current:
			return fmt.Sprintf("%s changed from %s to %s", k, cmp.Or(was, "empty"), cmp.Or(current, "empty"))
		}
	}
	return ""
}

// wellWhy lists the causes that are well and about to end.
func (p *planner) wellWhy(causes []Cause) string {
	var out []string
	for _, c := range causes {
		out = append(out, p.causeWhy(c))
	}
	return strings.Join(out, "; ")
}

// causeWhy describes the state of the app of a cause by its rule.
func (p *planner) causeWhy(c Cause) string {
	r, ok := p.rule(c.Rule)
	m := p.matches[about{c.Rule, c.App}]
	switch {
	case !ok:
		return c.Why
	case m.on:
		return p.explain(c.App, r, m)
	case p.states[c.App] == nil:
		return c.App + " was not read: what was held because of it stays held"
	case m.unsure:
		return fmt.Sprintf("%s is %s, neither failing nor well: what was held because of it stays held", c.App, healthOf(p.states[c.App]))
	}
	return fmt.Sprintf("%s is well for %s (rule %s, recover for %s)", c.App, span(p.now.Sub(m.since)), r.Name, span(r.RecoverFor))
}

func (p *planner) dampedWhy(app string, n int, end time.Time) string {
	times := "times"
	if n == 1 {
		times = "time"
	}
	return fmt.Sprintf("rules stopped %s %d %s in the last hour, and regulation.maxSignalsPerHour is %d; they ignore it until %s: see why its causes come and go (regulate history), or hold it manually (regulate stop %s)",
		app, n, times, p.s.Regulation.MaxSignalsPerHour, clock(end), app)
}

// heldWhy returns why an app is held, and since when.
func (p *planner) heldWhy(h *Hold) string {
	switch {
	case h.Failed != "":
		return fmt.Sprintf("%s failed, and is being undone: %s", h.Signal, h.Failed)
	case h.Phase == Recovering:
		return fmt.Sprintf("%s is being undone", h.Signal)
	}
	text := fmt.Sprintf("%s since %s: %s", h.Signal, clock(h.At), cmp.Or(whys(h.Causes), "no rule holds it"))
	if slices.ContainsFunc(h.Causes, func(c Cause) bool { return c.Run != "" }) {
		text += "; if that run is over, regulate recover " + h.App + " ends the hold"
	}
	return text
}

// freeWhy returns a note about a free app: empty if it is well, or why its trouble is no cause.
func (p *planner) freeWhy(app string) string {
	if reason := p.passed[app]; reason != "" {
		return reason
	}
	for i := range p.s.Regulation.Rules {
		r := &p.s.Regulation.Rules[i]
		m := p.matches[about{r.Name, app}]
		switch a := p.states[app]; {
		case !appliesTo(r, app):
		case a == nil:
			return app + " was not read"
		case m.on:
			return p.explain(app, r, m)
		case m.unsure && p.settling(p.seen[app]):
			return fmt.Sprintf("%s recovered %s ago and is %s: it has %s to settle", app, span(p.now.Sub(p.seen[app].Recovered)), healthOf(a), span(p.s.Regulation.Settle))
		case m.unsure:
			return fmt.Sprintf("%s is %s: neither failing nor well", app, healthOf(a))
		}
	}
	return ""
}

// whys joins the texts of causes.
func whys(causes []Cause) string {
	var out []string
	for _, c := range causes {
		reason := c.Why
		switch {
		case reason != "":
		case c.RequestedBy != "":
			reason = "held manually by " + c.RequestedBy
		case c.Run != "":
			reason = "held while " + c.Run + " runs"
		default:
			reason = fmt.Sprintf("rule %s fires for %s", c.Rule, c.App)
		}
		if !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	return strings.Join(out, "; ")
}

// ref describes an object: Kind/name, with its namespace unless that is the one of the system.
func (p *planner) ref(r object.Ref) string {
	if r.Namespace == "" || r.Namespace == p.s.Namespace {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// clock writes a moment for people.
func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

// span writes a duration for people, in two units at most: 31 s, 2 min 10 s, 1 h 5 min, 3 d.
func span(d time.Duration) string {
	if d < time.Second {
		return "0 s"
	}
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.of {
			continue
		}
		out := fmt.Sprintf("%d %s", d/u.of, u.name)
		if i+1 < len(units) {
			if rest := d % u.of / units[i+1].of; rest > 0 {
				out += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return out
	}
	return "0 s"
}
