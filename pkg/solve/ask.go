package solve

import "slices"

// asker are the versions of a package that ask the same.
type asker struct {
	of        *pack
	installed bool
	why       *reason
	literal   literal // what they ask for
	versions  []*version
}

// askers are what a package asks for, in the order in which its versions do.
type askers struct {
	*rules
	*pack
	list  []*asker
	hosts map[string]*reason
}

// ask says what choosing a version of a package asks for. Versions that ask the same do so
// by one clause.
func (r *rules) ask(p *pack) {
	a := &askers{rules: r, pack: p, hosts: map[string]*reason{}}
	for _, v := range p.versions {
		a.version(v)
	}
	for _, o := range a.list {
		one := no(o.versions[0].x)
		if len(o.versions) > 1 {
			asks := yes(r.variable())
			for _, v := range o.versions {
				r.add(no(v.x), asks)
			}
			one = asks.negated()
			o.why.asks = append(o.why.asks, asks)
		}
		r.add(one, o.literal, o.why.holds.negated())
	}
}

func (a *askers) version(v *version) {
	if !a.runs(a.pack, v) {
		g := a.hosts[v.Kubernetes]
		if g == nil {
			g = a.because(Reason{Kind: Kubernetes, Package: a.name, Requirement: Requirement{Range: v.Kubernetes}}, nil)
			a.hosts[v.Kubernetes] = g
		}
		g.versions = append(g.versions, v)
		a.add(no(v.x), g.holds.negated())
	}
	for _, n := range v.requires {
		switch {
		case n.Optional && n.pack != nil:
			except := a.installedWith(v, n)
			a.one(v, n, Needed, except != nil, func() literal { return a.limit(n, except) })
		case n.Optional || n.served || v == a.there && a.isUnmetAlready(n):
		default:
			a.one(v, n, Needed, false, func() literal { return a.target(n) })
		}
	}
	for _, n := range v.conflicts {
		if n.pack != nil && n.pack != a.pack {
			except := a.installedWith(v, n)
			a.one(v, n, Apart, except != nil, func() literal { return a.exclude(n, except) })
		}
	}
}

// one takes a version to those that ask the same. Who asked
// last is kept at the need: a package asks all that it does before the next one does.
func (a *askers) one(v *version, n *need, kind ReasonKind, beside bool, of func() literal) {
	last := &n.needs
	if kind == Apart {
		last = &n.conflicts
	}
	o := *last
	if o == nil || o.of != a.pack || o.installed != beside {
		var g *reason
		if o != nil && o.of == a.pack {
			g = o.why
		} else {
			g = a.because(Reason{Kind: kind, Package: a.name, Requirement: n.Requirement}, n)
		}
		o = &asker{of: a.pack, installed: beside, why: g, literal: of()}
		*last = o
		a.list = append(a.list, o)
	}
	if n := len(o.versions); n == 0 || o.versions[n-1] != v {
		o.versions = append(o.versions, v)
		o.why.versions = append(o.why.versions, v)
	}
}

// installedWith is the installed version of a package where v is installed too: the two are together
// already, whatever they say of it.
func (a *askers) installedWith(v *version, n *need) *version {
	if v == a.there {
		return n.pack.there
	}
	return nil
}

// isUnmetAlready says that what is installed lacks something already, and that no want is about it: it
// is left as it is.
func (a *askers) isUnmetAlready(n *need) bool {
	if a.reached[a.name] {
		return false
	}
	if n.Package != "" {
		if n.pack == nil || n.pack.there == nil {
			return true
		}
		return !n.contains()[slices.Index(n.pack.versions, n.pack.there)]
	}
	return !slices.ContainsFunc(n.by, func(o *pack) bool { return o.there != nil && o.there.provides(n.API) })
}
