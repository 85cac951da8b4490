package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// explain explains why a question has no solution: it drops the reasons of the last search, one by
// one, as long as there is still no solution without them.
func (s *search) explain(ctx context.Context) error {
	var reasons []*reason
	for _, g := range s.reasons {
		if g.ignored = !g.used; g.used {
			reasons = append(reasons, g)
		}
	}
	// A choice between providers is reported only if nothing else is wrong, so it is dropped first.
	first := func(g *reason) int {
		if g.Kind == unclear {
			return 0
		}
		return 1 + g.order
	}
	slices.SortFunc(reasons, func(a, b *reason) int { return cmp.Or(first(a)-first(b), a.order-b.order) })
	s.left = maxSteps
	// Without a need, its own needs disappear too, and earlier reasons may become irrelevant. So
	// the loop ends with a round that drops nothing.
	for i, needed := 0, 0; needed < len(reasons); i %= len(reasons) {
		reasons[i].ignored = true
		ok, err := s.run(ctx)
		if _, limited := errors.AsType[*LimitError](err); limited {
			reasons[i].ignored = false
			break
		}
		switch {
		case err != nil:
			return err
		case ok:
			reasons[i].ignored = false
			i, needed = i+1, needed+1
		default:
			reasons = slices.DeleteFunc(reasons, func(g *reason) bool { g.ignored = !g.used; return g.ignored })
			needed = 0
		}
	}
	for _, g := range reasons {
		if g.Kind == unclear {
			return s.ambiguous(g.Requirement.API, reasons)
		}
	}
	return s.conflict(reasons)
}

func (s *search) ambiguous(api API, reasons []*reason) error {
	e := &AmbiguousError{API: api}
	for _, c := range s.constraints {
		if c.pack == nil && c.Requirement.API.String() == api.String() {
			c.unclear.ignored = true
			for _, p := range s.preferredProviders(c) {
				if p.installed == nil && !p.wanted && !slices.Contains(e.Candidates, p.name) {
					e.Candidates = append(e.Candidates, p.name)
				}
			}
		}
	}
	slices.Sort(e.Candidates)
	for _, g := range reasons {
		if g.Kind == unclear || g.Requirement.Package != "" || g.Requirement.API.String() != api.String() {
			continue
		}
		source := g.By
		if g.Kind == Needed {
			source = s.named(g, reasons)
		}
		if !slices.Contains(e.By, source) {
			e.By = append(e.By, source)
		}
	}
	return e
}

// conflict sorts reasons, each after what leads to it: wants, then what the wanted packages need,
// and what these need.
func (s *search) conflict(reasons []*reason) error {
	depth := map[string]int{}
	for changed := true; changed; {
		changed = false
		for _, g := range reasons {
			if g.Kind != Wanted && (g.Kind != Needed || depth[g.Package] == 0) {
				continue
			}
			for _, name := range s.targets(g.Requirement) {
				if depth[name] == 0 {
					depth[name], changed = depth[g.Package]+1, true
				}
			}
		}
	}
	place := map[ReasonKind]int{Wanted: 0, Needed: 0, Stays: 1, NotDown: 2, Apart: 3, Kubernetes: 4}
	slices.SortStableFunc(reasons, func(a, b *reason) int {
		return cmp.Or(place[a.Kind]-place[b.Kind], depth[a.Package]-depth[b.Package])
	})
	e := &ConflictError{}
	for _, g := range reasons {
		g.Text = s.text(g, reasons)
		e.Reasons = append(e.Reasons, g.Reason)
	}
	e.Ends = s.ends(reasons)
	return e
}

// text formats a reason.
func (s *search) text(g *reason, reasons []*reason) string {
	subject := s.named(g, reasons) + s.wanter(g, reasons)
	switch g.Kind {
	case Wanted:
		return fmt.Sprintf("%s wants %s", cmp.Or(g.By, "somebody"), words(g.Requirement))
	case Needed:
		if g.Requirement.Optional {
			return fmt.Sprintf("%s goes only with %s", subject, words(g.Requirement))
		}
		return fmt.Sprintf("%s needs %s", subject, words(g.Requirement))
	case Apart:
		return fmt.Sprintf("%s cannot be together with %s", subject, words(g.Requirement))
	case Kubernetes:
		return fmt.Sprintf("%s runs on Kubernetes %s, and the cluster has %s", subject, g.Requirement.Range, s.cluster)
	case NotDown:
		return subject + " is installed, and is not moved to an older version unless you name it"
	}
	return subject + " is installed and stays as it is"
}

