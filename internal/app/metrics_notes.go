package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// unplaced notes the pods of the past that belong to no known stack. The present ones are in other
// stacks, which were not selected.
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

// alsoNeeded notes which other known stacks need what was counted whole.
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
	users := map[graph.ID][]string{}
	for _, apex := range m.apexes {
		stack := m.Graph.Stack([]graph.ID{apex}, opts)
		if slices.ContainsFunc(m.roots(), func(id graph.ID) bool { return id == apex || stack.IsOwnPart(id) }) {
			continue
		}
		for _, part := range parts {
			if part != apex && stack.IsOwnPart(part) {
				users[part] = append(users[part], m.Graph.Ref(apex).String())
			}
		}
	}
	for _, part := range parts {
		if len(users[part]) > 0 {
			m.Reading.Notes = append(m.Reading.Notes, metrics.Note{
				Subject: m.Graph.Ref(part).String(), Reason: "AlsoNeeded",
				Message: fmt.Sprintf("is also needed by %s; none of its cost is charged there (%s)", strings.Join(users[part], ", "), way),
			})
		}
	}
}

// parts returns the topmost owners in the stacks, and what has no owner, except the roots.
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
