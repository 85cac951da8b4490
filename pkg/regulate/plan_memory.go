package regulate

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// match is how an app is to a rule.
type match struct {
	// on says that the rule's state is that of the app, and health that it is so by its
	// health, not only by an upgrade.
	on, health bool
	// unsure says that it cannot be said: neither trouble nor recovery.
	unsure bool
	// since is since when it is on, or well.
	since time.Time
}

// appliesTo says that a rule is about an app.
func appliesTo(r *system.Rule, app string) bool { return r.App == "" || r.App == app }

// freeze finds the apps that a rule holds. What such an app was a cause of stays so until
// it has been recovered and is well: nothing can be said of it meanwhile. Rings of apps that
// are held because of each other alone (no plan makes them) do not count, they would never
// end.
func (p *planner) freeze() {
	ruled := map[string]bool{}
	for _, h := range p.j.Holds {
		for _, c := range h.Causes {
			ruled[h.App] = ruled[h.App] || c.ofRule() && p.obsoleteReason(h, c) == ""
		}
	}
	p.frozen = map[string]bool{}
	for more := true; more; {
		more = false
		for _, h := range p.j.Holds {
			grounded := slices.ContainsFunc(h.Causes, func(c Cause) bool {
				return c.ofRule() && p.obsoleteReason(h, c) == "" && (!ruled[c.App] || p.frozen[c.App])
			})
			if grounded && !p.frozen[h.App] {
				p.frozen[h.App], more = true, true
			}
		}
	}
}

// remember makes the memory of all apps, with what is seen now. Apps that the manifest
// knows no more are forgotten.
func (p *planner) remember() {
	for _, app := range p.names {
		s := p.j.AppRecords[app].Clone()
		p.clamp(s)
		p.seen[app] = s
		p.rebase(app, s)
		s.Needs = p.known(app)
		trouble, well := map[string]time.Time{}, map[string]time.Time{}
		for i := range p.s.Regulation.Rules {
			r := &p.s.Regulation.Rules[i]
			if !appliesTo(r, app) {
				continue
			}
			m := p.look(r, app, s)
			p.matches[about{r.Name, app}] = m
			switch {
			case p.states[app] == nil:
				// Nobody looked: what was known of it is kept.
				keep(trouble, s.FiringSince, r.Name)
				keep(well, s.ClearSince, r.Name)
			case m.unsure:
			case m.on:
				trouble[r.Name] = m.since
			default:
				well[r.Name] = m.since
			}
		}
		s.FiringSince, s.ClearSince = orNil(trouble), orNil(well)
	}
	// An excuse ends when its cause has been gone once, which all memories together tell.
	for _, s := range p.seen {
		s.OverriddenCauses = slices.DeleteFunc(s.OverriddenCauses, func(e string) bool { return !p.mayBe(e) })
		if len(s.OverriddenCauses) == 0 {
			s.OverriddenCauses = nil
		}
	}
}

// clamp makes now of what lies in the future: a clock was set back. One that was set forward
// only ends what waits. All times are in UTC, as those of a journal that was read are, so
// that memories can be compared.
func (p *planner) clamp(s *AppRecord) {
	past := func(t *time.Time) {
		*t = t.Round(0).UTC()
		if t.After(p.now) {
			*t = p.now
		}
	}
	past(&s.Recovered)
	past(&s.Refused)
	for _, m := range []map[string]time.Time{s.FiringSince, s.ClearSince} {
		for k, t := range m {
			past(&t)
			m[k] = t
		}
	}
	s.Stopped = recent(s.Stopped, p.now)
}

// rebase makes the present fingerprint the one that the app is settled at: at first sight;
// when it is well, or somebody else suspended it, and nothing is rolled out; and while what
// changes may be of our own making, as long as it is held and until it has settled again.
func (p *planner) rebase(app string, s *AppRecord) {
	a := p.states[app]
	if a == nil || len(a.Unread) > 0 {
		return
	}
	calm := a.Rollout == "" && (a.Health == health.Healthy || a.Health == health.Suspended)
	if s.HealthyFingerprint == nil || calm || p.held[app] || p.settling(s) {
		s.HealthyFingerprint = orNil(maps.Clone(a.Fingerprint))
	}
}

