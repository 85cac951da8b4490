package view

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// PreflightOptions say how a preflight is shown.
type PreflightOptions struct {
	// Namespace is that of the user, which need not be written.
	Namespace string
	// Objects counts those of the batch.
	Objects int
	// Server says that a dry run was sent; FromScratch that the batch is a stack of the cluster.
	Server, FromScratch bool
	// Gaps are what could not be read.
	Gaps []object.Gap
}

// Preflight shows whether all of a batch will start. The tree is for people: what is wrong
// first, with its evidence and a fix, and then what was checked.
func Preflight(r *preflight.Report, o PreflightOptions) Output {
	p := &preflightView{r: r, o: o}
	return Output{Tree: p.tree(), Table: p.columns().Table(r.Findings), Wide: p.columns().wideTable(p.placements()), Document: p.document(), Names: p.names(), Findings: p.findings()}
}

type preflightView struct {
	r *preflight.Report
	o PreflightOptions
}

// PreflightVerdict says in one line what the verdict is.
func PreflightVerdict(r *preflight.Report, o PreflightOptions) string {
	switch r.Verdict {
	case schedule.DoesNotFit:
		hanging := hangingObjects(r)
		if hanging == 0 {
			return "impossible: not everything can start"
		}
		return fmt.Sprintf("impossible: %d of %s would not start", hanging, counted(max(o.Objects, hanging), "object"))
	case schedule.Unknown:
		open := 0
		for i := range r.Findings {
			if r.Findings[i].Verdict == schedule.Unknown {
				open++
			}
		}
		if open == 1 {
			return "unknown: one check could not be made, and none found an obstacle"
		}
		return fmt.Sprintf("unknown: %d checks could not be made, and none found an obstacle", open)
	}
	if r.Pods == 0 {
		return fmt.Sprintf("fits: %s, without new pods to place", counted(o.Objects, "object"))
	}
	nodes := map[string]bool{}
	for _, at := range r.Placement {
		nodes[at.Node] = true
	}
	pods := counted(r.Pods, "pod")
	if len(nodes) == 0 {
		return "fits: " + pods + ", as the cluster is now"
	}
	return fmt.Sprintf("fits: %s on %s, as the cluster is now", pods, counted(len(nodes), "node"))
}

// hangingObjects counts the objects of which something is impossible.
func hangingObjects(r *preflight.Report) int {
	seen := map[object.Ref]bool{}
	for i := range r.Findings {
		if j := &r.Findings[i]; j.Verdict == schedule.DoesNotFit && j.Object.Kind != "" {
			seen[j.Object] = true
		}
	}
	return len(seen)
}

// VerdictCell is a verdict with its sign.
func VerdictCell(v schedule.Verdict) Cell {
	switch v {
	case schedule.DoesNotFit:
		return Cell{"✖ " + v.String(), Bad}
	case schedule.Unknown:
		return Cell{"? " + v.String(), Warn}
	case schedule.Fits:
		return Cell{"✔ " + v.String(), Good}
	}
	return Cell{}
}

// name is an object for people. A placed pod is known by its name alone.
func (p *preflightView) name(r object.Ref) string {
	if r.Kind == "" {
		return r.Name
	}
	return Written(r, p.o.Namespace, nil)
}

func (p *preflightView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "VERDICT", MinWidth: len("✖ impossible")},
		{Name: "TOPIC"},
		{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "SOURCE", DropOrder: 1, Truncate: Middle, MinWidth: LeastName},
		{Name: "MESSAGE", OwnLine: true},
	}}
	for i := range p.r.Findings {
		t.Roots = append(t.Roots, p.line(&p.r.Findings[i]))
	}
	note := func(name, text string) {
		if text != "" {
			t.Roots = append(t.Roots, &TreeRow{Name: Cell{name, Faint}, Cells: []Cell{{}, {}, {}, {text, Plain}}})
		}
	}
	note("may grow", p.r.AutoscalerNote)
	for _, text := range p.r.NotChecked {
		note("not checked", text)
	}
	if !slices.ContainsFunc(p.r.Findings, func(j preflight.Finding) bool { return j.Origin != "" }) {
		p.drop(t, 3)
	}
	return t
}

