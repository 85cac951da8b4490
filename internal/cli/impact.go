package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type impactOptions struct {
	*common
	args    []string
	cascade string
}

func newImpact(env Env) *cobra.Command {
	o := &impactOptions{common: newCommon(env, "tree", "table", "json", "yaml", "name")}
	cmd := o.command("impact OBJECT", exactly(1, "one object, TYPE/NAME"), o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.inferring(cmd)
	var policies []string
	for _, c := range graph.Cascades() {
		policies = append(policies, c.String())
	}
	cmd.Flags().StringVar(&o.cascade, "cascade", policies[0], "propagation policy of the deletion, as of kubectl delete: "+strings.Join(policies, ", "))
	offer(cmd, "cascade", policies...)
	return cmd
}

func (o *impactOptions) run(ctx context.Context, args []string) error {
	o.args = args
	cascade, err := app.ParseCascade(o.cascade)
	if err != nil {
		return err
	}
	if typ, name, ok := strings.Cut(o.args[0], "/"); ok && slices.Contains([]string{"node", "nodes", "no"}, strings.ToLower(typ)) {
		return o.drain(ctx, name)
	}
	if strings.HasPrefix(o.args[0], graph.BySystem+"/") {
		return hint.With(fmt.Errorf("%s is a group of objects: deleting its parent would delete nothing else", o.args[0]), "kubectl sysop graph "+o.args[0]+" lists what is in it")
	}
	how := graph.ImpactOptions{StackOptions: graph.StackOptions{NoInferred: o.NoInferred}, Cascade: cascade}
	o.Definitions, o.MoreRoots = true, goingAlong(how)
	s, g, ids, err := o.Objects(ctx, o.args, how.StackOptions)
	if err != nil {
		return err
	}
	if err := o.write(app.Impact(g, ids[0], how)); err != nil {
		return err
	}
	if ns := g.Ref(ids[0]).Namespace; ns != "" && s.Namespace != "" && !s.Snapshot {
		fmt.Fprintf(o.env.ErrOut, "read namespace %s, and what refers to its objects; -A reads all\n", safe(ns))
	}
	s.PrintTimings(g)
	return nil
}

// goingAlong tells what goes along with an object: the volume of a claim in a namespace says
// itself whether it does. By a Service that goes definitions may convert their objects.
func goingAlong(how graph.ImpactOptions) func(*graph.Graph, []graph.ID) ([]graph.ID, []schema.GroupKind) {
	return func(g *graph.Graph, roots []graph.ID) (along []graph.ID, kinds []schema.GroupKind) {
		for _, id := range roots {
			im := g.Impact(id, how)
			along = append(along, im.Gone()...)
		}
		if slices.ContainsFunc(along, func(id graph.ID) bool { return g.Ref(id).GroupKind() == schema.GroupKind{Kind: "Service"} }) {
			kinds = append(kinds, app.DefinitionKind)
		}
		return along, kinds
	}
}
