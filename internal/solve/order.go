package solve

import (
	"fmt"
	"maps"
	"slices"
)

// answer is the set of chosen packages while it is sorted.
type answer struct {
	*search
	chosen map[string]*candidate
	why    map[string][]string
	// needs are the packages that a package needs, sorted: true if they must come before it.
	needs map[string]map[string]bool
	path  []string
	done  map[string]bool
	out   []Choice
}

// answer sorts what wants need, and what changes with its own needs.
func (s *search) answer() ([]Choice, error) {
	a := &answer{search: s, chosen: map[string]*candidate{}, why: map[string][]string{}, needs: map[string]map[string]bool{}, done: map[string]bool{}}
	var queue []string
	take := func(name, reason string) {
		if reason != "" && !slices.Contains(a.why[name], reason) {
			a.why[name] = append(a.why[name], reason)
		}
		if a.chosen[name] == nil {
			a.chosen[name] = s.chosen[s.level[s.packs[name]]]
			queue = append(queue, name)
		}
	}
	for _, w := range s.q.Wants {
		if name := a.providerOf(w.Requirement, nil); name != "" && !w.Optional {
			take(name, w.By)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.packs)) {
		if p := s.packs[name]; p.installed != nil && s.chosen[s.level[p]] != p.installed {
			take(name, "")
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		a.follow(a.chosen[queue[0]], take)
	}
	for _, v := range a.chosen {
		a.order(v)
	}
	for _, name := range slices.Sorted(maps.Keys(a.chosen)) {
		if err := a.put(name); err != nil {
			return nil, err
		}
	}
	return a.out, nil
}

// follow visits what a version needs.
func (a *answer) follow(v *candidate, take func(name, reason string)) {
	for _, r := range v.Requires {
		name := a.providerOf(r, v)
		if r.Optional || name == "" || name == v.Name {
			continue
		}
		reason := v.Name + " " + v.Version
		if r.Package == "" {
			reason += " (" + r.API.Kind + ")"
		}
		take(name, reason)
	}
}

// order finds what a version needs among the chosen packages.
func (a *answer) order(v *candidate) {
	needs := map[string]bool{}
	for _, r := range v.Requires {
		if to := a.providerOf(r, v); a.chosen[to] != nil && to != v.Name {
			needs[to] = needs[to] || !r.Optional && v != v.pack.installed
		}
	}
	a.needs[v.Name] = needs
}

// providerOf names the chosen package that meets a requirement; for an API that the asking package
// provides itself, that one. It is empty if the cluster provides it, or nothing does.
func (a *answer) providerOf(r Requirement, asking *candidate) string {
	if r.Package == "" && asking != nil && asking.provides(r.API) {
		return asking.Name
	}
	if r.Package == "" && !r.Optional && slices.ContainsFunc(a.q.Served, func(s API) bool { return s.meets(r.API) }) {
		return ""
	}
	var found *pack
	for _, name := range a.targets(r) {
		p := a.packs[name]
		i, chosen := a.level[p]
		if chosen && (r.Package != "" || a.search.chosen[i].provides(r.API)) && (found == nil || a.rank(p) < a.rank(found)) {
			found = p
		}
	}
	if found == nil {
		return ""
	}
	return found.name
}

// put adds a package to the answer, after what must come before it, and after what should, unless
// that closes a cycle.
func (a *answer) put(name string) error {
	if i := slices.Index(a.path, name); i >= 0 {
		e := &LoopError{}
		for _, n := range a.path[i:] {
			e.Loop = append(e.Loop, n+" "+a.chosen[n].Version)
		}
		return e
	}
	if a.done[name] {
		return nil
	}
	a.path = append(a.path, name)
	needs := slices.Sorted(maps.Keys(a.needs[name]))
	for _, must := range []bool{true, false} {
		for _, to := range needs {
			if a.needs[name][to] != must || !must && a.mustFollow(to, map[string]bool{}) {
				continue
			}
			if err := a.put(to); err != nil {
				return err
			}
		}
	}
	a.path, a.done[name] = a.path[:len(a.path)-1], true
	c := Choice{Package: *a.chosen[name].Package, Why: a.why[name], Needs: needs}
	if installed := a.packs[name].installed; installed != nil {
		c.Was = installed.Version
		if len(c.Why) == 0 {
			c.Why = []string{fmt.Sprintf("%s %s is installed, and does not go with the rest", name, c.Was)}
		}
	}
	a.out = append(a.out, c)
	return nil
}

// mustFollow reports whether a package must come after one that is not added yet.
func (a *answer) mustFollow(name string, seen map[string]bool) bool {
	if slices.Contains(a.path, name) {
		return true
	}
	if a.done[name] || seen[name] {
		return false
	}
	seen[name] = true
	for to, must := range a.needs[name] {
		if must && a.mustFollow(to, seen) {
			return true
		}
	}
	return false
}
