package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type systemValidateOptions struct {
	*common
	catalogueOptions
}

func newSystemValidate(env Env) *cobra.Command {
	o := &systemValidateOptions{common: newCommon(env, "text", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Validate manifests of Systems",
		Long: `Validate manifests of Systems, and print a line for each that is valid. For every other
manifest all errors are reported with line and column, and the exit code is 1.

The cluster, or the snapshot of --from, is checked for the kinds and the objects that
apps refer to. With --offline no request is sent: for a pipeline without a cluster.
Operators are those of the embedded catalog, of the settings and of --catalog; with
--offline only the local and the cached ones.`,
		Example: `  # against the snapshot that it is about
  kubectl sysop system validate demo --from demo

  # the manifest alone; for one of your own write its file
  kubectl sysop system validate demo --offline -o json`,
		Args:              between(1, math.MaxInt, "a FILE, or several"),
		ValidArgsFunction: completeManifests,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.reading(cmd)
	o.writing(cmd)
	o.findingFlags(cmd)
	cmd.Flags().BoolVar(&o.offline, "offline", false, "send no request: check only the manifest")
	return cmd
}

func (o *systemValidateOptions) run(ctx context.Context, files []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.offline && o.From != "" {
		return errors.New("--offline and --from exclude each other")
	}
	cats, err := o.catalogued(ctx, o.common)
	if err != nil {
		return err
	}
	var checked []view.SystemCheckedDocument
	var wrong []string
	for _, file := range files {
		doc, err := o.check(ctx, cats, file)
		if err != nil {
			return err
		}
		checked = append(checked, doc)
		wrong = append(wrong, hint.Placed(doc.File, doc.Problems)...)
	}
	if o.output != "text" {
		if err := o.write(view.SystemsChecked(checked, o.offline)); err != nil {
			return err
		}
		if len(wrong) > 0 {
			return fmt.Errorf("%s in %s", plural(len(wrong), "problem"), plural(len(files), "file"))
		}
		return nil
	}
	for _, doc := range checked {
		if len(doc.Problems) == 0 {
			fmt.Fprintf(o.env.Out, "%s: valid: the System %s of %s\n", safe(doc.File), safe(doc.System), plural(len(doc.Apps), "app"))
		}
	}
	if len(wrong) > 0 {
		return hint.With(&hint.Lines{Lines: wrong}, "docs/system.md is the format")
	}
	return nil
}

// check finds all that is wrong with one manifest. The error says that a cluster could not
// be asked; a file that cannot be read is a problem of its first line.
func (o *systemValidateOptions) check(ctx context.Context, cats *catalogs.Catalogs, file string) (view.SystemCheckedDocument, error) {
	doc := view.SystemCheckedDocument{File: systemName(file), Apps: []string{}, Problems: []strict.Problem{}}
	sys, problems, err := o.parseSystem(ctx, file)
	switch {
	case ctx.Err() != nil:
		return doc, ctx.Err()
	case err != nil:
		problems = []strict.Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	if len(problems) > 0 {
		doc.Problems = problems
		return doc, nil
	}
	doc.System = sys.Name
	for i := range sys.Apps {
		doc.Apps = append(doc.Apps, sys.Apps[i].Name)
	}
	doc.Problems = append(doc.Problems, unknownOperators(cats, sys)...)
	if !o.offline {
		existing, err := o.checkCluster(ctx, sys)
		if err != nil {
			return doc, offlineHint(err)
		}
		doc.Problems = append(doc.Problems, existing...)
	}
	slices.SortStableFunc(doc.Problems, func(a, b strict.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return doc, nil
}

// unknownOperators tells the operators that no catalogue has.
func unknownOperators(cats *catalogs.Catalogs, sys *system.System) []strict.Problem {
	var problems []strict.Problem
	check := func(line int, owner, name string) {
		if _, known := cats.Find(name); name != "" && !known {
			problems = append(problems, strict.Problem{Line: line, Column: 1, Message: fmt.Sprintf("%sthe catalog has no operator %s%s", owner, strconv.Quote(name), object.DidYouMean(cats.Nearest(name)))})
		}
	}
	for _, o := range sys.Operators {
		check(o.Line, "spec.operators: ", o.Name)
	}
	for i := range sys.Apps {
		check(sys.Apps[i].Line, "app "+sys.Apps[i].Name+": ", sys.Apps[i].Operator)
	}
	return problems
}

// checkCluster asks whether the kinds and the objects of the roots are there, and the kinds of the
// targets of actions.
func (o *systemValidateOptions) checkCluster(ctx context.Context, sys *system.System) ([]strict.Problem, error) {
	l, err := o.lookOnce(ctx, sys)
	if err != nil {
		return nil, err
	}
	o.Gaps(l.graph.Gaps())
	var problems []strict.Problem
	for i := range sys.Apps {
		a := &sys.Apps[i]
		for _, r := range a.Roots {
			if reason := l.absent(a, r); reason != "" {
				problems = append(problems, strict.Problem{Line: r.Line, Column: 1, Message: "app " + a.Name + ": " + reason})
			}
		}
		for _, signal := range a.Signals() {
			for _, action := range a.On[signal] {
				problems = append(problems, l.unservedTargets(a, &action)...)
			}
		}
	}
	return problems, nil
}

// unservedTargets returns the targets of actions whose kinds are not served.
func (l *systemView) unservedTargets(a *system.App, action *system.Action) []strict.Problem {
	var problems []strict.Problem
	for _, t := range action.Targets {
		if _, err := l.root(t); err != nil {
			problems = append(problems, strict.Problem{Line: t.Line, Column: 1, Message: "app " + a.Name + ": target " + err.Error()})
		}
	}
	if action.Inverse != nil {
		problems = append(problems, l.unservedTargets(a, action.Inverse)...)
	}
	return problems
}

// absent says that a root is missing, and names similar objects; empty if it exists or is unknown,
// and for objects that the manifest creates.
func (l *systemView) absent(a *system.App, r system.Root) string {
	arg, err := l.root(r)
	if err != nil {
		return err.Error()
	}
	for _, o := range a.Resources {
		if o.GroupVersionKind().GroupKind() == arg.Kind.GroupKind() && o.GetName() == r.Name {
			return ""
		}
	}
	s := l.session
	if len(s.Nodes(l.graph, arg, nil)) > 0 {
		return ""
	}
	in := s.NamespaceOf(arg)
	if _, unread := s.GapOf(l.graph, arg.Kind, in); unread {
		return ""
	}
	origin := ""
	if arg.Kind.Namespaced && in != "" {
		origin = " in namespace " + in
	}
	var names []string
	for id := range l.graph.OfKind(arg.Kind.GroupKind()) {
		ref := l.graph.Ref(id)
		if l.graph.State(id) == graph.Present && (in == "" || ref.Namespace == in || ref.Namespace == "") {
			names = append(names, ref.Name)
		}
	}
	return "there is no " + r.String() + origin + object.DidYouMean(object.Nearest(r.Name, names))
}
