package solve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// explain says why nothing satisfies what is asked, given reasons that cannot hold together:
// with some of them none of which can be left out.
func (r *rules) explain(ctx context.Context, core []literal) error {
	left, err := r.minimize(ctx, core)
	if err != nil {
		return err
	}
	for _, g := range left {
		if g.unclear {
			return r.ambiguous(g, left)
		}
	}
	return r.conflict(left)
}

func (r *rules) ambiguous(g *reason, left []*reason) error {
	e := &AmbiguousError{API: g.Requirement.API}
	for _, p := range r.chosenFor(g.need).candidates {
		e.Candidates = append(e.Candidates, p.name)
	}
	slices.Sort(e.Candidates)
	for _, o := range left {
		if o.unclear || o.Requirement.Package != "" || o.Requirement.API.String() != e.API.String() {
			continue
		}
		by := o.By
		if o.Kind == Needed {
			by = r.named(o, left)
		}
		if !slices.Contains(e.By, by) {
			e.By = append(e.By, by)
		}
	}
	return e
}

// conflict tells reasons, each after what leads to it: wants, then what the wanted packages
// need, and what these need.
func (r *rules) conflict(left []*reason) error {
	e := &ConflictError{}
	depth := map[string]int{}
	for more := true; more; {
		more = false
		for _, g := range left {
			for _, name := range r.targets(g.Requirement) {
				if g.Kind != Wanted && g.Kind != Needed {
					continue
				}
				at := 1
				if g.Kind == Needed {
					if depth[g.Package] == 0 {
						continue
					}
					at = depth[g.Package] + 1
				}
				if depth[name] == 0 {
					depth[name], more = at, true
				}
			}
		}
	}
	place := map[ReasonKind]int{Wanted: 0, Needed: 1, Stays: 2, NotDown: 3, Apart: 4, Kubernetes: 5}
	slices.SortStableFunc(left, func(a, b *reason) int {
		late := func(g *reason) int { return max(place[g.Kind]-1, 0) }
		return cmp.Or(late(a)-late(b), depth[a.Package]-depth[b.Package], place[a.Kind]-place[b.Kind])
	})
	for _, g := range left {
		g.Text = r.text(g, left)
		e.Reasons = append(e.Reasons, g.Reason)
	}
	e.Ends = r.ends(left)
	return e
}

// text is a reason in words.
func (r *rules) text(g *reason, left []*reason) string {
	switch g.Kind {
	case Wanted:
		return fmt.Sprintf("%s wants %s", cmp.Or(g.By, "somebody"), words(g.Requirement))
	case Needed:
		verb := "needs"
		if g.Requirement.Optional {
			verb = "goes only with"
		}
		return fmt.Sprintf("%s%s %s %s", r.named(g, left), r.wanter(g, left), verb, words(g.Requirement))
	case Apart:
		return fmt.Sprintf("%s%s cannot be together with %s", r.named(g, left), r.wanter(g, left), words(g.Requirement))
	case Kubernetes:
		return fmt.Sprintf("%s%s runs on Kubernetes %s, and the cluster has %s", r.named(g, left), r.wanter(g, left), g.Requirement.Range, r.cluster)
	case NotDown:
		return fmt.Sprintf("%s is installed, and is not moved to an older version unless that is asked for", r.named(g, left))
	}
	if r.byName[g.Package].fixed {
		return fmt.Sprintf("%s is installed and stays as it is", r.named(g, left))
	}
	return fmt.Sprintf("%s is installed", r.named(g, left))
}

// named is a package with those of its versions that a reason is about and that wants and
// needs among the reasons leave.
func (r *rules) named(g *reason, left []*reason) string {
	versions := slices.DeleteFunc(slices.Clone(g.versions), func(v *version) bool { return !r.possible(v, left) })
	if len(versions) == 0 {
		versions = g.versions
	}
	return short(g.Package) + " " + several(versions)
}

func (r *rules) possible(v *version, left []*reason) bool {
	p := r.byName[v.Name]
	at := slices.Index(p.versions, v)
	for _, o := range left {
		switch {
		case (o.Kind == Wanted || o.Kind == Needed) && o.need.pack == p && !o.need.contains()[at]:
			return false
		case o.Kind == Stays && o.Package == v.Name && p.fixed && v != p.there:
			return false
		case o.Kind == NotDown && o.Package == v.Name && v.at.LessThan(p.there.at):
			return false
		}
	}
	return true
}

// wanter says who wants the package of a reason, where no other reason says so.
func (r *rules) wanter(g *reason, left []*reason) string {
	for _, o := range left {
		if o.Package == g.Package && o.Kind == Stays || (o.Kind == Wanted || o.Kind == Needed) && slices.Contains(r.targets(o.Requirement), g.Package) {
			return ""
		}
	}
	for _, w := range r.q.Wants {
		if w.Package == g.Package {
			return fmt.Sprintf(" (wanted by %s)", w.By)
		}
	}
	return ""
}

// ends says what the reasons come to: which versions there are of what cannot be had.
func (r *rules) ends(left []*reason) string {
	asked := map[string]int{}
	for _, g := range left {
		if g.Kind == Wanted || g.Kind == Needed {
			asked[g.Requirement.Package]++
		}
	}
	for _, g := range slices.Backward(left) {
		if g.Kind != Wanted && g.Kind != Needed {
			continue
		}
		need := g.Requirement
		if need.Package == "" {
			if len(g.need.by) == 0 {
				return r.noProvider(need.API)
			}
			continue
		}
		p := r.byName[need.Package]
		if p == nil {
			return fmt.Sprintf("no package is called %s%s", short(need.Package), didYouMean(need.Package, r.known))
		}
		if slices.ContainsFunc(p.versions, func(v *version) bool { return r.possible(v, left) }) {
			continue
		}
		switch n := asked[need.Package]; {
		case n > 2:
			return fmt.Sprintf("no version of %s is in all of these (%s)", p.name, thereAre(p))
		case n == 2:
			return fmt.Sprintf("no version of %s is in both (%s)", p.name, thereAre(p))
		case slices.ContainsFunc(left, func(o *reason) bool { return o.Package == p.name && (o.Kind == Stays || o.Kind == NotDown) }):
			return ""
		}
		return fmt.Sprintf("no version of %s is that (%s)", p.name, thereAre(p))
	}
	return ""
}

func thereAre(p *pack) string {
	if len(p.versions) == 1 {
		return "there is only " + p.versions[0].Version
	}
	return "there are " + several(p.versions)
}

func (r *rules) noProvider(a API) string {
	if others := r.offers[a.Kind]; len(others) > 0 {
		return fmt.Sprintf("no package brings that version of %s (%s bring others)", a.Kind, joined(others))
	}
	kinds := make([]string, 0, len(r.offers))
	for kind := range r.offers {
		kinds = append(kinds, kind)
	}
	return fmt.Sprintf("no package brings %s%s", short(a.Kind), didYouMean(a.Kind, kinds))
}