// named formats a package with those of its versions that a reason is about and that the other
// reasons allow.
func (s *search) named(g *reason, reasons []*reason) string {
	versions := slices.DeleteFunc(slices.Clone(g.versions), func(v *candidate) bool { return !s.isLeft(v, reasons) })
	if len(versions) == 0 {
		versions = g.versions
	}
	return short(g.Package) + " " + several(versions)
}

// isLeft reports whether no requirement by name, and nothing installed, excludes a version.
func (s *search) isLeft(v *candidate, reasons []*reason) bool {
	return !slices.ContainsFunc(reasons, func(g *reason) bool {
		if g.Kind == Stays || g.Kind == NotDown {
			return slices.Contains(v.refused, g)
		}
		return (g.Kind == Wanted || g.Kind == Needed) && slices.ContainsFunc(g.asks, func(c *constraint) bool { return c.pack == v.pack && !c.has(v) })
	})
}

// wanter says why the package of a reason is needed, if no other reason does.
func (s *search) wanter(g *reason, reasons []*reason) string {
	if slices.ContainsFunc(reasons, func(o *reason) bool {
		return o.Package == g.Package && (o.Kind == Stays || o.Kind == NotDown) || (o.Kind == Wanted || o.Kind == Needed) && slices.Contains(s.targets(o.Requirement), g.Package)
	}) {
		return ""
	}
	for _, w := range s.q.Wants {
		if w.Package == g.Package && w.Package != "" {
			return fmt.Sprintf(" (wanted by %s)", w.By)
		}
	}
	if p := s.packs[g.Package]; p != nil && p.installed != nil {
		return " (" + p.installed.Version + " is installed)"
	}
	return ""
}

// ends returns the conclusion of the reasons: the existing versions of what is not available.
func (s *search) ends(reasons []*reason) string {
	asked := map[string]int{}
	for _, g := range reasons {
		if g.Kind == Wanted || g.Kind == Needed {
			asked[g.Requirement.Package]++
		}
	}
	for _, g := range slices.Backward(reasons) {
		if g.Kind != Wanted && g.Kind != Needed {
			continue
		}
		name := g.Requirement.Package
		p := s.packs[name]
		switch {
		case name == "" && len(g.asks[0].providers) == 0:
			return s.noProvider(g.Requirement.API)
		case name == "":
		case p == nil:
			return fmt.Sprintf("no package is called %s%s", short(name), object.DidYouMean(object.Nearest(name, slices.Sorted(maps.Keys(s.all)))))
		case slices.ContainsFunc(p.versions, func(v *candidate) bool { return s.isLeft(v, reasons) }):
		case asked[name] > 2:
			return fmt.Sprintf("no version of %s is in all of these (%s)", name, thereAre(p))
		case asked[name] == 2:
			return fmt.Sprintf("no version of %s is in both (%s)", name, thereAre(p))
		case slices.ContainsFunc(reasons, func(o *reason) bool { return o.Package == name && (o.Kind == Stays || o.Kind == NotDown) }):
			return ""
		default:
			return fmt.Sprintf("no version of %s is that (%s)", name, thereAre(p))
		}
	}
	return ""
}

func thereAre(p *pack) string {
	if len(p.versions) == 1 {
		return "there is only " + p.versions[0].Version
	}
	return "there are " + several(p.versions)
}

func (s *search) noProvider(a API) string {
	if offers := s.offers[a.Kind]; len(offers) > 0 {
		return fmt.Sprintf("no package brings that version of %s (%s bring others)", a.Kind, strings.Join(offers, ", "))
	}
	return fmt.Sprintf("no package brings %s%s", short(a.Kind), object.DidYouMean(object.Nearest(a.Kind, slices.Sorted(maps.Keys(s.offers)))))
}

// several joins versions, oldest first, and omits the middle of many.
func several(versions []*candidate) string {
	var out []string
	for _, v := range slices.SortedFunc(slices.Values(versions), func(a, b *candidate) int { return a.at.Compare(b.at) }) {
		out = append(out, v.Version)
	}
	if len(out) > 6 {
		out = append(append(out[:3:3], "..."), out[len(out)-2:]...)
	}
	return strings.Join(out, ", ")
}
