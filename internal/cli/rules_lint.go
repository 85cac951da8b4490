package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

type rulesLintOptions struct {
	*common
	files    []string
	crds     string
	exitCode bool
	all      bool
}

func newRulesLint(env Env) *cobra.Command {
	o := &rulesLintOptions{common: newCommon(env, "tree", "table", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check relationship rules against the cluster",
		Long: `Check relationship rules: whether each parses, each kind exists in the cluster, each
path exists in the schema, and the kinds that an operator says it creates (composition)
agree with the owner references in the namespace (in all of them with -A). For a catalog
entry, every field that it names is checked: those of health rules and signals too. For
a file of health rules (--health-rules), each expression is also evaluated on objects
without the fields that it reads. Without -f, the annotations of the CRDs and the
entries of the catalog are checked; with -f, those files.

With --crds, the CRDs in a directory are used instead of the cluster: files of YAML or
JSON with CustomResourceDefinitions, and field skeletons.`,
		Example: `  # everything that this cluster declares, and what of the catalog does not fit it
  kubectl sysop rules lint -A --all --from demo

  # for a pipeline: exit code 2 if there is an error or a warning
  kubectl sysop rules lint --exit-code -o json --from demo`,
		Args:              between(0, 0, "files with -f FILE, and no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "check this file of rules, health rules, or catalog entry; may be repeated")
	cmd.Flags().StringVar(&o.crds, "crds", "", "check against the CRDs in this directory, not against a cluster")
	cmd.Flags().BoolVar(&o.all, "all", false, "also show the notes on the catalog: entries that do not fit the schemas here")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if there is an error or a warning")
	return cmd
}

// linter collects findings.
type linter struct {
	// s and g are the cluster; nil if a directory has the definitions.
	s           *app.Session
	g           *graph.Graph
	findings    []view.LintFinding
	rules       int // of relations
	healthRules int // rules of health, of files
	defs        *lint.Definitions
}

func (o *rulesLintOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	l := &linter{}
	checks, err := l.files(ctx, o.files)
	if err != nil {
		return err
	}
	if o.crds != "" {
		err = o.directory(l, checks)
	} else {
		err = o.cluster(ctx, l, checks)
	}
	if err != nil {
		return err
	}
	bad := slices.ContainsFunc(l.findings, func(f view.LintFinding) bool { return f.Severity != "info" })
	if o.exitCode && bad {
		return errNotFine
	}
	return nil
}

// directory checks against the definitions of a directory, without a cluster.
func (o *rulesLintOptions) directory(l *linter, checks []checked) error {
	if o.From != "" {
		return errors.New("--crds names CRDs, and --from a snapshot that has them: they exclude each other")
	}
	var err error
	if l.defs, err = app.DefinitionsIn(o.crds); err != nil {
		return err
	}
	if len(o.files) == 0 {
		for _, e := range catalog.All() {
			if app.DefinesKind(l.defs, &e) {
				checks = append(checks, checkedEntry(e.Origin(), e))
			}
		}
	}
	for _, c := range checks {
		l.rules += len(c.specs)
		l.fields(c)
	}
	return o.tell(l, nil)
}

// cluster checks against the cluster, or a snapshot.
func (o *rulesLintOptions) cluster(ctx context.Context, l *linter, checks []checked) error {
	var err error
	if l.s, err = o.Open(ctx); err != nil {
		return err
	}
	if len(o.files) == 0 {
		checks = l.known()
	}
	if l.g, err = l.s.Survey(ctx); err != nil {
		return err
	}
	o.Gaps(l.g.Gaps())
	wanted := map[schema.GroupKind]bool{}
	for _, c := range checks {
		maps.Copy(wanted, app.KindsRead(c.specs))
		for i := range c.health {
			wanted[declare.GroupKind(c.health[i].Kind)] = true
		}
		if c.entry != nil {
			for _, k := range c.entry.Kinds {
				wanted[declare.GroupKind(k.Kind)] = true
			}
		}
	}
	if l.defs, err = l.s.FieldDefinitions(ctx, wanted); err != nil {
		return err
	}
	for _, c := range checks {
		l.check(c)
	}
	l.compositions(checks)
	if err := o.tell(l, l.g.Gaps()); err != nil {
		return err
	}
	l.s.PrintTimings(l.g)
	return nil
}

// tell writes the findings, the worst first.
func (o *rulesLintOptions) tell(l *linter, gaps []object.Gap) error {
	l.unique()
	slices.SortStableFunc(l.findings, func(a, b view.LintFinding) int {
		rank := map[string]int{"error": 0, "warning": 1, "info": 2}
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	shown := l.findings
	if o.output != "json" && o.output != "yaml" && !o.all {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f view.LintFinding) bool {
			return f.Severity == "info" && strings.HasPrefix(f.Origin, "catalog ")
		})
	}
	if err := o.write(view.Lint(l.rules, shown, gaps)); err != nil {
		return err
	}
	if hidden := len(l.findings) - len(shown); hidden > 0 {
		fmt.Fprintf(o.env.ErrOut, "%d notes on the catalog are not shown: operators here may be of another version (--all shows them)\n", hidden)
	}
	summary := plural(l.rules, "relation")
	if l.healthRules > 0 {
		summary += " and " + plural(l.healthRules, "health rule")
	}
	fmt.Fprintf(o.env.ErrOut, "%s checked, %s\n", summary, plural(len(l.findings), "finding"))
	return nil
}

// checked are the relations of one origin.
type checked struct {
	origin string
	specs  []declare.Spec
	// composed says what an operator claims to create, by kind.
	composed map[schema.GroupKind][]schema.GroupKind
	// catalogue is where this is from: what it says of a kind that is not here is no fault.
	catalogue bool
	// entry is the whole of it, where it is one of the catalogue; doc is where it stands.
	entry *catalog.Entry
	doc   lint.Document
	// health are the rules of a file of those, and text is the file.
	health []health.Rule
	text   []byte
}

func checkedEntry(origin string, e catalog.Entry) checked {
	return checked{origin: origin, specs: e.Relations, composed: composedOf(e), entry: &e}
}

func (l *linter) add(severity, origin string, line, column int, format string, args ...any) {
	l.findings = append(l.findings, view.LintFinding{Severity: severity, Origin: origin, Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// unique takes out what was found twice: several relations of the catalogue may
// read one path.
func (l *linter) unique() {
	seen := map[view.LintFinding]bool{}
	l.findings = slices.DeleteFunc(l.findings, func(f view.LintFinding) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
}

// files parses files of rules and catalogue entries.
func (l *linter) files(ctx context.Context, names []string) ([]checked, error) {
	var all []checked
	for _, name := range names {
		data, err := app.ReadRulesFile(ctx, name)
		if err != nil {
			return nil, err
		}
		c := checked{origin: name}
		var problems []strict.Problem
		switch {
		case health.IsRulesFile(data):
			c.health, problems = health.ParseRules(name, data)
			if c.text = data; len(problems) > 0 {
				c.health = nil
			}
			l.healthRules += len(c.health)
		case isEntry(data):
			var e catalog.Entry
			e, problems = catalog.Parse(entryName(name), data)
			c = checkedEntry(name, e)
		default:
			c.specs, problems = declare.ParseFile(data)
		}
		c.doc = lint.ReadDocument(data)
		for _, p := range problems {
			l.add("error", name, p.Line, p.Column, "%s", p.Message)
		}
		all = append(all, c)
	}
	return all, nil
}

func entryName(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ := strings.Cut(base, ".")
	return name
}

// isEntry says whether a file says that it is a catalogue entry.
func isEntry(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) == "kind: Operator" {
			return true
		}
	}
	return false
}

func composedOf(e catalog.Entry) map[schema.GroupKind][]schema.GroupKind {
	out := map[schema.GroupKind][]schema.GroupKind{}
	for _, k := range e.Kinds {
		for _, c := range k.Composes {
			gk := declare.GroupKind(k.Kind)
			out[gk] = append(out[gk], declare.GroupKind(c))
		}
	}
	return out
}

// known returns what the session has learned, and what was wrong with it.
func (l *linter) known() []checked {
	for _, f := range l.s.Findings {
		l.add("error", "CRD "+f.CRD+" "+f.Annotation, f.Line, f.Column, "%s", f.Message)
	}
	var all []checked
	for _, d := range l.s.Declared {
		c := checked{origin: "CRD " + d.CRD, specs: d.Specs, composed: map[schema.GroupKind][]schema.GroupKind{}}
		for i := range c.specs {
			c.specs[i].Line, c.specs[i].Column = 0, 0
		}
		if d.Composition != nil {
			c.composed[d.Kind] = d.Composition
		}
		all = append(all, c)
	}
	for _, e := range catalog.Of(l.s.Kinds) {
		c := checkedEntry(e.Origin(), e)
		c.catalogue = true
		all = append(all, c)
	}
	return all
}

// check checks the kinds of each relation, and all named fields.
func (l *linter) check(c checked) {
	for i := range c.specs {
		s := &c.specs[i]
		l.rules++
		if c.catalogue {
			continue
		}
		for _, p := range app.Unserved([]declare.Spec{*s}, l.s.Kinds) {
			l.add("error", c.origin, p.Line, p.Column, "%s", p.Message)
		}
		read, _ := s.Reader()
		for _, kind := range read {
			if kind != declare.Any {
				l.served(c, s, kind)
			}
		}
	}
	l.fields(c)
}

// fields holds what is named against the definitions.
func (l *linter) fields(c checked) {
	var found []lint.Finding
	switch {
	case c.entry != nil:
		found = lint.Entry(l.defs, c.entry, c.doc)
	case c.health != nil:
		found = lint.HealthRules(l.defs, c.health, c.text)
	default:
		found = lint.Relations(l.defs, c.specs, c.doc)
	}
	for _, f := range found {
		severity := "error"
		if c.catalogue || f.Unknown {
			severity = "info" // The operator may be another version, or the schema cut down.
		}
		l.add(severity, c.origin, f.Line, f.Column, "%s", f.Message)
	}
}
