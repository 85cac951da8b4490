package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// ManualReader reads the data of a manual.
type ManualReader struct {
	*objectReader
	Session    *Session
	Kind       object.Resource
	Definition manual.Definition
	declared   annotations.Declaration
	// installed describes the operator, once it was searched.
	installed     *installed
	instancesRead bool
	Notes         []string
	Gaps          []object.Gap
}

// ManualRequest asks for the manual of a kind: in a version, or in the preferred one, and with the objects
// of the kind or without.
type ManualRequest struct {
	Kind      string
	Version   string
	Instances bool
}

// Manual resolves the kind and fetches its definition.
func (c *Input) Manual(ctx context.Context, q ManualRequest) (*ManualReader, error) {
	s, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	if typ, _, ok := strings.Cut(q.Kind, "/"); ok {
		return nil, hint.With(fmt.Errorf("%q is an object: man shows a kind", q.Kind), "kubectl sysop man "+typ+"; an object is shown by kubectl sysop graph "+q.Kind)
	}
	kind, err := s.Kinds.Find(q.Kind)
	if _, unknown := errors.AsType[*object.UnknownKindError](err); unknown {
		return nil, hint.With(err, "kubectl api-resources lists the kinds of a cluster")
	}
	if err != nil {
		return nil, err
	}
	m, err := newManualReader(ctx, s, kind, q.Instances)
	if err != nil || q.Version == "" {
		return m, err
	}
	version := q.Version[strings.LastIndexByte(q.Version, '/')+1:]
	served := m.Definition.Served()
	if served == nil {
		served = []string{kind.Version}
	}
	if !slices.Contains(served, version) {
		return nil, hint.With(fmt.Errorf("--api-version: %s is not served in version %q", kind, version), "write one of "+strings.Join(served, ", "))
	}
	m.Kind.Version = version
	return m, nil
}

// newManualReader fetches the definition of the kind.
func newManualReader(ctx context.Context, s *Session, kind object.Resource, instances bool) (*ManualReader, error) {
	p, err := NewObjectReader(ctx, s)
	if err != nil {
		return nil, err
	}
	m := &ManualReader{objectReader: p, Session: s, Kind: kind, instancesRead: instances}
	for _, d := range s.Declared {
		if d.CRD == kind.String() {
			m.declared = d
		}
	}
	if !kind.Custom {
		m.note("%s is built in: its fields are described by kubectl explain %s.", kind.Kind, kind)
		return m, nil
	}
	ref := object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: kind.String()}
	found, err := p.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	switch o, ok := found[ref]; {
	case ok:
		m.Definition = manual.NewDefinition(o)
	case p.Refused(DefinitionKind):
		m.note("No permission to read the CRD of %s: kubectl explain %s describes its fields.", kind.Kind, kind)
	case s.Snapshot:
		m.note("The snapshot has no CRD of %s, so its fields are unknown.", kind.Kind)
	default:
		m.note("%s has no CustomResourceDefinition (an aggregated API serves it): kubectl explain %s describes its fields.", kind.Kind, kind)
	}
	return m, nil
}

func (m *ManualReader) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

// Read returns the manual.
func (m *ManualReader) Read(ctx context.Context, choice manual.FieldSelection) (manual.Manual, error) {
	man := manual.Manual{Resource: m.Definition.Resource(m.Kind), Columns: m.Definition.Columns(m.Kind.Version), Running: []manual.Running{}}
	var err error
	if man.Fields, man.FieldsLeftOut, err = manual.Fields(m.Definition.Schema(m.Kind.Version), choice); err != nil {
		return man, err
	}
	if entry, _, ok := catalog.KindOf(m.Kind); ok {
		man.Operator = manual.Operator{Name: entry.Name, Title: entry.Title, Description: entry.Description, Source: entry.Source}
	}
	man.Signals = signalsIn(m.Kind, m.Session.Kinds)
	man.Relationships = manual.Related(m.Kind.GroupKind(), m.statedRules())
	var owned []manual.Owned
	if m.instancesRead {
		if man.Instances, owned, err = m.instances(ctx); err != nil {
			return man, err
		}
	}
	man.Composition = manual.Compose(m.declares(), owned)
	in, err := m.operator(ctx)
	if err != nil {
		return man, err
	}
	man.Running = append(man.Running, in.running...)
	if man.Usage, err = m.usage(ctx); err != nil {
		return man, err
	}
	draft, notes, err := m.Example(ctx)
	if err != nil {
		return man, err
	}
	man.Example = draft.Example
	man.Notes = append(append([]string{}, m.Notes...), notes...)
	m.gather()
	return man, nil
}

