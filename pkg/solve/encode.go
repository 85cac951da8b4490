package solve

import (
	"context"
	"slices"
)

// rules are the clauses of a universe.
type rules struct {
	*universe
	*search
	// reasons are what the clauses are for: each with a variable, without which its clauses
	// say nothing.
	reasons []*reason
	byWant  map[wantKey]*reason
	asking  map[*pack][]*asked
	needing map[*pack][]needer
}

// reason is what a group of clauses is for.
type reason struct {
	Reason
	need     *need      // of which Reason.Requirement is; nil where it is none
	versions []*version // of the package whose reason it is
	holds    literal
	asks     []literal // that one of several of its versions is chosen
	unclear  bool      // that it is not decided who brings an API
}

type wantKey struct {
	by   string
	need *need
}

func newRules(ctx context.Context, u *universe) (*rules, error) {
	r := &rules{universe: u, search: &search{}, byWant: map[wantKey]*reason{}}
	r.variable() // so that no literal of use is 0
	for _, p := range u.packs {
		r.choose(p)
	}
	for i, w := range u.q.Wants {
		r.want(w.By, u.wants[i])
	}
	for _, p := range u.packs {
		if err := r.may(ctx); err != nil {
			return nil, err
		}
		r.stay(p)
		r.justify(p)
		r.ask(p)
	}
	r.seal()
	return r, r.may(ctx)
}

// choose says that a package that is chosen is so in one version.
func (r *rules) choose(p *pack) {
	p.used = r.variable()
	all := make([]int, 0, len(p.versions))
	some := append(make([]literal, 0, len(p.versions)+1), no(p.used))
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

// because begins a reason.
func (r *rules) because(why Reason, n *need, versions ...*version) *reason {
	g := &reason{Reason: why, need: n, versions: versions, holds: yes(r.variable())}
	r.reasons = append(r.reasons, g)
	return g
}

func (r *rules) want(by string, n *need) {
	if n.served {
		return
	}
	key := wantKey{by, n}
	if r.byWant[key] != nil {
		return
	}
	g := r.because(Reason{Kind: Wanted, Requirement: n.Requirement, By: by}, n)
	r.byWant[key] = g
	switch {
	case !n.Optional:
		r.add(r.target(n), g.holds.negated())
	case n.pack != nil:
		r.add(r.limit(n, nil), g.holds.negated())
	}
}

// stay says what is done about a package that is installed: it is not taken away, it is left
// alone where it is fixed, and never silently moved down.
func (r *rules) stay(p *pack) {
	if p.there == nil {
		return
	}
	kept := p.used
	if p.fixed {
		kept = p.there.x
	}
	r.add(yes(kept), r.because(Reason{Kind: Stays, Package: p.name}, nil, p.there).holds.negated())
	if p.fixed || p.down {
		return
	}
	var g *reason
	for _, v := range p.versions {
		if v != p.there && v.at.LessThan(p.there.at) {
			if g == nil {
				g = r.because(Reason{Kind: NotDown, Package: p.name}, nil, p.there)
			}
			r.add(no(v.x), g.holds.negated())
		}
	}
}

// limit is the literal that says that a package is in a range where it is chosen at all,
// whatever except is.
func (r *rules) limit(n *need, except *version) literal {
	made := &n.limited[0]
	if except != nil {
		made = &n.limited[1]
	}
	if *made == 0 {
		*made = yes(r.variable())
		in := n.contains()
		for i, v := range n.pack.versions {
			if !in[i] && v != except {
				r.add(made.negated(), no(v.x))
			}
		}
	}
	return *made
}

// exclude is the literal that says that no version of a range is chosen but except.
// Prereleases of the range are in it here.
func (r *rules) exclude(n *need, except *version) literal {
	made := &n.apart[0]
	if except != nil {
		made = &n.apart[1]
	}
	if *made == 0 {
		*made = yes(r.variable())
		wide := n.within.wide()
		for _, v := range n.pack.versions {
			if v != except && wide.Contains(v.at) {
				r.add(made.negated(), no(v.x))
			}
		}
	}
	return *made
}

// target is the literal that says that a need is met that the cluster does not meet.
func (r *rules) target(n *need) literal {
	if n.met != 0 {
		return n.met
	}
	n.met = yes(r.variable())
	some := []literal{n.met.negated()}
	if n.pack != nil {
		some = r.inRange(n, some)
	}
	for _, p := range n.by {
		for _, v := range p.preferred() {
			if v.provides(n.API) {
				some = append(some, yes(v.x))
			}
		}
	}
	r.add(some...)
	return n.met
}

func (r *rules) inRange(n *need, some []literal) []literal {
	p, in := n.pack, n.contains()
	some = slices.Grow(some, len(in))
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
