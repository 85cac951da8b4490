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
	for _, o := range r.packs {
		if o == p {
			continue
		}
		for _, v := range o.versions {
			if slices.ContainsFunc(v.Requires, func(n Requirement) bool { return !n.Optional && r.brings(p, n) }) {
				by = append(by, yes(v.x))
			}
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
	for _, o := range r.packs {
		for _, v := range o.versions {
			if o != p && slices.ContainsFunc(v.Requires, names) {
				by = append(by, yes(v.x))
			}
		}
	}
	r.add(by...)
}

// unclear are the literals of a package that could bring an API of which it is not decided who
// does. They are there only to explain.
func (r *rules) unclear(p *pack) []literal {
	if !r.explain {
		return nil
	}
	var out []literal
	seen := map[string]bool{}
	ask := func(need Requirement, by literal) {
		if need.Optional || need.Package != "" || !slices.Contains(r.chosenFor(need.API).candidates, p) {
			return
		}
		key := "unclear\x00" + need.API.String()
		begun := r.because(key, Reason{Requirement: need}, nil)
		r.byReason[key].unclear = true
		asked, ok := r.vars[key+"\x00asked"]
		if !ok {
			asked = r.variable()
			r.vars[key+"\x00asked"] = asked
			r.add(append(begun, no(asked))...)
			r.askers = append(r.askers, asker{asked, []literal{no(asked)}})
		}
		at := slices.IndexFunc(r.askers, func(a asker) bool { return a.asked == asked })
		r.askers[at].by = append(r.askers[at].by, by)
		if !seen[key] {
			seen[key] = true
			out = append(out, yes(asked))
		}
	}
	for _, w := range r.q.Wants {
		ask(w.Requirement, no(-1))
	}
	for _, o := range r.packs {
		for _, v := range o.versions {
			for _, need := range v.Requires {
				ask(need, yes(v.x))
			}
		}
	}
	return out
}

// asker says who asks for an API that it is unclear about.
type asker struct {
	asked int
	by    []literal
}
