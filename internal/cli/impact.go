package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

type impactOptions struct {
	*common
	args []string
}

func newImpact(env Env) *cobra.Command {
	o := &impactOptions{common: newCommon(env, "table", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "impact OBJECT",
		Short: "Show what breaks, and what is deleted along, if an object goes",
		Long: `Show what would happen to others if an object were deleted: what the garbage
collector takes along (objects whose every owner goes), what breaks since it
needs the object or something deleted with it, and what suffers in turn: the
owners of what breaks, the Services in front of it, and who needs those.

Of a node it shows what a drain would hit, stack by stack: replicas that are left, pods
that cannot go and why, budgets that block, and whether all would find other nodes.

Nothing is deleted. Within a namespace, that namespace is looked at, and what
reaches into it; -A looks at all of them, for objects that others may address
by a host name.`,
		Example: `  # what if this Secret goes?
  kubectl sysop impact secret/cluster1-secret --from demo

  # what would go with the database, and who would miss it?
  kubectl sysop impact mysqlcluster/cluster1 --from demo

  # what would a drain of this node hit?
  kubectl sysop impact node/worker-a --from demo

  # for a program
  kubectl sysop impact pvc/wordpress-content -o json --from demo`,
		Args:              exactly(1, "one object, TYPE/NAME"),
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.noInferred, "no-inferred", false, "leave out what is a guess")
	return cmd
}

func (o *impactOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	if typ, name, ok := strings.Cut(o.args[0], "/"); ok && slices.Contains([]string{"node", "nodes", "no"}, strings.ToLower(typ)) {
		return o.drain(ctx, name)
	}
	if strings.HasPrefix(o.args[0], graph.BySystem+"/") {
		return withHint(fmt.Errorf("%s is no one object: of the one that keeps it nothing would go along", o.args[0]), "kubectl sysop graph "+o.args[0]+" lists what is in it")
	}
	opts := graph.StackOptions{NoInferred: o.noInferred}
	s, g, ids, err := o.objects(ctx, o.args, opts)
	if err != nil {
		return err
	}
	im := g.Impact(ids[0], opts)
	if err := o.write(view.Impact(g, ids[0], im)); err != nil {
		return err
	}
	if len(im.Deleted)+len(im.Orphaned)+len(im.Direct)+len(im.Through) == 0 {
		fmt.Fprintf(o.env.ErrOut, "nothing is known to need %s\n", safe(g.Ref(ids[0]).String()))
	}
	if s.namespace != "" && !o.allNamespaces && !s.snapshot {
		fmt.Fprintf(o.env.ErrOut, "looked in namespace %s only; -A looks in all\n", safe(s.namespace))
	}
	s.done(g)
	return nil
}
