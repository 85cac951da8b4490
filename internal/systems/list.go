package systems

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// List returns the adopted Systems of the namespace, or of all.
func List(ctx context.Context, in *app.Input) ([]document.AdoptedSystem, error) {
	if in.From != "" {
		return ofSnapshot(ctx, in)
	}
	return ofCluster(ctx, in)
}

// ofCluster asks for the parents, and for what carries the labels that they name.
func ofCluster(ctx context.Context, in *app.Input) ([]document.AdoptedSystem, error) {
	cluster, err := Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	parents, err := cluster.List(ctx, cluster.Namespace)
	if err != nil {
		return nil, err
	}
	var rows []document.AdoptedSystem
	for _, o := range parents {
		set, err := system.ParseSet(o)
		if err != nil {
			in.Report.Warn(err.Error())
			continue
		}
		row := document.AdoptedSystem{Name: set.Name, Namespace: set.Namespace, Created: o.GetCreationTimestamp().Time}
		carriers, err := cluster.Carriers(ctx, set)
		if err != nil {
			return nil, err
		}
		for _, m := range system.Release(carriers) {
			if m.Change == system.RemoveLabel {
				row.Members = append(row.Members, m.Object.Ref)
			}
		}
		s, err := system.ParseParent(o)
		if err != nil {
			row.Wrong = err.Error()
		} else {
			apps, rules := len(s.Apps), len(s.Regulation.Rules)
			row.Apps, row.Rules = &apps, &rules
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ofSnapshot finds them in a graph.
func ofSnapshot(ctx context.Context, in *app.Input) ([]document.AdoptedSystem, error) {
	created := app.NewCreationTimes()
	in.Extract = append(in.Extract, created.Extractor)
	s, err := in.Open(ctx)
	if err != nil {
		return nil, err
	}
	adopted := func(g *graph.Graph) []graph.ID { return s.Adopted(g, s.Namespace) }
	g, err := s.Read(ctx, source.Query{All: true}, adopted, graph.StackOptions{})
	if err != nil {
		return nil, err
	}
	s.ReportGaps(g)
	var rows []document.AdoptedSystem
	for _, id := range adopted(g) {
		ref := g.Ref(id)
		row := document.AdoptedSystem{Name: g.Labels(id)[system.Label], Namespace: ref.Namespace, Created: created.ByRef[ref]}
		for _, m := range g.InSet(id) {
			row.Members = append(row.Members, g.Ref(m))
		}
		rows = append(rows, row)
	}
	return rows, nil
}
