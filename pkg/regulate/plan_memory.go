package regulate

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// match is the state of an app for a rule.
type match struct {
	// on reports that the app has the state of the rule, and health that it has it by its
	// health, not only by an upgrade.
	on, health bool
	// unsure reports an unknown state: neither trouble nor recovery.
	unsure bool
	// since is since when it is on, or well.
	since time.Time
}

// appliesTo reports that a rule covers an app.
func appliesTo(r *system.Rule, app string) bool { return r.App == "" || r.App == app }

// freeze finds the apps that a rule holds. Such an app stays a cause until it has recovered and
// is well, since its state is not meaningful meanwhile. Cycles of apps that are held only
// because of each other (no plan makes them) do not count: they would never end.
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

// remember updates the records of all apps with the observations. It drops apps that are no
// longer in the manifest.
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
				// not observed: the record stays
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
	// An override ends when all records show that its cause has ended once.
	for _, s := range p.seen {
		s.OverriddenCauses = slices.DeleteFunc(s.OverriddenCauses, func(e string) bool { return !p.mayBe(e) })
		if len(s.OverriddenCauses) == 0 {
			s.OverriddenCauses = nil
		}
	}
}

// clamp replaces times in the future by now: the clock was set back. All times are in UTC, as in
// a stored journal, so that records can be compared.
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

// rebase makes the present fingerprint the healthy one in three cases: at first sight; when the
// app is well or suspended by others and no rollout is in progress; and while regulation itself
// may have changed it, from the hold until it has settled again.
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

// recalled returns the apps that an app was observed to need, for needs that cannot be observed
// now because one of the two is missing or unread.
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

// known returns the needs of an app to be recorded.
func (p *planner) known(app string) []string {
	if p.needs.direct[app] == nil {
		return p.recalled(app) // not observed
	}
	return slices.Sorted(maps.Keys(p.needs.direct[app]))
}

// settling reports that an app was recovered less than Settle ago.
func (p *planner) settling(s *AppRecord) bool {
	return !s.Recovered.IsZero() && p.now.Before(s.Recovered.Add(p.s.Regulation.Settle))
}

// upgrading says that an app is being upgraded.
func upgrading(a *AppState, s *AppRecord) bool {
	return a.Rollout != "" || len(a.Unread) == 0 && s.HealthyFingerprint != nil && !maps.Equal(s.HealthyFingerprint, a.Fingerprint)
}

// healthOf returns the health of a state; Unknown without a verdict.
func healthOf(a *AppState) health.Status {
	if a.Health == "" {
		return health.Unknown
	}
	return a.Health
}

// look returns the state of an app for a rule, and since when. A held app never has trouble; it
// is well only if its own state counts, that is, if only manual causes hold it.
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

// trusted reports that the time in an object is plausible: in the past, and later than the last
// contrary observation.
func (p *planner) trusted(since, after time.Time) bool {
	return !since.IsZero() && since.Before(p.now) && since.After(after)
}

// mayBe reports that a cause, written rule/app, has not ended for as long as its rule demands.
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

// wellAt returns when an app will have been well by a rule for as long as the rule demands; zero
// if it is not well.
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

// orNil returns nil for an empty map, as JSON decodes it.
func orNil[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}
