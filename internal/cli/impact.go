package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type impactOptions struct {
	*command.Common
	cascade string
}

func newImpact(env command.Env) *cobra.Command {
	o := &impactOptions{Common: command.NewCommon(env, "tree", "table", "json", "yaml", "name")}
	cmd := o.NewCommand("impact OBJECT", command.ExactArgs(1, "one object, TYPE/NAME"), o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.AddInferredFlag(cmd)
	var policies []string
	for _, c := range graph.Cascades() {
		policies = append(policies, c.String())
	}
	cmd.Flags().StringVar(&o.cascade, "cascade", policies[0], "propagation policy of the deletion, as of kubectl delete: "+strings.Join(policies, ", "))
	command.Offer(cmd, "cascade", policies...)
	return cmd
}

func (o *impactOptions) run(ctx context.Context, args []string) error {
	cascade, err := app.ParseCascade(o.cascade)
	if err != nil {
		return err
	}
	if typ, name, ok := strings.Cut(args[0], "/"); ok && slices.Contains([]string{"node", "nodes", "no"}, strings.ToLower(typ)) {
		return o.drain(ctx, name)
	}
	if strings.HasPrefix(args[0], graph.BySystem+"/") {
		return hint.With(fmt.Errorf("%s is a group of objects: deleting its parent would delete nothing else", args[0]), "kubectl sysop graph "+args[0]+" lists what is in it")
	}
	how := graph.ImpactOptions{StackOptions: graph.StackOptions{NoInferred: o.NoInferred}, Cascade: cascade}
	s, g, id, err := o.Deletion(ctx, args[0], how)
	if err != nil {
		return err
	}
	var lines []string
	if ns := g.Ref(id).Namespace; ns != "" && s.Namespace != "" && !s.Snapshot {
		lines = []string{"read namespace " + ns + ", and what refers to its objects; -A reads all"}
	}
	return o.Finish(s, g, app.Impact(g, id, how), lines...)
}

// drain shows what a drain of a node would do.
func (o *impactOptions) drain(ctx context.Context, name string) error {
	r, err := o.Drain(ctx, name)
	if err != nil {
		return err
	}
	r.Session.ReportGaps(r.Graph)
	if o.Output == "table" {
		o.Output = "tree" // A pod has lines of its own for what is to be said of it.
	}
	var lines []string
	if !r.AllPods {
		lines = []string{"warning: cannot list pods in all namespaces: the node may run more"}
	}
	return o.Finish(r.Session, r.Graph, view.Drain(r.Outcome, r.Graph.Gaps()), lines...)
}
