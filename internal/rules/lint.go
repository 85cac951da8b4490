package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// linter collects findings.
type linter struct {
	Linted
	defs *lint.Definitions
}

// LintRequest says which rules are checked, and against what.
type LintRequest struct {
	Files []string // of rules, health rules or catalog entries; none for what the cluster declares and the catalog
	CRDs  string   // a directory of definitions in place of the cluster
}

// Linted is what Lint found, the worst first.
type Linted struct {
	Findings    []view.LintFinding
	Relations   int
	HealthRules int // of files
	// Session and Graph are those of the cluster; nil where a directory has the definitions.
	Session *app.Session
	Graph   *graph.Graph
}

// Gaps are what could not be read of the cluster.
func (r *Linted) Gaps() []object.Gap {
	if r.Graph == nil {
		return nil
	}
	return r.Graph.Gaps()
}

// Lint checks relationship rules and health rules.
func Lint(ctx context.Context, in *app.Input, q *LintRequest) (*Linted, error) {
	l := &linter{}
	checks, err := l.files(ctx, q.Files)
	if err != nil {
		return nil, err
	}
	if q.CRDs != "" {
		err = l.checkDirectory(q, checks)
	} else {
		err = l.checkCluster(ctx, in, q, checks)
	}
	l.order()
	return &l.Linted, err
}

// checkDirectory checks against the definitions of a directory, without a cluster.
func (l *linter) checkDirectory(q *LintRequest, checks []checked) error {
	var err error
	if l.defs, err = app.DefinitionsIn(q.CRDs); err != nil {
		return err
	}
	if len(q.Files) == 0 {
		for _, e := range catalog.All() {
			if app.DefinesKind(l.defs, &e) {
				checks = append(checks, checkedEntry(e.Origin(), e))
			}
		}
	}
	for _, c := range checks {
		l.Relations += len(c.specs)
		l.fields(c)
	}
	return nil
}

// checkCluster checks against the cluster, or a snapshot.
func (l *linter) checkCluster(ctx context.Context, in *app.Input, q *LintRequest, checks []checked) error {
	var err error
	if l.Session, err = in.Open(ctx); err != nil {
		return err
	}
	if len(q.Files) == 0 {
		checks = l.known()
	}
	if l.Graph, err = l.Session.Survey(ctx); err != nil {
		return err
	}
	in.Report.Gaps(l.Graph.Gaps())
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
	if l.defs, err = l.Session.FieldDefinitions(ctx, wanted); err != nil {
		return err
	}
	for _, c := range checks {
		l.check(c)
	}
	l.compositions(checks)
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
	l.Findings = append(l.Findings, view.LintFinding{Severity: severity, Origin: origin, Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// order sorts the findings, the worst first, each once: several relations of the catalog may read one
// path.
func (l *linter) order() {
	rank := map[string]int{"error": 0, "warning": 1, "info": 2}
	slices.SortStableFunc(l.Findings, func(a, b view.LintFinding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	l.Findings = slices.Compact(l.Findings)
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
			l.HealthRules += len(c.health)
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
	for _, f := range l.Session.Findings {
		l.add("error", "CRD "+f.CRD+" "+f.Annotation, f.Line, f.Column, "%s", f.Message)
	}
	var all []checked
	for _, d := range l.Session.Declared {
		c := checked{origin: "CRD " + d.CRD, specs: d.Specs, composed: map[schema.GroupKind][]schema.GroupKind{}}
		for i := range c.specs {
			c.specs[i].Line, c.specs[i].Column = 0, 0
		}
		if d.Composition != nil {
			c.composed[d.Kind] = d.Composition
		}
		all = append(all, c)
	}
	for _, e := range catalog.Of(l.Session.Kinds) {
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
		l.Relations++
		if c.catalogue {
			continue
		}
		for _, p := range app.Unserved([]declare.Spec{*s}, l.Session.Kinds) {
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
