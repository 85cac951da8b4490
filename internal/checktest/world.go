// Package checktest makes the cluster states of tests of rules from YAML.
package checktest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// World is a world that was read from YAML, and its definitions.
type World struct {
	*check.ClusterState
	T           testing.TB
	Definitions []*check.Definition
}

// Read reads YAML documents as a cluster in which everything may be read, but for the
// kinds that are named (Secret, NetworkPolicy).
func Read(t testing.TB, find func(*check.ClusterState) []*check.Operator, text string, unread ...string) *World {
	t.Helper()
	snap, err := source.Open("-", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := snap.Kinds(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	metas, err := snap.Definitions(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := relation.BuiltIn()
	declared := map[string]annotations.Declaration{}
	notes := map[string][]string{}
	for _, m := range metas {
		d, findings := annotations.Parse(m, kinds)
		rules = append(rules, d.Rules...)
		declared[m.GetName()] = d
		for _, f := range findings {
			notes[m.GetName()] = append(notes[m.GetName()], f.String())
		}
	}
	b := graph.NewBuilder(relation.NewSet(rules...), kinds)
	facts := check.NewCollector()
	inv := inventory.New(nil, b.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	})
	sink := &leavingOut{Inventory: inv, kinds: unread}
	if err := snap.Reading(TypedDetail).Read(context.Background(), source.Query{All: true}, sink); err != nil {
		t.Fatal(err)
	}
	read := func(gk schema.GroupKind, _ string) bool { return !slices.Contains(unread, gk.Kind) }
	w := &World{ClusterState: check.NewWorld(b.Build(inv), facts, kinds, read), T: t}
	w.FindOperators = find
	whole := &definitionSink{leavingOut: leavingOut{Inventory: inventory.New(nil)}, w: w}
	if err := snap.Whole().Read(context.Background(), source.Query{All: true}, whole); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(w.Definitions, func(a, b *check.Definition) int { return object.Compare(a.Ref, b.Ref) })
	w.declare(snap, declared, notes)
	return w
}

// declare adds what is known of the definitions apart from their content.
func (w *World) declare(snap *source.Snapshot, declared map[string]annotations.Declaration, notes map[string][]string) {
	w.T.Helper()
	var refs []object.Ref
	for _, d := range w.Definitions {
		refs = append(refs, d.Ref)
	}
	creators, err := snap.Creators(context.Background(), refs)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, d := range w.Definitions {
		d.Creator = creators[d.Ref]
		d.Relationships = len(declared[d.CRD.Name].Rules)
		d.Annotations = notes[d.CRD.Name]
		d.Composition = declared[d.CRD.Name].Composition
		if u := declared[d.CRD.Name].Usage; u.ConfigMap != "" {
			if d.Usage, err = snap.Manual(context.Background(), u.Namespace, u.ConfigMap, u.Key); err != nil {
				d.UsageMissing = err.Error()
			}
		}
		for _, o := range w.Operators() {
			if slices.Contains(o.Definitions, d.Ref) {
				d.Operator = o
			}
		}
	}
}

// TypedDetail reads built-in kinds as their types, and all others whole.
func TypedDetail(r object.Resource) (source.Detail, string) {
	for _, gvk := range slices.Concat(check.Whole(), relation.Typed()) {
		if gvk.GroupKind() == r.GroupKind() {
			return source.Typed, gvk.Version
		}
	}
	if r.GroupKind() == check.DefinitionKind {
		return source.Metadata, ""
	}
	return source.Fields, ""
}

// leavingOut is an inventory that does not get some kinds.
type leavingOut struct {
	*inventory.Inventory
	kinds []string
}

func (l *leavingOut) Add(o object.Object) {
	if !slices.Contains(l.kinds, o.Kind) {
		l.Inventory.Add(o)
	}
}

func (l *leavingOut) Cover(gk schema.GroupKind, ns string) {
	if !slices.Contains(l.kinds, gk.Kind) {
		l.Inventory.Cover(gk, ns)
	}
}

// definitionSink keeps the definitions.
type definitionSink struct {
	leavingOut
	w *World
}

func (s *definitionSink) Add(o object.Object) {
	if o.GroupKind() != check.DefinitionKind {
		return
	}
	d, err := check.NewDefinition(s.w.ClusterState, o.Fields())
	if err != nil {
		s.w.T.Error(err)
		return
	}
	s.w.Definitions = append(s.w.Definitions, d)
}

// Definition returns the one of that name.
func (w *World) Definition(name string) *check.Definition {
	w.T.Helper()
	for _, d := range w.Definitions {
		if d.CRD.Name == name {
			return d
		}
	}
	w.T.Fatalf("no definition %s", name)
	return nil
}

// Stack returns that of a root, written as object.Ref.String does.
func (w *World) Stack(root string) *check.Stack {
	w.T.Helper()
	for n := range w.Graph.Nodes() {
		if n.Ref.String() == root {
			return &check.Stack{World: w.ClusterState, Ref: n.Ref, Stack: w.Graph.Stack([]graph.ID{n.ID}, graph.StackOptions{})}
		}
	}
	w.T.Fatalf("no object %s", root)
	return nil
}

// Subjects are all of the world: its definitions, operators, and the stacks that are found
// in it.
func (w *World) Subjects(rules []check.Rule) []*check.Subject {
	var out []*check.Subject
	for _, d := range w.Definitions {
		out = append(out, d.Check(rules))
	}
	for _, o := range w.Operators() {
		out = append(out, o.Check(rules))
	}
	for _, found := range w.Graph.FindStacks("", graph.StackOptions{}).Stacks {
		s := &check.Stack{World: w.ClusterState, Ref: found.Ref(w.Graph), Stack: w.Graph.Stack(found.Roots, graph.StackOptions{})}
		out = append(out, s.Check(rules))
	}
	return out
}

// Only asks one rule of a subject.
func Only(t testing.TB, rules []check.Rule, id string, ask func([]check.Rule) *check.Subject) *check.Result {
	t.Helper()
	at := slices.IndexFunc(rules, func(r check.Rule) bool { return r.ID == id })
	if at < 0 {
		t.Fatalf("no rule %s", id)
	}
	r := rules[at]
	s := ask([]check.Rule{r})
	if len(s.Results) == 0 {
		return &check.Result{Rule: &r}
	}
	return s.Results[0]
}

// Directory returns the YAML files of a directory of testdata, joined.
func Directory(t testing.TB, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(name, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", name, err)
	}
	var all []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, "\n---\n")
}
