package solve

import (
	"cmp"
	"slices"
)

// rules are the clauses of a universe.
type rules struct {
	*universe
	*search
	vars map[string]int
	// reasons are what the clauses are for, where that is to be told: each with a variable,
	// without which its clauses say nothing.
	explain  bool
	reasons  []*reason
	byReason map[string]*reason
	decided  map[string]chosen
	asking   []asked
	needing  map[string][]needer
}

// reason is what a group of clauses is for.
type reason struct {
	Reason
	versions []*version // of the package whose reason it is
	holds    int        // its variable
	unclear  bool       // that it is not decided who brings an API
}

func newRules(u *universe, explain bool) *rules {
	r := &rules{universe: u, search: &search{}, vars: map[string]int{}, explain: explain, byReason: map[string]*reason{}, decided: map[string]chosen{}}
	for _, p := range u.packs {
		r.choose(p)
	}
	for i := range u.q.Wants {
		r.want(u.q.Wants[i])
	}
	for _, p := range u.packs {
		r.stay(p)
		r.justify(p)
		for _, v := range p.versions {
			r.version(p, v)
		}
	}
	return r
}

// choose says that a package that is chosen is so in one version.
func (r *rules) choose(p *pack) {
	p.used = r.variable()
	all := make([]int, 0, len(p.versions))
	some := []literal{no(p.used)}
	if p.there != nil {
		p.there.x = r.variable()
		some = append(some, yes(p.there.x))
	}
	for _, v := range p.versions {
		if v != p.there {
			v.x = r.variable()
			some = append(some, yes(v.x))
		}
		all = append(all, v.x)
		r.add(no(v.x), yes(p.used))
	}
	r.one(all)
	r.add(some...)
}

// because begins a clause that holds for a reason.
func (r *rules) because(key string, why Reason, v *version) []literal {
	if !r.explain {
		return nil
	}
	g := r.byReason[key]
	if g == nil {
		g = &reason{Reason: why, holds: r.variable()}
		r.byReason[key] = g
		r.reasons = append(r.reasons, g)
	}
	if v != nil && !slices.Contains(g.versions, v) {
		g.versions = append(g.versions, v)
	}
	return []literal{no(g.holds)}
}

func (r *rules) want(w Want) {
	key := "want\x00" + w.By + "\x00" + w.key()
	why := Reason{Kind: Wanted, Requirement: w.Requirement, By: w.By}
	if w.Optional {
		r.limit(r.because(key, why, nil), w.Requirement, nil)
		return
	}
	if target, ok := r.target(w.Requirement); ok {
		r.add(append(r.because(key, why, nil), target)...)
	}
}

func (r Requirement) key() string {
	return r.Package + "\x00" + r.Range + "\x00" + r.API.String()
}

// stay says what is done about a package that is installed: it is not taken away, it is left
// alone where it is fixed, and never silently moved down.
func (r *rules) stay(p *pack) {
	if p.there == nil {
		return
	}
	why := Reason{Kind: Stays, Package: p.name}
	kept := p.used
	if p.fixed {
		kept = p.there.x
	}
	r.add(append(r.because("stays\x00"+p.name, why, p.there), yes(kept))...)
	if p.fixed || p.down {
		return
	}
	for _, v := range p.versions {
		if v != p.there && v.at.LessThan(p.there.at) {
			r.add(append(r.because("down\x00"+p.name, Reason{Kind: NotDown, Package: p.name}, p.there), no(v.x))...)
		}
	}
}

// version says what choosing a version asks for.
func (r *rules) version(p *pack, v *version) {
	if !r.runs(p, v) {
		why := Reason{Kind: Kubernetes, Package: p.name, Requirement: Requirement{Range: v.Kubernetes}}
		r.add(append(r.because("kubernetes\x00"+p.name+"\x00"+v.Kubernetes, why, v), no(v.x))...)
	}
	for _, need := range v.Requires {
		if v == p.there && !need.Optional && r.lacks(p, need) {
			continue
		}
		why := Reason{Kind: Needed, Package: p.name, Requirement: need}
		key := "needs\x00" + p.name + "\x00" + need.key()
		if need.Optional {
			if need.API.Kind == "" {
				r.limit(append(r.because(key+"\x00optional", why, v), no(v.x)), need, r.beside(p, v, need.Package))
			}
			continue
		}
		if target, ok := r.target(need); ok {
			r.add(append(r.because(key, why, v), no(v.x), target)...)
		}
	}
	for _, c := range v.Conflicts {
		if c.Package == p.name || r.byName[c.Package] == nil {
			continue
		}
		begun := append(r.because("apart\x00"+p.name+"\x00"+c.key(), Reason{Kind: Apart, Package: p.name, Requirement: c}, v), no(v.x))
		r.add(append(begun, r.without(c, r.beside(p, v, c.Package)))...)
	}
}

