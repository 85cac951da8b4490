package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// twins are what graph.Path says of some graphs: ui/src/path.ts is held to them by
// ui/test/twins.test.mjs. SYSOP_UPDATE=1 writes them.
const twins = "../../ui/test/fixtures/twins.json"

// twin is a graph as a UIState has it, and the answers.
type twin struct {
	Kinds      []uistate.Kind  `json:"kinds"`
	Namespaces []string        `json:"namespaces"`
	Nodes      []*uistate.Node `json:"nodes"`
	// Paths are of two nodes, and the steps: [from, number of the edge there, 1 if against]; null for none.
	Paths []twinPath `json:"paths"`
}

type twinPath struct {
	Ends  [2]int   `json:"ends"`
	Steps [][3]int `json:"steps"`
}

func TestTwins(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 10))
	all := []*twin{twinOf(t, demoGraph(t), random, 500)}
	for range 40 {
		all = append(all, twinOf(t, randomGraph(random), random, 30))
	}
	var got bytes.Buffer
	got.WriteString("[\n")
	for i, one := range all {
		line, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			got.WriteString(",\n")
		}
		got.Write(line)
	}
	got.WriteString("\n]\n")
	if os.Getenv("SYSOP_UPDATE") != "" {
		if err := os.WriteFile(twins, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(twins)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not what the graph says: SYSOP_UPDATE=1 writes it", twins)
	}
}

func demoGraph(t *testing.T) *graph.Graph {
	t.Helper()
	in := demoInput()
	in.AllNamespaces = true
	v := in.NewPage(&MetricsRequest{Options: cost.Options{Sharing: cost.ShareEven}, Brief: true, Book: cost.DefaultBook()}, nil)
	if err := v.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v.Last.Graph
}

// twinRules are all that an edge may be to a path.
var twinRules = []relation.Rule{
	{Name: "owns", Relation: relation.Owns, Via: relation.Owner},
	{Name: "made", Relation: relation.Owns, Via: relation.Spec},
	{Name: "needs", Relation: relation.Needs, Via: relation.Spec},
	{Name: "serves", Relation: relation.Serves, Via: relation.Label},
	{Name: "reads", Relation: relation.Needs, Via: relation.Spec, Terminal: true},
	{Name: "manages", Relation: relation.Owns, Via: relation.Label, Manages: true},
	{Name: "regards", Relation: relation.Needs, Via: relation.Spec, Peer: true},
}

// randomGraph has objects that are there, that are missing and that nobody read, and a Node, with
// edges of all rules between them.
func randomGraph(random *rand.Rand) *graph.Graph {
	said := map[string]map[object.Ref][]relation.Link{}
	things := make([]object.Ref, 6+random.IntN(10))
	for i := range things {
		things[i] = object.Ref{Group: "test", Kind: string(rune('C' - random.IntN(3))), Namespace: fmt.Sprint("ns", random.IntN(2)), Name: fmt.Sprint("x", i)}
	}
	things[0] = object.Ref{Kind: "Node", Name: "node"}
	for range 2 * len(things) {
		from, to, rule := things[random.IntN(len(things))], things[random.IntN(len(things))], twinRules[random.IntN(len(twinRules))].Name
		if said[rule] == nil {
			said[rule] = map[object.Ref][]relation.Link{}
		}
		said[rule][from] = append(said[rule][from], relation.Link{
			Target: relation.Target{Kind: to.GroupKind(), Namespace: to.Namespace, Name: to.Name}, Field: "spec." + rule, Value: to.Name,
			Optional: random.IntN(4) == 0, Inferred: random.IntN(4) == 0,
		})
	}
	rules := slices.Clone(twinRules)
	for i := range rules {
		links := said[rules[i].Name]
		rules[i].Links = func(o object.Object, emit relation.EmitFunc) {
			for _, l := range links[o.Ref] {
				emit(l)
			}
		}
	}
	kinds := []object.Resource{{Version: "v1", Kind: "Node", Plural: "nodes"}}
	for _, kind := range []string{"A", "B", "C"} {
		kinds = append(kinds, object.Resource{Group: "test", Version: "v1", Kind: kind, Plural: kind + "s", Namespaced: true})
	}
	b := graph.NewBuilder(relation.NewSet(rules...), object.NewKinds(kinds))
	inv := inventory.New(nil, b.Extract)
	for i, r := range things {
		switch i % 7 {
		case 3:
			inv.Absent(r)
		case 5: // nobody looked
		default:
			inv.Add(object.Object{Ref: r, Version: "v1", Meta: &metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, UID: apitypes.UID("uid-" + r.String())}})
		}
	}
	return b.Build(inv)
}

