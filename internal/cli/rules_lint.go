package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

type rulesLintOptions struct {
	*common
	files    []string
	exitCode bool
	all      bool
}

func newRulesLint(env Env) *cobra.Command {
	o := &rulesLintOptions{common: newCommon(env, "tree", "table", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check relationship rules against the cluster",
		Long: `Check relationship rules: does each parse, does each kind exist here, does each
path exist in the schema of every served version, and do the kinds that an
operator says it creates (composition) agree with the owner references that are
seen in the namespace (with -A: in all). Without -f, the annotations of the CRDs
and the entries of the catalogue are checked; with -f, those files.`,
		Example: `  # everything that this cluster declares, and what of the catalogue does not fit it
  kubectl sysop rules lint -A --all --from demo

  # for a pipeline: exit code 2 if there is an error or a warning
  kubectl sysop rules lint --exit-code -o json --from demo`,
		Args:              between(0, 0, "files with -f FILE, and no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "check this file of rules, or catalogue entry; may be repeated")
	cmd.Flags().BoolVar(&o.all, "all", false, "show the notes on the catalogue too: what of it does not fit the schemas here")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 2 if there is an error or a warning")
	return cmd
}

// linter collects findings.
type linter struct {
	s        *session
	g        *graph.Graph
	findings []view.LintFinding
	rules    int
	shapes   shapes
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
	if l.s, err = o.open(ctx); err != nil {
		return err
	}
	if len(o.files) == 0 {
		checks = l.known()
	}
	if l.g, err = l.s.survey(ctx); err != nil {
		return err
	}
	o.tellGaps(l.g.Gaps())
	var specs []declare.Spec
	for _, c := range checks {
		specs = append(specs, c.specs...)
	}
	if l.shapes, err = l.s.shapes(ctx, specs); err != nil {
		return err
	}
	for _, c := range checks {
		l.check(c)
	}
	l.compositions(checks)
	l.unique()
	slices.SortStableFunc(l.findings, func(a, b view.LintFinding) int {
		rank := map[string]int{"error": 0, "warning": 1, "info": 2}
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	shown := l.findings
	if o.output != "json" && o.output != "yaml" && !o.all {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f view.LintFinding) bool {
			return f.Severity == "info" && strings.HasPrefix(f.Origin, "catalogue ")
		})
	}
	if err := o.write(view.Lint(l.rules, shown, l.g.Gaps())); err != nil {
		return err
	}
	if hidden := len(l.findings) - len(shown); hidden > 0 {
		fmt.Fprintf(o.env.ErrOut, "%d notes on the catalogue are not shown: operators here may be of another version (--all shows them)\n", hidden)
	}
	fmt.Fprintf(o.env.ErrOut, "%s checked, %s\n", plural(l.rules, "relation"), plural(len(l.findings), "finding"))
	l.s.done(l.g)
	bad := slices.ContainsFunc(l.findings, func(f view.LintFinding) bool { return f.Severity != "info" })
	if o.exitCode && bad {
		return errNotFine
	}
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
		data, err := readRulesFile(ctx, name)
		if err != nil {
			return nil, err
		}
		c := checked{origin: name}
		specs, problems := declare.ParseFile(data)
		if e, wrong := catalog.Parse(entryName(name), data); isEntry(data) {
			specs, problems = e.Relations, wrong
			c.composed = composedOf(e)
		}
		for _, p := range problems {
			l.add("error", name, p.Line, p.Column, "%s", p.Message)
		}
		c.specs = specs
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
	for _, f := range l.s.findings {
		l.add("error", "CRD "+f.CRD+" "+f.Annotation, f.Line, f.Column, "%s", f.Message)
	}
	var all []checked
	for _, d := range l.s.declared {
		c := checked{origin: "CRD " + d.CRD, specs: d.Specs, composed: map[schema.GroupKind][]schema.GroupKind{}}
		for i := range c.specs {
			c.specs[i].Line, c.specs[i].Column = 0, 0
		}
		if d.Composition != nil {
			c.composed[d.Kind] = d.Composition
		}
		all = append(all, c)
	}
	for _, e := range catalog.Of(l.s.kinds) {
		all = append(all, checked{origin: e.Origin(), specs: e.Relations, composed: composedOf(e), catalogue: true})
	}
	return all
}

// check looks at the kinds and the paths of each relation.
func (l *linter) check(c checked) {
	for i := range c.specs {
		s := &c.specs[i]
		l.rules++
		if !c.catalogue {
			for _, p := range unserved([]declare.Spec{*s}, l.s.kinds) {
				l.add("error", c.origin, p.Line, p.Column, "%s", p.Message)
			}
		}
		read, _ := s.Reader()
		for _, kind := range read {
			if kind != declare.Any {
				l.paths(c, s, kind)
			}
		}
	}
}

// paths checks each absolute path of a relation in every served version of a kind.
func (l *linter) paths(c checked, s *declare.Spec, kind string) {
	gk := declare.GroupKind(kind)
	versions := l.shapes[gk]
	if _, served := l.s.kinds.Kind(gk); c.catalogue || l.s.kinds.NotServed(gk) {
		// That is told, or no fault.
	} else if !served {
		l.add("info", c.origin, s.Line, s.Column, "no kind %s is known here%s: nothing of it is checked", kind, nearKinds(gk, l.s.kinds))
	} else if len(versions) == 0 && len(s.Paths()) > 0 {
		l.add("info", c.origin, s.Line, s.Column, "the schema of %s is not known here: its paths are not checked", kind)
	}
	if !c.catalogue && l.placeless(s, gk) {
		l.add("warning", c.origin, s.Line, s.Column, "%s is cluster-scoped and %s does not say in which namespace the %s is: want namespace: PATH", kind, s.Path(), strings.Join(namedBy(s), ", "))
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		for _, wrong := range wrongPaths(s, versions[version]) {
			severity := "error"
			if c.catalogue {
				severity = "info" // The operator may be another version, or the schema cut down.
			}
			l.add(severity, c.origin, s.Line, s.Column, "%s %s: %s", kind, version, wrong)
		}
	}
}

func namedBy(s *declare.Spec) []string {
	_, named := s.Reader()
	return named
}

// placeless says whether a cluster-scoped object names a namespaced one by its name
// alone: that can be nobody.
func (l *linter) placeless(s *declare.Spec, gk schema.GroupKind) bool {
	r, served := l.s.kinds.Kind(gk)
	if !served || r.Namespaced || s.Namespace != "" || s.Format != "" {
		return false
	}
	for _, kind := range namedBy(s) {
		if k, served := l.s.kinds.Kind(declare.GroupKind(kind)); !served || !k.Namespaced {
			return false
		}
	}
	switch {
	case s.Name != "", s.Label != "" && s.Value == "":
		return true
	case s.Field == "" || len(l.shapes[gk]) == 0:
		return false
	}
	p, err := field.Parse(s.Field + ".namespace")
	if err != nil {
		return false
	}
	for _, shape := range l.shapes[gk] {
		if p.Check(shape) == nil {
			return false
		}
	}
	return true
}

// compositions compares what operators say that they create with what the
// instances own.
func (l *linter) compositions(checks []checked) {
	for _, c := range checks {
		for _, gk := range slices.SortedFunc(maps.Keys(c.composed), object.CompareKinds) {
			l.composition(c, gk, c.composed[gk])
		}
	}
}

func (l *linter) composition(c checked, gk schema.GroupKind, declared []schema.GroupKind) {
	instances, owned := observed(l.g, gk)
	if instances == 0 {
		return
	}
	for _, kind := range slices.SortedFunc(maps.Keys(owned), object.CompareKinds) {
		if !slices.Contains(declared, kind) {
			l.add("warning", c.origin, 0, 0, "%s owns %s here (%s), which its composition does not name", gk, declare.Spell(kind), owned[kind])
		}
	}
	for _, kind := range declared {
		if _, ok := owned[kind]; ok {
			continue
		}
		if k, served := l.s.kinds.Kind(kind); !served || !l.s.inv.Covered(kind, l.s.namespace) && k.Listable {
			continue
		}
		l.add("info", c.origin, 0, 0, "%s: its composition names %s, and none of its %d instances here owns one", gk, declare.Spell(kind), instances)
	}
}

// observed returns how many instances of a kind there are, and the kinds that
// they own by owner references, with an example of each.
func observed(g *graph.Graph, gk schema.GroupKind) (int, map[schema.GroupKind]object.Ref) {
	instances, owned := 0, map[schema.GroupKind]object.Ref{}
	for id := range g.OfKind(gk) {
		if g.State(id) != graph.Present {
			continue
		}
		instances++
		for e := range g.Out(id) {
			if e.Relation != relation.Owns || e.Via != relation.Owner {
				continue
			}
			ref := g.Ref(e.To)
			if _, ok := owned[ref.GroupKind()]; !ok && g.State(e.To) == graph.Present {
				owned[ref.GroupKind()] = ref
			}
		}
	}
	return instances, owned
}