// beside is the installed version of a package where v is installed too: the two are together
// already, whatever they say of it.
func (r *rules) beside(p *pack, v *version, other string) *version {
	if o := r.byName[other]; o != nil && v == p.there {
		return o.there
	}
	return nil
}

// lacks says that what is installed lacks something already, and that no want is about it: it
// is left as it is.
func (r *rules) lacks(p *pack, need Requirement) bool {
	if r.reached[p.name] {
		return false
	}
	if need.Package != "" {
		o := r.byName[need.Package]
		if o == nil || o.there == nil {
			return true
		}
		return !r.in(o, need.Range)[slices.Index(o.versions, o.there)]
	}
	return !r.isServed(need.API) && !slices.ContainsFunc(r.packs, func(o *pack) bool { return o.there != nil && o.there.provides(need.API) })
}

// limit says that a package is in a range where it is chosen at all, whatever except is.
func (r *rules) limit(begun []literal, need Requirement, except *version) {
	p := r.byName[need.Package]
	if p == nil {
		return
	}
	in := r.in(p, need.Range)
	key := "limit\x00" + p.name + "\x00" + need.Range
	if except != nil {
		key += "\x00beside"
	}
	limited, ok := r.vars[key]
	if !ok {
		limited = r.variable()
		r.vars[key] = limited
		for i, v := range p.versions {
			if !in[i] && v != except {
				r.add(no(limited), no(v.x))
			}
		}
	}
	r.add(append(begun, yes(limited))...)
}

// without is the literal that says that no version of a range is chosen but except.
// Prereleases of the range are in it here.
func (r *rules) without(c Requirement, except *version) literal {
	p := r.byName[c.Package]
	key := "without\x00" + p.name + "\x00" + c.Range
	if except != nil {
		key += "\x00beside"
	}
	if v, ok := r.vars[key]; ok {
		return yes(v)
	}
	without := r.variable()
	r.vars[key] = without
	wide := r.ranges[c.Range].wide()
	for _, v := range p.versions {
		if v != except && wide.Contains(v.at) {
			r.add(no(without), no(v.x))
		}
	}
	return yes(without)
}

// target is the literal that says that a requirement is met; false where it is met anyhow.
func (r *rules) target(need Requirement) (literal, bool) {
	if need.Package == "" && r.isServed(need.API) {
		return 0, false
	}
	key := "met\x00" + need.key()
	if v, ok := r.vars[key]; ok {
		return yes(v), true
	}
	met := r.variable()
	r.vars[key] = met
	some := []literal{no(met)}
	if need.Package != "" {
		if p := r.byName[need.Package]; p != nil {
			some = r.inRange(p, need, some)
		}
	} else {
		for _, p := range r.providers(need.API) {
			for _, v := range p.preferred() {
				if v.provides(need.API) {
					some = append(some, yes(v.x))
				}
			}
		}
	}
	r.add(some...)
	return yes(met), true
}

func (r *rules) inRange(p *pack, need Requirement, some []literal) []literal {
	in := r.in(p, need.Range)
	there := -1
	if p.there != nil {
		there = slices.Index(p.versions, p.there)
		if in[there] && !p.wanted {
			some = append(some, yes(p.there.x))
		}
	}
	for i, v := range p.versions {
		switch {
		case !in[i]:
			r.add(some[0], no(v.x))
		case i != there || p.wanted:
			some = append(some, yes(v.x))
		}
	}
	return some
}

// preferred are the versions, the better ones first: what is installed, then the newest.
func (p *pack) preferred() []*version {
	if p.there == nil || p.wanted {
		return p.versions
	}
	return append([]*version{p.there}, slices.DeleteFunc(slices.Clone(p.versions), func(v *version) bool { return v == p.there })...)
}

// providers are the packages that bring an API in some version, the better ones first: what
// is installed, what is wanted, what is preferred, by name.
func (r *rules) providers(a API) []*pack {
	var all []*pack
	for _, name := range r.offers[a.Kind] {
		p := r.byName[name]
		if p != nil && slices.ContainsFunc(p.versions, func(v *version) bool { return v.provides(a) }) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(x, y *pack) int { return cmp.Compare(r.rank(x), r.rank(y)) })
	return all
}

func (r *rules) rank(p *pack) int {
	switch at := slices.Index(r.q.Prefer, p.name); {
	case p.there != nil:
		return 0
	case p.wanted:
		return 1
	case at >= 0:
		return 2 + at
	}
	return 2 + len(r.q.Prefer)
}
