package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

type regulateNeighboursOptions struct {
	*regulateOptions
	cascade bool
}

func newRegulateNeighbours(env Env) *cobra.Command {
	o := &regulateNeighboursOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := &cobra.Command{
		Use:   "neighbours [SYSTEM] [APP...]",
		Short: "Show who is signalled when an app is in trouble, and by which edges",
		Long: `Show for each app of a System, or for those that are named, who is signalled when
it is in trouble: the apps that need it, with the evidence, and those that a rule
names. With -f or --system all arguments are apps.

An app needs another one when something of its own needs something of the other's
own, be it over what belongs to neither; and where the manifest says so. What an app
does without, and what merely serves or watches it, makes no need.`,
		Example: `  # who is held when an app of the example system fails?
  kubectl sysop regulate neighbours -f demo --from demo

  # a drawing of who needs whom
  kubectl sysop regulate neighbours -f demo --from demo -o mermaid`,
		ValidArgsFunction: o.completeAppArgs(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	o.naming(cmd)
	o.appFlag(cmd, "only this app")
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.cascade, "cascade", false, "also show who needs those that need it, at any depth")
	return cmd
}

func (o *regulateNeighboursOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	name, apps, err := o.split(args, 0)
	if err != nil {
		return err
	}
	b, err := o.begin(ctx, name)
	if err != nil {
		return err
	}
	if err := checkApps(b.system, apps); err != nil {
		return err
	}
	if err := b.look(ctx); err != nil {
		return err
	}
	b.session.tell(b.graph)
	if err := o.write(view.Neighbours(b.world, view.NeighbourOptions{RegulationOptions: b.options(), Apps: apps, Cascade: o.cascade, Rules: neighbourRules(b.system)})); err != nil {
		return err
	}
	b.session.printTimings(b.graph)
	return nil
}

// checkApps refuses names of apps that the System does not have.
func checkApps(s *system.System, apps []string) error {
	var names []string
	for i := range s.Apps {
		names = append(names, s.Apps[i].Name)
	}
	for _, app := range apps {
		if !slices.Contains(names, app) {
			return withHint(fmt.Errorf("the System %s has no app %q%s", s.Name, app, object.DidYouMean(object.Nearest(app, names))), "it has "+strings.Join(names, ", "))
		}
	}
	return nil
}

func neighbourRules(s *system.System) []view.NeighbourRule {
	var out []view.NeighbourRule
	for i := range s.Regulation.Rules {
		r := &s.Regulation.Rules[i]
		out = append(out, view.NeighbourRule{Name: r.Name, Signal: r.Signal, App: r.App, To: r.To, Cascade: r.Cascade})
	}
	return out
}
