package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type checkOptions struct {
	*common
	args       []string
	selector   string
	categories []string
	waivers    string
	failOn     string
	all        bool

	// colocation reports the placement of the pods of stacks instead.
	colocation bool

	atomic atomicOptions
	of     systems.Query
}

func newCheck(env Env) *cobra.Command {
	o := &checkOptions{common: newCommon(env, "tree", "table", "wide", "json", "yaml", "name", "sarif", "junit")}
	o.atomic.common = o.common
	cmd := &cobra.Command{
		Use:   "check [KIND|OPERATOR|ROOT...]",
		Short: "Check operators and stacks against guidelines, or whether manifests would start",
		Long: `Check operators, the CRDs of their custom resources, and application stacks against the
guidelines of the operator maturity model and the principles for operators: what is
wrong, where, why it matters, and how to fix it. docs/guidelines.md has every rule;
nothing is written to the cluster.

KIND is a custom kind: its CRD is checked. OPERATOR is the name of an operator, of its
workload, or its API group: it is checked with its CRDs and its own pods. ROOT is a
stack, as for the other commands. Without any of them, all operators of the cluster are
checked, and the stacks of the namespace, or of the cluster with -A.

What could not be read is unknown, never a finding. A score is the share of rules that
passed among those that could be evaluated: errors weigh 4, warnings 2, the rest 1.
Waive accepted findings in a file (--waivers) or with the annotation
sysop.dev/waive: id=reason on the object.

With --atomic it checks whether all manifests of -f would start, or all of a ROOT's
stack from scratch, or whether a part would fail to start. Each object and each pod
template is tried in a dry run; references, quotas, storage and room on the nodes are
checked for the whole batch. The verdict is one of three: fits, with a placement;
impossible, with the reason; unknown, with what could not be checked.

With --colocation it shows how the pods of stacks are placed on nodes and in zones, what
binds them there, and whether a whole stack fits on one node.`,
		Example: `  # operators and stacks of the example, with their scores
  kubectl sysop check -A --from demo

  # one stack, finding by finding, with evidence and remedies
  kubectl sysop check moodle/moodle-2 --from demo
  kubectl sysop check deployment/wordpress -o wide --from demo

  # one kind, one category
  kubectl sysop check moodle --from demo
  kubectl sysop check -A --category security --from demo

  # in a pipeline: a report, and exit code 2 where there are errors
  kubectl sysop check -A -o sarif --from demo
  kubectl sysop check moodle/moodle-1 --fail-on error --from demo

  # will all of it start?
  kubectl sysop check --atomic -f shop.yaml --from demo
  kubectl sysop check --atomic moodle/moodle-1 --from demo

  # where do its pods run, and could they run on one node?
  kubectl sysop check moodle/moodle-1 --colocation --from demo`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	o.flags(cmd)
	return cmd
}

// flags adds the flags of the check command.
func (o *checkOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "of a TYPE without a name, only objects with these labels")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringSliceVar(&o.categories, "category", nil, "only rules of these categories: "+strings.Join(app.CategoryNames(), ", "))
	f.StringVar(&o.waivers, "waivers", "", "accepted findings, from a YAML FILE")
	f.StringVar(&o.failOn, "fail-on", "", "exit with code 2 if a finding has at least this level: error or warning")
	f.BoolVar(&o.all, "all", false, "list every finding of every subject")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	f.BoolVar(&o.colocation, "colocation", false, "show how the pods of stacks are placed on nodes and in zones, and whether a stack fits on one node")
	o.atomic.flags(cmd)
	o.systemQueryFlag(cmd, &o.of.Name, "with its waivers")
	must(cmd.RegisterFlagCompletionFunc("category", cobra.FixedCompletions(app.CategoryNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"error", "warning"}, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *checkOptions) run(ctx context.Context) error {
	var err error
	if o.args, err = o.of.Read(ctx, &o.Input, o.args); err != nil {
		return err
	}
	q, err := o.question(ctx)
	if err != nil {
		return err
	}
	failOn, err := o.failLevel()
	if err != nil {
		return err
	}
	if o.atomic.on {
		return o.atomic.run(ctx, o.args, failOn)
	}
	c, err := app.Check(ctx, &o.Input, q)
	if err != nil {
		return err
	}
	if o.colocation {
		return o.showColocation(ctx, c)
	}
	report, err := c.NewReport(ctx)
	if err != nil {
		return err
	}
	c.Session.ReportGaps(c.Graph)
	shown := checkShown(c, o.all)
	shown.Shape = render.ShapeOf(o.output)
	if err := o.write(view.Check(report, shown)); err != nil {
		return err
	}
	o.tellCheck(c, report)
	c.Session.PrintTimings(c.Graph)
	if failOn != 0 && report.Worst(failOn) {
		return errNotFine
	}
	return nil
}
