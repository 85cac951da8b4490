package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// unplaced notes the pods of the past that nobody can place. Those that are there are
// in other stacks, which are not asked about.
func (m *MetricsResult) unplaced() {
	n, names := 0, []string{}
	for i := range m.Reading.Pods {
		p := &m.Reading.Pods[i]
		if _, ok := m.Attribution.Of[p.Ref]; ok || !p.Gone || len(p.Owners) > 0 {
			continue
		}
		if id, ok := m.Graph.Find(p.Ref); ok && m.Graph.State(id) == graph.Present {
			continue
		}
		if n++; n <= 3 {
			names = append(names, p.Ref.Namespace+"/"+p.Ref.Name)
		}
	}
	if n > 0 {
		m.extra = append(m.extra, metrics.Note{Reason: "Unattributed", LowersFigures: true, Message: fmt.Sprintf("%d deleted pods cannot be attributed to a stack: %s; without a ROOT, metrics shows their usage", n, strings.Join(names, ", "))})
	}
}

// alsoNeeded notes who else needs what was counted whole, of those who are known.
func (m *MetricsResult) alsoNeeded() {
	if m.isClusterWide() {
		return
	}
	way := "-A splits it"
	if m.asked {
		way = "name those as well, to split it"
	}
	parts := m.parts()
	opts := m.StackOptions()
	opts.PartOf = m.Graph.PartOf(m.apexes, opts)
	by := map[graph.ID][]string{}
	for _, apex := range m.apexes {
		stack := m.Graph.Stack([]graph.ID{apex}, opts)
		if slices.ContainsFunc(m.roots(), func(id graph.ID) bool { return id == apex || stack.IsOwnPart(id) }) {
			continue
		}
		for _, part := range parts {
			if part != apex && stack.IsOwnPart(part) {
				by[part] = append(by[part], m.Graph.Ref(apex).String())
			}
		}
	}
	for _, part := range parts {
		if len(by[part]) > 0 {
			m.Reading.Notes = append(m.Reading.Notes, metrics.Note{
				Subject: m.Graph.Ref(part).String(), Reason: "AlsoNeeded",
				Message: fmt.Sprintf("is also needed by %s; none of its cost is charged there (%s)", strings.Join(by[part], ", "), way),
			})
		}
	}
}

// parts are the topmost owners of what the stacks hold, or what nobody owns, other than
// their roots.
func (m *MetricsResult) parts() []graph.ID {
	roots, parts := m.roots(), map[graph.ID]bool{}
	for part, place := range m.Attribution.Of {
		if len(place.Path) > 0 {
			part = place.Path[0]
		}
		if id, ok := m.Graph.Find(part); ok && !slices.Contains(roots, id) {
			parts[id] = true
		}
	}
	return slices.Sorted(maps.Keys(parts))
}