// recalled returns the apps that an app was seen to need, of which that cannot be seen now:
// the one that is needed, or the app itself, is not there or was not read.
func (p *planner) recalled(app string) []string {
	whole := func(name string) bool {
		a := p.states[name]
		return a != nil && len(a.Absent) == 0 && len(a.Unread) == 0
	}
	var out []string
	for _, n := range p.j.AppRecords[app].Clone().Needs {
		if n != app && p.knows(n) && (!whole(app) || !whole(n)) {
			out = append(out, n)
		}
	}
	return out
}

// known returns the apps that an app needs, to be recalled.
func (p *planner) known(app string) []string {
	if p.needs.direct[app] == nil {
		return p.recalled(app) // Nobody looked.
	}
	return slices.Sorted(maps.Keys(p.needs.direct[app]))
}

// settling says that an app was recovered less than Settle ago.
func (p *planner) settling(s *AppRecord) bool {
	return !s.Recovered.IsZero() && p.now.Before(s.Recovered.Add(p.s.Regulation.Settle))
}

// upgrading says that an app is being upgraded.
func upgrading(a *AppState, s *AppRecord) bool {
	return a.Rollout != "" || len(a.Unread) == 0 && s.HealthyFingerprint != nil && !maps.Equal(s.HealthyFingerprint, a.Fingerprint)
}

// healthOf is the health of a state, which is Unknown where nothing was judged.
func healthOf(a *AppState) health.Status {
	if a.Health == "" {
		return health.Unknown
	}
	return a.Health
}

// look says how an app is to a rule, and since when. An app that is held is never in
// trouble; it is well only where its own state counts, since nobody but a hand holds it.
func (p *planner) look(r *system.Rule, app string, s *AppRecord) match {
	a := p.states[app]
	if a == nil {
		return match{unsure: true}
	}
	status := healthOf(a)
	known := status != health.Unknown
	m := match{health: slices.Contains(r.Health, status)}
	m.on = m.health || known && r.Upgrading && upgrading(a, s)
	switch {
	case !m.on && !known, p.frozen[app], m.on && p.held[app]:
		return match{unsure: true}
	case m.on && p.settling(s) && (!m.health || status == health.Progressing):
		p.ripens(s.Recovered.Add(p.s.Regulation.Settle))
		return match{unsure: true}
	}
	memory := s.ClearSince
	if m.on {
		memory = s.FiringSince
	}
	m.since = p.now
	if t, ok := memory[r.Name]; ok {
		m.since = t
	} else if m.health && p.trusted(a.Since, s.Recovered) && p.trusted(a.Since, s.ClearSince[r.Name]) {
		m.since = a.Since.Round(0).UTC()
	}
	return m
}

// trusted says that the objects' own word on since when something is so can be: it lies in
// the past, and after what contradicts it.
func (p *planner) trusted(since, after time.Time) bool {
	return !since.IsZero() && since.Before(p.now) && since.After(after)
}

// mayBe says that a cause, written rule/app, has not been gone for as long as its rule says.
func (p *planner) mayBe(cause string) bool {
	for i := range p.s.Regulation.Rules {
		r := &p.s.Regulation.Rules[i]
		for _, app := range p.names {
			if r.Name+"/"+app == cause && appliesTo(r, app) {
				return p.wellAt(r, app).IsZero() || p.now.Before(p.wellAt(r, app))
			}
		}
	}
	return false
}

// wellAt is when an app has been well by a rule for as long as the rule says, if nothing
// changes; zero where it is not well.
func (p *planner) wellAt(r *system.Rule, app string) time.Time {
	m := p.matches[about{r.Name, app}]
	if m.on || m.unsure {
		return time.Time{}
	}
	return m.since.Add(r.RecoverFor)
}

func keep(to, from map[string]time.Time, key string) {
	if t, ok := from[key]; ok {
		to[key] = t
	}
}

// orNil makes nil of an empty map, as JSON does.
func orNil[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}
