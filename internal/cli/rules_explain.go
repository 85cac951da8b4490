package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type rulesExplainOptions struct{ *command.Common }

func newRulesExplain(env command.Env) *cobra.Command {
	o := &rulesExplainOptions{command.NewCommon(env, "tree", "json", "yaml", "name")}
	cmd := o.NewCommand("explain KIND | A B", command.RangeArgs(1, 3, "a KIND, or two objects, each TYPE/NAME"), o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	return cmd
}

func (o *rulesExplainOptions) run(ctx context.Context, args []string) error {
	args, err := rules.EdgeArgs(args)
	switch {
	case err != nil:
		return err
	case len(args) == 1 && !strings.Contains(args[0], "/"):
		return o.explainKind(ctx, args[0])
	case len(args) == 2:
		return o.explainEdge(ctx, args)
	}
	return hint.With(fmt.Errorf("expected a KIND, or two objects, each TYPE/NAME"), "kubectl sysop rules explain --help has examples")
}

func (o *rulesExplainOptions) explainEdge(ctx context.Context, args []string) error {
	found, err := rules.Between(ctx, &o.Input, args)
	if err != nil {
		return err
	}
	g, a, b := found.Graph, found.A.String(), found.B.String()
	var lines []string
	if len(found.Edges) == 0 {
		lines = []string{
			fmt.Sprintf("no rule relates %s and %s directly", a, b),
			fmt.Sprintf("hint: kubectl sysop path %s %s shows a chain, if there is one", args[0], args[1]),
		}
	}
	return o.Finish(found.Session, g, view.ExplainEdges(g, a+" "+b, found.Edges, found.SourceOf), lines...)
}

func (o *rulesExplainOptions) explainKind(ctx context.Context, name string) error {
	found, err := rules.OfKind(ctx, &o.Input, name)
	if err != nil {
		return err
	}
	kind := found.Kind.GroupKind()
	var lines []string
	if found.OfPods > 0 {
		lines = append(lines, fmt.Sprintf("and %d rules of pods, for the pod templates in it, which make no edge here (rules list %s)", found.OfPods, name))
	}
	if e, _, ok := catalog.KindOf(found.Kind); ok && len(found.Outgoing)+len(found.Incoming) == 0 {
		lines = append(lines, fmt.Sprintf("%s knows no relationship of %s", e.Origin(), kind))
	} else if len(found.Outgoing)+len(found.Incoming) == 0 {
		lines = append(lines, fmt.Sprintf("no rule applies to %s; owner references hold for every kind", kind))
	}
	return o.Finish(found.Session, found.Graph, view.ExplainKind(kind.String(), found.Outgoing, found.Incoming, found.Graph.Gaps()), lines...)
}