// twinOf numbers the nodes at random: a page that has lived has them in no order.
func twinOf(t *testing.T, g *graph.Graph, random *rand.Rand, pairs int) *twin {
	t.Helper()
	var ids []graph.ID
	for n := range g.Nodes() {
		ids = append(ids, n.ID)
	}
	assessment := health.Assess(g, func(graph.ID) (health.Health, bool) { return health.Health{}, false })
	stack := g.Stack(ids, graph.StackOptions{})
	p := uistate.New(uistate.Input{
		Graph: g, Assessment: assessment, Stacks: []uistate.Found{{Name: g.Ref(0), Stack: stack, Health: assessment.Stack(stack)}},
	}, uistate.NewNumbering())
	if len(p.Nodes) != g.Len() {
		t.Fatalf("%d nodes of %d", len(p.Nodes), g.Len())
	}
	number := random.Perm(len(p.Nodes)) // by node: they are numbered in the order of the graph before
	tw := &twin{Kinds: p.Kinds, Namespaces: p.Namespaces, Nodes: make([]*uistate.Node, len(p.Nodes))}
	edges := map[graph.Edge][2]int{}
	for id, n := range p.Nodes {
		if r := g.Ref(graph.ID(id)); r.Name != n.Name || r.Kind != p.Kinds[n.Kind].Kind {
			t.Fatalf("node %d is %s", id, n.Name)
		}
		slim := &uistate.Node{Kind: n.Kind, Namespace: n.Namespace, Name: n.Name, State: n.State, Boundary: n.Boundary}
		for e := range g.Out(graph.ID(id)) {
			at := slices.IndexFunc(n.Edges, func(o uistate.Edge) bool { return p.Rules[o.Rule] == e.Rule && samePictured(o, e) })
			if at < 0 {
				t.Fatalf("an edge of %s is in no Picture: %v", n.Name, e)
			}
			edges[e] = [2]int{number[id], at}
		}
		for _, e := range n.Edges {
			e.To, e.Why, e.Rule = number[e.To], "", 0
			slim.Edges = append(slim.Edges, e)
		}
		tw.Nodes[number[id]] = slim
	}
	for range pairs {
		from, to := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))]
		steps, found := g.Path(from, to, graph.StackOptions{})
		tp := twinPath{Ends: [2]int{number[from], number[to]}}
		if found {
			tp.Steps = [][3]int{}
		}
		for _, s := range steps {
			at := edges[s.Edge]
			tp.Steps = append(tp.Steps, [3]int{at[0], at[1], one(s.Against)})
		}
		tw.Paths = append(tw.Paths, tp)
	}
	return tw
}

// samePictured tells edges of one rule apart as a UIState does: by what says so, which is cut where
// it is long, and of an owner without its UID.
func samePictured(p uistate.Edge, e graph.Edge) bool {
	said := e.Why()
	if e.Via == relation.Owner {
		said = e.Field
	}
	return p.To == int(e.To) && p.Inferred == e.Inferred && p.Optional == e.Optional && (p.Why == said || strings.HasSuffix(p.Why, "…") && strings.HasPrefix(said, strings.TrimSuffix(p.Why, "…")))
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
