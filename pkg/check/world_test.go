package check

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// testWorld is a world that was read from YAML, and its definitions.
type testWorld struct {
	*ClusterState
	t           testing.TB
	definitions []*Definition
}

// readWorld reads YAML documents as a cluster in which everything may be read, but for the
// kinds that are named (Secret, NetworkPolicy).
func readWorld(t testing.TB, find func(*ClusterState) []*Operator, text string, unread ...string) *testWorld {
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
	said := map[string][]string{}
	for _, m := range metas {
		d, findings := annotations.Parse(m, kinds)
		rules = append(rules, d.Rules...)
		declared[m.GetName()] = d
		for _, f := range findings {
			said[m.GetName()] = append(said[m.GetName()], f.String())
		}
	}
	b := graph.NewBuilder(relation.NewSet(rules...), kinds)
	facts := NewCollector()
	inv := inventory.New(nil, b.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	})
	sink := &leavingOut{Inventory: inv, kinds: unread}
	if err := snap.Reading(typedDetail).Read(context.Background(), source.Query{All: true}, sink); err != nil {
		t.Fatal(err)
	}
	read := func(gk schema.GroupKind, _ string) bool { return !slices.Contains(unread, gk.Kind) }
	w := &testWorld{ClusterState: NewWorld(b.Build(inv), facts, kinds, read), t: t}
	w.FindOperators = find
	whole := &definitionSink{leavingOut: leavingOut{Inventory: inventory.New(nil)}, w: w}
	if err := snap.Whole().Read(context.Background(), source.Query{All: true}, whole); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(w.definitions, func(a, b *Definition) int { return object.Compare(a.Ref, b.Ref) })
	var refs []object.Ref
	for _, d := range w.definitions {
		refs = append(refs, d.Ref)
	}
	made, err := snap.Creators(context.Background(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range w.definitions {
		d.Creator = made[d.Ref]
		d.Relationships = len(declared[d.CRD.Name].Rules)
		d.Annotations = said[d.CRD.Name]
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
	return w
}

// typedDetail reads built-in kinds as their types, and all others whole.
func typedDetail(r object.Resource) (source.Detail, string) {
	for _, gvk := range slices.Concat(Whole(), relation.Typed()) {
		if gvk.GroupKind() == r.GroupKind() {
			return source.Typed, gvk.Version
		}
	}
	if r.GroupKind() == definitionKind {
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
	w *testWorld
}

func (s *definitionSink) Add(o object.Object) {
	if o.GroupKind() != definitionKind {
		return
	}
	d, err := NewDefinition(s.w.ClusterState, o.Fields())
	if err != nil {
		s.w.t.Error(err)
		return
	}
	s.w.definitions = append(s.w.definitions, d)
}

// definition returns the one of that name.
func (w *testWorld) definition(name string) *Definition {
	w.t.Helper()
	for _, d := range w.definitions {
		if d.CRD.Name == name {
			return d
		}
	}
	w.t.Fatalf("no definition %s", name)
	return nil
}

// stack returns that of a root, written as object.Ref.String does.
func (w *testWorld) stack(root string) *Stack {
	w.t.Helper()
	for n := range w.Graph.Nodes() {
		if n.Ref.String() == root {
			return &Stack{World: w.ClusterState, Ref: n.Ref, Stack: w.Graph.Stack([]graph.ID{n.ID}, graph.StackOptions{})}
		}
	}
	w.t.Fatalf("no object %s", root)
	return nil
}

// subjects are all of the world: its definitions, operators, and the stacks that are found
// in it.
func (w *testWorld) subjects(rules []Rule) []*Subject {
	var out []*Subject
	for _, d := range w.definitions {
		out = append(out, d.Check(rules))
	}
	for _, o := range w.Operators() {
		out = append(out, o.Check(rules))
	}
	for _, found := range w.Graph.FindStacks("", graph.StackOptions{}).Stacks {
		s := &Stack{World: w.ClusterState, Ref: found.Ref(w.Graph), Stack: w.Graph.Stack(found.Roots, graph.StackOptions{})}
		out = append(out, s.Check(rules))
	}
	return out
}

// only asks one rule of a subject.
func only(t testing.TB, rules []Rule, id string, ask func([]Rule) *Subject) *Result {
	t.Helper()
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if at < 0 {
		t.Fatalf("no rule %s", id)
	}
	r := rules[at]
	s := ask([]Rule{r})
	if len(s.Results) == 0 {
		return &Result{Rule: &r}
	}
	return s.Results[0]
}

// folder joins the YAML files of a folder of testdata.
func folder(t testing.TB, name string) string {
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
