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
	by := []literal{no(p.used)}
	for _, n := range r.needers(p.name) {
		if l := yes(n.by.x); n.by.Name != p.name && by[len(by)-1] != l {
			by = append(by, l)
		}
	}
	for _, w := range r.q.Wants {
		if !w.Optional && r.brings(p, w.Requirement) {
			return
		}
	}
	r.add(append(by, r.unclear(p)...)...)
}

// brings says that a package is what a requirement brings along: it is named, or it is the one
// to bring the API.
func (r *rules) brings(p *pack, need Requirement) bool {
	if need.Package != "" {
		return need.Package == p.name
	}
	return slices.Contains(r.offers[need.API.Kind], p.name) && r.chosenFor(need.API).has(p)
}

// chosen says who brings an API: one of these, or it is unclear which of the candidates.
type chosen struct {
	who        []*pack
	candidates []*pack
}

func (c chosen) has(p *pack) bool { return slices.Contains(c.who, p) }

// chosenFor says who is brought along for an API: the first that is preferred, else the only
// candidate that there is.
func (r *rules) chosenFor(a API) chosen {
	key := a.String()
	if c, ok := r.decided[key]; ok {
		return c
	}
	c := r.decide(a)
	r.decided[key] = c
	return c
}

func (r *rules) decide(a API) chosen {
	if r.isServed(a) {
		return chosen{}
	}
	all := slices.DeleteFunc(r.providers(a), func(p *pack) bool { return p.there != nil || p.wanted })
	able := slices.DeleteFunc(slices.Clone(all), func(p *pack) bool {
		return !slices.ContainsFunc(p.versions, func(v *version) bool {
			return v.provides(a) && v.at.Prerelease() == "" && r.runs(p, v)
		})
	})
	switch {
	case len(able) == 0:
		return chosen{who: all} // none can be had, which is to be told of all
	case len(able) == 1 || slices.Contains(r.q.Prefer, able[0].name):
		return chosen{who: able[:1]}
	}
	return chosen{candidates: able}
}

func (r *rules) justifyPrerelease(p *pack, i int) {
	by := []literal{no(p.versions[i].x)}
	names := func(n Requirement) bool { return !n.Optional && n.Package == p.name && r.in(p, n.Range)[i] }
	if slices.ContainsFunc(r.q.Wants, func(w Want) bool { return names(w.Requirement) }) {
		return
	}
	for _, n := range r.needers(p.name) {
		if n.by.Name != p.name && names(n.need) {
			by = append(by, yes(n.by.x))
		}
	}
	r.add(by...)
}

// needer is a version with a requirement that brings a package along.
type needer struct {
	by   *version
	need Requirement
}

// needers are all that bring a package along.
func (r *rules) needers(name string) []needer {
	if r.needing != nil {
		return r.needing[name]
	}
	r.needing = map[string][]needer{}
	for _, o := range r.packs {
		for _, v := range o.versions {
			for _, need := range v.Requires {
				switch {
				case need.Optional:
				case need.Package != "":
					r.needing[need.Package] = append(r.needing[need.Package], needer{v, need})
				default:
					for _, p := range r.chosenFor(need.API).who {
						r.needing[p.name] = append(r.needing[p.name], needer{v, need})
					}
				}
			}
		}
	}
	return r.needing[name]
}

// unclear are the literals of a package that could bring an API of which it is not decided who
// does. They are there only to explain.
func (r *rules) unclear(p *pack) []literal {
	if !r.explain {
		return nil
	}
	var out []literal
	for _, a := range r.asked() {
		if slices.Contains(r.chosenFor(a.api).candidates, p) {
			out = append(out, r.asks(a, p))
		}
	}
	return out
}

// asked is an API and who asks for it; by is empty where a want does.
type asked struct {
	api API
	by  []literal
}

// asked are the APIs that something asks for, in the order of wants and packages.
func (r *rules) asked() []asked {
	if r.asking != nil {
		return r.asking
	}
	at := map[string]int{}
	ask := func(need Requirement, by ...literal) {
		if need.Optional || need.Package != "" {
			return
		}
		i, ok := at[need.API.String()]
		if !ok {
			i = len(r.asking)
			at[need.API.String()] = i
			r.asking = append(r.asking, asked{need.API, by})
			return
		}
		if len(by) == 0 || len(r.asking[i].by) == 0 {
			r.asking[i].by = nil
			return
		}
		r.asking[i].by = append(r.asking[i].by, by...)
	}
	for _, w := range r.q.Wants {
		ask(w.Requirement)
	}
	for _, o := range r.packs {
		for _, v := range o.versions {
			for _, need := range v.Requires {
				ask(need, yes(v.x))
			}
		}
	}
	return r.asking
}

// asks is the literal that says that another package asks for an API, and that anyone may bring it.
func (r *rules) asks(a asked, p *pack) literal {
	key := "unclear\x00" + a.api.String()
	v := r.variable()
	r.add(append(r.because(key, Reason{Requirement: Requirement{API: a.api}}, nil), no(v))...)
	r.byReason[key].unclear = true
	if len(a.by) > 0 {
		r.add(append([]literal{no(v)}, slices.DeleteFunc(slices.Clone(a.by), func(l literal) bool {
			return slices.ContainsFunc(p.versions, func(o *version) bool { return yes(o.x) == l })
		})...)...)
	}
	return yes(v)
}
