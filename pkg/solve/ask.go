package solve

import "slices"

// asker are the versions of a package that ask the same.
type asker struct {
	why      *reason
	literal  literal // what they ask for
	versions []*version
}

// askers are what a package asks for, in the order in which its versions do.
type askers struct {
	*rules
	*pack
	list  []*asker
	what  map[askKey]*asker
	whys  map[askKey]*reason
	hosts map[string]*reason
}

type askKey struct {
	kind   ReasonKind
	need   *need
	beside bool
}

// ask says what choosing a version of a package asks for. Versions that ask the same do so
// by one clause.
func (r *rules) ask(p *pack) {
	a := &askers{rules: r, pack: p, what: map[askKey]*asker{}, whys: map[askKey]*reason{}, hosts: map[string]*reason{}}
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
			one, o.why.asks = asks.not(), asks
		}
		r.add(one, o.literal, o.why.holds.not())
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
		a.add(no(v.x), g.holds.not())
	}
	for _, n := range v.requires {
		switch {
		case n.Optional && n.pack != nil:
			except := a.beside(v, n)
			a.one(v, askKey{Needed, n, except != nil}, func() literal { return a.limit(n, except) })
		case n.Optional || n.served || v == a.there && a.lacks(n):
		default:
			a.one(v, askKey{Needed, n, false}, func() literal { return a.target(n) })
		}
	}
	for _, n := range v.conflicts {
		if n.pack != nil && n.pack != a.pack {
			except := a.beside(v, n)
			a.one(v, askKey{Apart, n, except != nil}, func() literal { return a.without(n, except) })
		}
	}
}

// one takes a version to those that ask the same.
func (a *askers) one(v *version, key askKey, of func() literal) {
	o := a.what[key]
	if o == nil {
		plain := askKey{key.kind, key.need, false}
		g := a.whys[plain]
		if g == nil {
			g = a.because(Reason{Kind: key.kind, Package: a.name, Requirement: key.need.Requirement}, key.need)
			a.whys[plain] = g
		}
		o = &asker{why: g, literal: of()}
		a.what[key] = o
		a.list = append(a.list, o)
	}
	if n := len(o.versions); n == 0 || o.versions[n-1] != v {
		o.versions = append(o.versions, v)
		o.why.versions = append(o.why.versions, v)
	}
}

// beside is the installed version of a package where v is installed too: the two are together
// already, whatever they say of it.
func (a *askers) beside(v *version, n *need) *version {
	if v == a.there {
		return n.pack.there
	}
	return nil
}

// lacks says that what is installed lacks something already, and that no want is about it: it
// is left as it is.
func (a *askers) lacks(n *need) bool {
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
