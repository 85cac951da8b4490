package solve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// answer is what is chosen, while it is put in order.
type answer struct {
	*rules
	chosen map[string]*version
	// before are the names that go before a name: true where they must.
	before map[string]map[string]bool
	why    map[string][]string
	later  map[string][]string
}

// answer reads the last model.
func (r *rules) answer() ([]Choice, error) {
	a := &answer{rules: r, chosen: map[string]*version{}, before: map[string]map[string]bool{}, why: map[string][]string{}, later: map[string][]string{}}
	for _, p := range r.packs {
		for _, v := range p.versions {
			if r.model[v.x] {
				a.chosen[p.name] = v
			}
		}
	}
	a.keepNeeded()
	if err := a.loops(); err != nil {
		return nil, err
	}
	a.soften()
	return a.list(), nil
}

// keepNeeded keeps what wants need, and what is changed with what that needs.
func (a *answer) keepNeeded() {
	kept := map[string]*version{}
	var queue []string
	take := func(name, why string) {
		if why != "" && !slices.Contains(a.why[name], why) {
			a.why[name] = append(a.why[name], why)
		}
		if kept[name] == nil {
			kept[name] = a.chosen[name]
			queue = append(queue, name)
		}
	}
	for i, w := range a.q.Wants {
		if name := a.providerOf(a.wants[i], ""); name != "" && !w.Optional {
			take(name, w.By)
		}
	}
	for _, p := range a.packs {
		if p.there != nil && a.chosen[p.name] != p.there {
			take(p.name, "")
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		v := kept[queue[0]]
		for _, need := range v.requires {
			name := a.providerOf(need, v.Name)
			if need.Optional || name == "" || name == v.Name {
				continue
			}
			why := v.Name + " " + v.Version
			if need.Package == "" {
				why += " (" + need.API.Kind + ")"
			}
			take(name, why)
		}
	}
	a.chosen = kept
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		a.edges(name)
	}
}

// providerOf names the chosen package that meets a requirement; for an API which the asking package
// brings itself, that one. Empty where the cluster does, or nobody.
func (a *answer) providerOf(need *need, asking string) string {
	if need.Package != "" {
		if a.chosen[need.Package] == nil {
			return ""
		}
		return need.Package
	}
	if v := a.chosen[asking]; v != nil && v.provides(need.API) {
		return asking
	}
	if need.served && !need.Optional {
		return ""
	}
	for _, p := range need.by {
		if v := a.chosen[p.name]; v != nil && v.provides(need.API) {
			return p.name
		}
	}
	return ""
}

func (a *answer) edges(name string) {
	v := a.chosen[name]
	a.before[name] = map[string]bool{}
	for _, need := range v.requires {
		if to := a.providerOf(need, name); to != "" && to != name {
			must := !need.Optional && v != a.byName[name].there
			a.before[name][to] = a.before[name][to] || must
		}
	}
}

// loops finds packages that must go before each other.
func (a *answer) loops() error {
	state := map[string]int{}
	var path []string
	var visit func(name string) *LoopError
	visit = func(name string) *LoopError {
		state[name] = 1
		path = append(path, name)
		for _, to := range slices.Sorted(maps.Keys(a.before[name])) {
			if !a.before[name][to] {
				continue
			}
			if state[to] == 1 {
				e := &LoopError{}
				for _, n := range path[slices.Index(path, to):] {
					e.Loop = append(e.Loop, n+" "+a.chosen[n].Version)
				}
				return e
			}
			if state[to] == 0 {
				if e := visit(to); e != nil {
					return e
				}
			}
		}
		state[name] = 2
		path = path[:len(path)-1]
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.before)) {
		if state[name] == 0 {
			if e := visit(name); e != nil {
				return e
			}
		}
	}
	return nil
}

// soften takes out what need not go before, one by one, where it would close a loop.
func (a *answer) soften() {
	soft := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(a.before)) {
		for _, to := range slices.Sorted(maps.Keys(a.before[name])) {
			if !a.before[name][to] {
				soft[name] = append(soft[name], to)
				delete(a.before[name], to)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(soft)) {
		for _, to := range soft[name] {
			if a.leads(to, name, map[string]bool{}) {
				a.later[name] = append(a.later[name], to)
			} else {
				a.before[name][to] = false
			}
		}
	}
}

func (a *answer) leads(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range a.before[from] {
		if !seen[next] && a.leads(next, to, seen) {
			return true
		}
	}
	return false
}

// list puts what needs nothing that is not yet there next, the first by name.
func (a *answer) list() []Choice {
	var out []Choice
	done := map[string]bool{}
	var put func(name string)
	put = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, to := range slices.Sorted(maps.Keys(a.before[name])) {
			put(to)
		}
		out = append(out, a.choice(name))
	}
	for _, name := range slices.Sorted(maps.Keys(a.chosen)) {
		put(name)
	}
	return out
}

func (a *answer) choice(name string) Choice {
	c := Choice{Package: *a.chosen[name].Package, Why: a.why[name], Later: a.later[name]}
	if p := a.byName[name]; p.there != nil {
		c.Was = p.there.Version
		if len(c.Why) == 0 {
			c.Why = []string{fmt.Sprintf("%s %s is installed, and does not go with the rest", name, c.Was)}
		}
	}
	c.Needs = slices.Sorted(maps.Keys(a.before[name]))
	c.Needs = append(c.Needs, a.later[name]...)
	slices.SortFunc(c.Needs, cmp.Compare[string])
	return c
}
