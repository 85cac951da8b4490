package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	s, g, id, err := o.Deletion(ctx, o.args[0], how)
	if err != nil {
		return err
	}
	if err := o.write(app.Impact(g, id, how)); err != nil {
		return err
	}
	if ns := g.Ref(id).Namespace; ns != "" && s.Namespace != "" && !s.Snapshot {
		fmt.Fprintf(o.env.ErrOut, "read namespace %s, and what refers to its objects; -A reads all\n", safe(ns))
	}
	s.PrintTimings(g)
	return nil
}
