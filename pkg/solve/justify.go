package solve

import "slices"

// justify says that what is chosen is needed: it is installed, wanted, needed by its name, or
// it is the one that is to bring an API that is needed. A prerelease is needed only by a range
// that names one.
func (r *rules) justify(p *pack) {
	for i, v := range p.versions {
		if v.at.Prerelease() != "" && v != p.there {
			r.justifyPrerelease(p, i)
		}
	}
	if p.there != nil || p.wanted {
		return
	}
	for _, n := range r.wants {
		if !n.Optional && r.brings(p, n) {
			return
		}
	}
	by := []literal{no(p.used)}
	for _, n := range r.needers(p) {
		if l := yes(n.by.x); n.by.Name != p.name && by[len(by)-1] != l {
			by = append(by, l)
		}
	}
	for _, a := range r.unclear(p) {
		by = append(by, r.asks(a, p))
	}
	r.add(by...)
}

// brings says that a package is what a need brings along: it is named, or it is the one to
// bring the API.
func (r *rules) brings(p *pack, n *need) bool {
	if n.Package != "" {
		return n.pack == p
	}
	return slices.Contains(r.chosenFor(n).who, p)
}

// chosen says who brings an API: one of these, or it is unclear which of the candidates.
type chosen struct {
	who        []*pack
	candidates []*pack
}

// chosenFor says who is brought along for an API: the first that is preferred, else the only
// candidate that there is.
func (r *rules) chosenFor(n *need) chosen {
	if n.decided == nil {
		c := r.decide(n)
		n.decided = &c
	}
	return *n.decided
}

func (r *rules) decide(n *need) chosen {
	if n.served {
		return chosen{}
	}
	all := slices.DeleteFunc(slices.Clone(n.by), func(p *pack) bool { return p.there != nil || p.wanted })
	able := slices.DeleteFunc(slices.Clone(all), func(p *pack) bool {
		return !slices.ContainsFunc(p.versions, func(v *version) bool {
			return v.provides(n.API) && v.at.Prerelease() == "" && r.runs(p, v)
		})
	})
	switch {
	case len(able) == 0:
		return chosen{who: all} // none can be had, which is to be told of all
	case len(able) == 1 || r.isPreferred(able[0]):
		return chosen{who: able[:1]}
	}
	return chosen{candidates: able}
}

func (r *rules) isPreferred(p *pack) bool {
	_, ok := r.preferred[p.name]
	return ok
}

func (r *rules) justifyPrerelease(p *pack, i int) {
	by := []literal{no(p.versions[i].x)}
	names := func(n *need) bool { return !n.Optional && n.pack == p && n.contains()[i] }
	if slices.ContainsFunc(r.wants, names) {
		return
	}
	for _, n := range r.needers(p) {
		if n.by.Name != p.name && names(n.need) {
			by = append(by, yes(n.by.x))
		}
	}
	r.add(by...)
}

// needer is a version with a need that brings a package along.
type needer struct {
	by   *version
	need *need
}

// needers are all that bring a package along.
func (r *rules) needers(p *pack) []needer {
	if r.needing != nil {
		return r.needing[p]
	}
	r.needing = map[*pack][]needer{}
	for _, o := range r.packs {
		for _, v := range o.versions {
			for _, n := range v.requires {
				switch {
				case n.Optional:
				case n.Package != "":
					r.needing[n.pack] = append(r.needing[n.pack], needer{v, n})
				default:
					for _, p := range r.chosenFor(n).who {
						r.needing[p] = append(r.needing[p], needer{v, n})
					}
				}
			}
		}
	}
	return r.needing[p]
}

// asked is an API of which it is not decided who brings it, and who asks for it. Its reason is
// there only to explain: without it, any candidate may.
type asked struct {
	need   *need
	wanted bool
	by     []*version
	why    *reason
}

// unclear are the APIs that a package could bring, and of which it is not decided who does, in
// the order of wants and packages.
func (r *rules) unclear(p *pack) []*asked {
	if r.asking != nil {
		return r.asking[p]
	}
	r.asking = map[*pack][]*asked{}
	of := map[*need]*asked{}
	ask := func(n *need) *asked {
		if n.Optional || n.Package != "" || len(r.chosenFor(n).candidates) == 0 {
			return nil
		}
		a := of[n]
		if a == nil {
			a = &asked{need: n}
			of[n] = a
			for _, c := range r.chosenFor(n).candidates {
				r.asking[c] = append(r.asking[c], a)
			}
		}
		return a
	}
	for _, n := range r.wants {
		if a := ask(n); a != nil {
			a.wanted = true
		}
	}
	for _, o := range r.packs {
		for _, v := range o.versions {
			for _, n := range v.requires {
				if a := ask(n); a != nil {
					a.by = append(a.by, v)
				}
			}
		}
	}
	return r.asking[p]
}

// asks is the literal that says that another package asks for an API, and that anyone may bring it.
func (r *rules) asks(a *asked, p *pack) literal {
	if a.why == nil {
		a.why = r.because(Reason{Requirement: a.need.Requirement}, a.need)
		a.why.unclear = true
	}
	l := yes(r.variable())
	r.add(l.negated(), a.why.holds.negated())
	if a.wanted {
		return l
	}
	by := []literal{l.negated()}
	for _, v := range a.by {
		if v.Name != p.name {
			by = append(by, yes(v.x))
		}
	}
	r.add(by...)
	return l
}