// statedRules returns the rules without the inferred ones: those are the same for every kind
// without declarations.
func (m *ManualReader) statedRules() []relation.Rule {
	guessed := false
	rules := slices.DeleteFunc(slices.Clone(m.Session.Rules.Rules()), func(r relation.Rule) bool {
		guessed = guessed || r.Origin == infer.Origin && slices.Contains(r.From, m.Kind.GroupKind())
		return r.Origin == infer.Origin
	})
	if guessed {
		m.note("No rule declares the references of a %s: its references, host names and pod templates are inferred from the shape of its fields.", m.Kind.Kind)
	}
	return rules
}

// declares returns the declared parts of instances.
func (m *ManualReader) declares() []manual.DeclaredParts {
	var all []manual.DeclaredParts
	if m.declared.Composition != nil {
		all = append(all, manual.DeclaredParts{By: "CRD annotation", Kinds: m.declared.Composition})
	}
	if entry, kind, ok := catalog.KindOf(m.Kind); ok {
		d := manual.DeclaredParts{By: entry.Origin()}
		for _, name := range kind.Composes {
			d.Kinds = append(d.Kinds, declare.GroupKind(name))
		}
		all = append(all, d)
	}
	return all
}

// instances counts the objects of the kind, and what they own. It searches the user's namespace for
// a cluster-scoped kind, or all namespaces.
func (m *ManualReader) instances(ctx context.Context) (manual.Instances, []manual.Owned, error) {
	in := m.Session.Namespace
	ask := source.Query{Namespaces: []string{in}}
	switch {
	case in == "":
		ask = source.Query{All: true}
	case !m.Kind.Namespaced:
		ask.Kinds = []schema.GroupKind{m.Kind.GroupKind()}
	}
	if source.LeftOut(m.Kind) {
		ask.Kinds = []schema.GroupKind{m.Kind.GroupKind()}
	}
	roots := func(g *graph.Graph) []graph.ID { return m.Session.Nodes(g, Root{Kind: m.Kind}, nil) }
	g, err := m.Session.Read(ctx, ask, roots, graph.StackOptions{Relations: []relation.Relation{relation.Owns}, NoInferred: true})
	if err != nil {
		return manual.Instances{}, nil, err
	}
	ids := roots(g)
	out := manual.Instances{Namespace: in, Count: len(ids), Complete: true}
	if _, missed := m.Session.GapOf(g, m.Kind, in); missed {
		out.Complete = false
	}
	m.Gaps = g.Gaps()
	return out, ownedBy(g, ids), nil
}

// ownedBy counts what the objects own by kind, with what that owns in turn. Inferred relations do
// not count.
func ownedBy(g *graph.Graph, roots []graph.ID) []manual.Owned {
	counts := map[[2]schema.GroupKind]int{}
	seen := map[graph.ID]bool{}
	for _, id := range roots {
		seen[id] = true
	}
	next := slices.Clone(roots)
	for i := 0; i < len(next); i++ {
		for e := range g.Out(next[i]) {
			if e.Relation != relation.Owns || e.Inferred || seen[e.To] || g.State(e.To) != graph.Present {
				continue
			}
			seen[e.To] = true
			next = append(next, e.To)
			key := [2]schema.GroupKind{g.Ref(e.To).GroupKind()}
			if i >= len(roots) {
				key[1] = g.Ref(next[i]).GroupKind()
			}
			counts[key]++
		}
	}
	var out []manual.Owned
	for key, n := range counts {
		out = append(out, manual.Owned{Kind: key[0], Count: n, Through: key[1]})
	}
	slices.SortFunc(out, func(a, b manual.Owned) int {
		return cmp.Or(cmp.Compare(a.Kind.String(), b.Kind.String()), cmp.Compare(a.Through.String(), b.Through.String()))
	})
	return out
}

// Example returns one that was published with the operator, else one from the schema, and notes
// about others.
func (m *ManualReader) Example(ctx context.Context) (manual.Draft, []string, error) {
	if !m.Definition.Known() {
		return manual.Draft{}, nil, nil
	}
	in, err := m.operator(ctx)
	if err != nil {
		return manual.Draft{}, nil, err
	}
	r := m.Definition.Resource(m.Kind)
	var notes []string
	for _, csv := range in.versions {
		e, wrong := manual.Published(csv, m.Definition, r)
		if e.Object != nil {
			return e, nil, nil
		}
		notes = append(notes, wrong...)
	}
	return manual.Build(m.Definition, r), notes, nil
}

// gather collects the gaps.
func (m *ManualReader) gather() {
	seen := map[object.Gap]bool{}
	for _, g := range m.Gaps {
		seen[g] = true
	}
	for _, g := range slices.SortedFunc(maps.Keys(m.missed), func(a, b object.Gap) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Message, b.Message))
	}) {
		if !seen[g] {
			m.Gaps = append(m.Gaps, g)
		}
	}
}

// ReportGaps prints what could not be read or understood.
func (m *ManualReader) ReportGaps() {
	m.gather()
	m.Session.Input.Report.Gaps(m.Gaps)
	for _, f := range m.Session.Findings {
		if f.CRD == m.Kind.String() {
			m.Session.Input.Report.Warn(f.String())
		}
	}
}
