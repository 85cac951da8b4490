package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

type rulesExplainOptions struct {
	*common
	args []string
}

func newRulesExplain(env Env) *cobra.Command {
	o := &rulesExplainOptions{common: newCommon(env, "tree", "json", "yaml", "name")}
	cmd := o.command("explain KIND | A B", between(1, 3, "a KIND, or two objects, each TYPE/NAME"), o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func (o *rulesExplainOptions) run(ctx context.Context, args []string) error {
	o.args = args
	args, err := edgeArgs(o.args)
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

// edgeArgs takes an edge as fixtures and names write it: A --needs--> B.
func edgeArgs(args []string) ([]string, error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) != 3 {
		return words, nil
	}
	if name := strings.Trim(words[1], "-─→>"); name != "" {
		if _, ok := relation.ParseRelation(name); !ok {
			return nil, hint.With(fmt.Errorf("unknown relation %q", words[1]), "write A B, or A owns B, A needs B, A serves B")
		}
	}
	return []string{words[0], words[2]}, nil
}

func (o *rulesExplainOptions) explainEdge(ctx context.Context, args []string) error {
	found, err := rules.Between(ctx, &o.Input, args)
	if err != nil {
		return err
	}
	g, a, b := found.Graph, found.A.String(), found.B.String()
	if err := o.write(view.ExplainEdges(g, a+" "+b, found.Edges, found.SourceOf)); err != nil {
		return err
	}
	if len(found.Edges) == 0 {
		fmt.Fprintf(o.env.ErrOut, "no rule relates %s and %s directly\nhint: kubectl sysop path %s %s shows a chain, if there is one\n", safe(a), safe(b), safe(args[0]), safe(args[1]))
	}
	found.Session.PrintTimings(g)
	return nil
}

func (o *rulesExplainOptions) explainKind(ctx context.Context, name string) error {
	found, err := rules.OfKind(ctx, &o.Input, name)
	if err != nil {
		return err
	}
	kind := found.Kind.GroupKind()
	if err := o.write(view.ExplainKind(kind.String(), found.Outgoing, found.Incoming, found.Graph.Gaps())); err != nil {
		return err
	}
	if found.OfPods > 0 {
		fmt.Fprintf(o.env.ErrOut, "and %d rules of pods, for the pod templates in it, which make no edge here (rules list %s)\n", found.OfPods, safe(name))
	}
	if e, _, ok := catalog.KindOf(found.Kind); ok && len(found.Outgoing)+len(found.Incoming) == 0 {
		fmt.Fprintf(o.env.ErrOut, "%s knows no relationship of %s\n", e.Origin(), kind)
	} else if len(found.Outgoing)+len(found.Incoming) == 0 {
		fmt.Fprintf(o.env.ErrOut, "no rule applies to %s; owner references hold for every kind\n", kind)
	}
	found.Session.PrintTimings(found.Graph)
	return nil
}
