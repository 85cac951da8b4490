package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func newSystemList(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the adopted Systems",
		Long: `List the Systems of the namespace, or of the cluster with -A: each was adopted (kubectl
sysop system adopt), and system/NAME is a ROOT for the other commands.

MEMBERS are the objects that carry its label. APPS and RULES are counted in the manifest
that the ConfigMap sysop-NAME stores; a snapshot holds no data of ConfigMaps, so it
shows "-" there.`,
		Example: `  # those of all namespaces
  kubectl sysop system list -A

  # for a program
  kubectl sysop system list -A -o json --from demo`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return listSystems(cmd.Context(), o) },
	}
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func listSystems(ctx context.Context, o *common) error {
	if err := o.validate(); err != nil {
		return err
	}
	find := o.systemsOfCluster
	if o.From != "" {
		find = o.systemsOfSnapshot
	}
	rows, err := find(ctx)
	if err != nil {
		return err
	}
	if err := o.write(view.Systems(rows, o.env.Now())); err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; r.Wrong != "" {
			fmt.Fprintf(o.env.ErrOut, "warning: system/%s/%s: its manifest cannot be read: %s\n", safe(r.Namespace), safe(r.Name), safe(r.Wrong))
		}
	}
	if len(rows) == 0 && o.human() {
		fmt.Fprintln(o.env.ErrOut, "no Systems found")
	}
	return nil
}

// systemsOfCluster asks for the parents, and for what carries the labels that they name.
func (c *common) systemsOfCluster(ctx context.Context) ([]view.SystemRow, error) {
	cluster, err := c.systems(ctx)
	if err != nil {
		return nil, err
	}
	parents, err := cluster.list(ctx, cluster.namespace)
	if err != nil {
		return nil, err
	}
	var rows []view.SystemRow
	for _, o := range parents {
		set, err := system.ParseSet(o)
		if err != nil {
			fmt.Fprintf(c.env.ErrOut, "warning: %s\n", safe(err.Error()))
			continue
		}
		row := view.SystemRow{Name: set.Name, Namespace: set.Namespace, Created: o.GetCreationTimestamp().Time}
		carriers, err := cluster.carriers(ctx, set)
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

// systemsOfSnapshot finds them in a graph.
func (c *common) systemsOfSnapshot(ctx context.Context) ([]view.SystemRow, error) {
	born := app.NewCreationTimes()
	c.Extract = append(c.Extract, born.Extractor)
	s, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	keepers := func(g *graph.Graph) []graph.ID { return s.Adopted(g, s.Namespace) }
	g, err := s.Read(ctx, source.Query{All: true}, keepers, graph.StackOptions{})
	if err != nil {
		return nil, err
	}
	s.ReportGaps(g)
	var rows []view.SystemRow
	for _, id := range keepers(g) {
		ref := g.Ref(id)
		row := view.SystemRow{Name: g.Labels(id)[system.Label], Namespace: ref.Namespace, Created: born.ByRef[ref]}
		for _, m := range g.InSet(id) {
			row.Members = append(row.Members, g.Ref(m))
		}
		rows = append(rows, row)
	}
	return rows, nil
}