// drop leaves a column out.
func (p *preflightView) drop(t *Tree, column int) {
	var walk func([]*TreeRow)
	walk = func(lines []*TreeRow) {
		for _, l := range lines {
			l.Cells = slices.Delete(l.Cells, column-1, column)
			walk(l.Children)
		}
	}
	t.Columns = slices.Delete(t.Columns, column, column+1)
	walk(t.Roots)
}

// line is a finding, with its evidence and fix below it.
func (p *preflightView) line(j *preflight.Finding) *TreeRow {
	l := &TreeRow{Name: VerdictCell(j.Verdict), Cells: []Cell{{string(j.Topic), Plain}, {p.name(j.Object), Plain}, {j.Origin, Faint}, {j.Message, Plain}}}
	if j.Field != "" && j.Verdict != schedule.Fits {
		l.Children = append(l.Children, detailRow("field", evidence(j.Field, j.Value)))
	}
	for _, n := range j.Nodes {
		l.Children = append(l.Children, detailRow(nodesNamed(n.Nodes), n.Message))
	}
	if j.Remedy != "" {
		l.Children = append(l.Children, detailRow("fix", j.Remedy))
	}
	return l
}

func detailRow(name, text string) *TreeRow {
	return &TreeRow{Name: Cell{name, Faint}, Cells: []Cell{{}, {}, {}, {text, Plain}}}
}

// nodesNamed names few nodes, and counts many.
func nodesNamed(nodes []string) string {
	if len(nodes) == 1 {
		return "node " + nodes[0]
	}
	return fmt.Sprintf("%d nodes", len(nodes))
}

// columns are those of a row for each finding; the wide table also has one for each pod
// that is placed on a node.
func (p *preflightView) columns() ColumnsOf[preflight.Finding] {
	return ColumnsOf[preflight.Finding]{
		{Column: Column{Name: "VERDICT"}, Value: func(j preflight.Finding) Cell {
			if j.Topic == topicPlacement {
				return Cell{}
			}
			return VerdictCell(j.Verdict)
		}},
		{Column: Column{Name: "TOPIC"}, Value: AsText(func(j preflight.Finding) string { return string(j.Topic) })},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(j preflight.Finding) string { return p.name(j.Object) })},
		{Column: Column{Name: "SOURCE"}, in: wideOnly, Value: AsText(func(j preflight.Finding) string { return j.Origin })},
		{Column: Column{Name: "REASON"}, in: wideOnly, Value: AsText(func(j preflight.Finding) string { return j.Reason })},
		{Column: Column{Name: "FIELD"}, in: wideOnly, Value: AsText(func(j preflight.Finding) string { return evidence(j.Field, j.Value) })},
		{Column: Column{Name: "MESSAGE", Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(j preflight.Finding) string { return j.Message })},
		{Column: Column{Name: "FIX"}, in: wideOnly, Value: AsText(func(j preflight.Finding) string { return j.Remedy })},
	}
}

// topicPlacement is that of the rows for pods that are placed.
const topicPlacement preflight.Topic = "placement"

func (p *preflightView) placements() []preflight.Finding {
	rows := slices.Clone(p.r.Findings)
	for _, at := range p.r.Placement {
		rows = append(rows, preflight.Finding{Topic: topicPlacement, Object: object.Ref{Name: at.Pod}, Message: "finds room on " + at.Node})
	}
	return rows
}

// names are the objects of which something is impossible or unknown.
func (p *preflightView) names() []string {
	out := []string{}
	for i := range p.r.Findings {
		if j := &p.r.Findings[i]; j.Verdict != schedule.Fits && j.Object.Kind != "" && !slices.Contains(out, j.Object.String()) {
			out = append(out, j.Object.String())
		}
	}
	return out
}
