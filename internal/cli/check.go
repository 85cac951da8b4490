package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
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
	of     systemQuery
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
	f.StringSliceVar(&o.categories, "category", nil, "only rules of these categories: "+strings.Join(categoryNames(), ", "))
	f.StringVar(&o.waivers, "waivers", "", "accepted findings, from a YAML FILE")
	f.StringVar(&o.failOn, "fail-on", "", "exit with code 2 if a finding has at least this level: error or warning")
	f.BoolVar(&o.all, "all", false, "list every finding of every subject")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	f.BoolVar(&o.colocation, "colocation", false, "show how the pods of stacks are placed on nodes and in zones, and whether a stack fits on one node")
	o.atomic.flags(cmd)
	o.of.flag(cmd, o.common, "with its waivers")
	must(cmd.RegisterFlagCompletionFunc("category", cobra.FixedCompletions(categoryNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"error", "warning"}, cobra.ShellCompDirectiveNoFileComp)))
}

func categoryNames() []string {
	var names []string
	for _, c := range check.Categories() {
		names = append(names, string(c))
	}
	return names
}

func (o *checkOptions) question(ctx context.Context) (*app.CheckRequest, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	q := &app.CheckRequest{Args: o.args, Colocation: o.colocation, Rows: o.of.SystemRows}
	var err error
	if q.Selector, err = app.ParseSelector(o.selector); err != nil {
		return nil, err
	}
	if q.Selector != nil && len(o.args) == 0 {
		return nil, errors.New("--selector chooses among all of a TYPE: name one")
	}
	if err := o.colocated(); err != nil {
		return nil, err
	}
	if err := o.validateExclusive(); err != nil {
		return nil, err
	}
	if _, err := o.failLevel(); err != nil {
		return nil, err
	}
	if q.Rules, err = rulesIn(o.categories); err != nil {
		return nil, err
	}
	if q.Waivers, err = readWaivers(ctx, o.waivers); err == nil && o.of.System != nil {
		q.Waivers = slices.Concat(q.Waivers, o.of.System.Waivers)
	}
	return q, err
}

// failLevel is the level of --fail-on; 0 for none.
func (o *checkOptions) failLevel() (check.Severity, error) {
	switch o.failOn {
	case "":
		return 0, nil
	case "error":
		return check.Error, nil
	case "warning":
		return check.Warning, nil
	}
	return 0, hint.With(fmt.Errorf("unknown value %q of --fail-on", o.failOn), "write error or warning")
}

// validateExclusive refuses flags of the other mode: ignored silently, they would seem to have an
// effect.
func (o *checkOptions) validateExclusive() error {
	a := &o.atomic
	if a.on {
		given := map[string]bool{"--category": len(o.categories) > 0, "--waivers": o.waivers != "", "--selector": o.selector != "", "--all": o.all}
		for _, flag := range slices.Sorted(maps.Keys(given)) {
			if given[flag] {
				return hint.With(fmt.Errorf("%s has no effect with --atomic", flag), "leave out one of them")
			}
		}
		return nil
	}
	switch {
	case len(a.Files) > 0:
		return hint.With(errors.New("--filename needs --atomic"), "use check --atomic -f "+a.Files[0])
	case a.Recursive:
		return hint.With(errors.New("--recursive needs --atomic"), "use check --atomic -R -f DIR")
	case a.footprints != "":
		return hint.With(errors.New("--footprint needs --atomic"), "use check --atomic --footprint "+a.footprints+" -f FILE")
	case a.Autoscaler:
		return hint.With(errors.New("--assume-autoscaler needs --atomic"), "use check --atomic --assume-autoscaler -f FILE")
	}
	return nil
}

// rulesIn returns the rules of some categories; of none named, all.
func rulesIn(names []string) ([]check.Rule, error) {
	want := map[check.Category]bool{}
	for _, name := range names {
		if _, err := oneOf("--category", name, categoryNames()); err != nil {
			return nil, err
		}
		want[check.Category(name)] = true
	}
	var rules []check.Rule
	for _, r := range all.Rules() {
		if len(want) == 0 || want[r.Category] {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func oneOf(flag, value string, valid []string) (string, error) {
	for _, v := range valid {
		if v == value {
			return v, nil
		}
	}
	return "", hint.With(fmt.Errorf("unknown value %q of %s", value, flag), "write one of "+strings.Join(valid, ", "))
}

func (o *checkOptions) run(ctx context.Context) error {
	var err error
	if o.args, err = o.of.read(ctx, o.common, o.args); err != nil {
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
