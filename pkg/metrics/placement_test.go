package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// system is two applications with one database, and what belongs to neither.
const system = `
App.test/web/a owns Deployment.apps/web/a
Deployment.apps/web/a owns ReplicaSet.apps/web/a-1
ReplicaSet.apps/web/a-1 owns Pod/web/a-1-x
App.test/web/a needs Db.test/data/d
App.test/web/b owns Deployment.apps/web/b
Deployment.apps/web/b owns Pod/web/b-x
App.test/web/b needs Db.test/data/d
App.test/web/b needs PersistentVolumeClaim/web/b
Db.test/data/d owns StatefulSet.apps/data/d
StatefulSet.apps/data/d owns Pod/data/d-0
StatefulSet.apps/data/d owns PersistentVolumeClaim/data/d-0
ReplicaSet.apps/web/lone owns Pod/web/lone-x
Service/web/front serves Pod/web/a-1-x
Node/n owns Pod/web/static
`

// graphOf builds the graph of lines of "A owns B". Objects in instances carry that
// label.
func graphOf(t testing.TB, words string, instances map[string]string) *graph.Graph {
	t.Helper()
	type said struct {
		how string
		to  object.Ref
	}
	says, order, known := map[object.Ref][]said{}, []object.Ref{}, map[object.Ref]bool{}
	var kinds []object.Resource
	add := func(id string) object.Ref {
		r := ref(t, id)
		if !known[r] {
			known[r] = true
			order = append(order, r)
			kinds = append(kinds, object.Resource{Group: r.Group, Version: "v1", Kind: r.Kind, Plural: strings.ToLower(r.Kind) + "s", Namespaced: r.Namespace != "", Custom: r.Group == "test"})
		}
		return r
	}
	for line := range strings.Lines(words) {
		if f := strings.Fields(line); len(f) == 3 {
			from := add(f[0])
			says[from] = append(says[from], said{f[1], add(f[2])})
		}
	}
	var rules []relation.Rule
	for _, r := range relation.Relations() {
		via := map[relation.Relation]relation.Via{relation.Owns: relation.Owner, relation.Needs: relation.Spec, relation.Serves: relation.Label}[r]
		rules = append(rules, relation.Rule{Name: "test-" + r.String(), Relation: r, Via: via, Links: func(o object.Object, emit relation.EmitFunc) {
			for _, s := range says[o.Ref] {
				if s.how == r.String() {
					emit(relation.Link{Target: relation.Target{Kind: s.to.GroupKind(), Namespace: s.to.Namespace, Name: s.to.Name}, Field: "spec", Value: s.to.Name})
				}
			}
		}})
	}
	b := graph.NewBuilder(relation.NewSet(rules...), object.NewKinds(kinds))
	inv := inventory.New(nil, b.Extract)
	for _, r := range order {
		meta := &metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace}
		if v, ok := instances[r.String()]; ok {
			meta.Labels = map[string]string{"app.kubernetes.io/instance": v}
		}
		inv.Add(object.Object{Ref: r, Version: "v1", Meta: meta})
	}
	return b.Build(inv)
}

func ref(t testing.TB, id string) object.Ref {
	t.Helper()
	r, err := object.ParseRef(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func stacksOf(t testing.TB, g *graph.Graph, ids string) []metrics.Stack {
	t.Helper()
	var out []metrics.Stack
	for id := range strings.FieldsSeq(ids) {
		n, ok := g.Find(ref(t, id))
		if !ok {
			t.Fatalf("no %s", id)
		}
		out = append(out, metrics.Stack{Ref: g.Ref(n), Roots: []graph.ID{n}})
	}
	return out
}

// write is a place in one line.
func write(p metrics.Path, ok bool) string {
	if !ok {
		return "nowhere"
	}
	return fmt.Sprintf("%v by %v", p.Stacks, p.Path)
}

// Who makes a Secret for an application is in its stack, and does not cost it anything.
func TestMakersCostNothing(t *testing.T) {
	g := graphOf(t, `
Deployment.apps/web/a owns Pod/web/a-x
Deployment.apps/web/a needs Secret/web/login
Db.test/web/d owns Secret/web/login
Db.test/web/d owns Pod/web/d-0
Db.test/web/d needs PersistentVolumeClaim/web/d
`, nil)
	app, db, pod, gone := ref(t, "Deployment.apps/web/a"), ref(t, "Db.test/web/d"), ref(t, "Pod/web/d-0"), ref(t, "Pod/web/d-gone")
	claim := ref(t, "PersistentVolumeClaim/web/d")
	r := &metrics.UsageReport{
		Pods:   []metrics.Pod{{Ref: ref(t, "Pod/web/a-x")}, {Ref: pod}, {Ref: gone, Owners: []object.Ref{db}}},
		Claims: []metrics.Claim{{Ref: claim}},
	}
	alone := metrics.NewPlacement(g, stacksOf(t, g, app.String()), r, graph.StackOptions{})
	for _, thing := range []object.Ref{pod, gone, claim} {
		if place, ok := alone.Of[thing]; ok {
			t.Errorf("%s is charged to %v", thing, place.Stacks)
		}
	}
	both := metrics.NewPlacement(g, stacksOf(t, g, app.String()+" "+db.String()), r, graph.StackOptions{})
	for _, thing := range []object.Ref{pod, gone, claim} {
		if got := both.Of[thing].Stacks; len(got) != 1 || got[0] != db {
			t.Errorf("%s is charged to %v, want %s", thing, got, db)
		}
	}
	if apexes := g.TopOwners([]graph.ID{stacksOf(t, g, pod.String())[0].Roots[0], stacksOf(t, g, app.String())[0].Roots[0]}, graph.StackOptions{}); len(apexes) != 2 {
		t.Errorf("apexes %v: the maker is a stack of its own", apexes)
	}
}

func TestPlaces(t *testing.T) {
	const both = "App.test/web/b App.test/web/a"
	for name, c := range map[string]struct{ stacks, thing, want string }{
		"a pod, without its ReplicaSet": {both, "Pod/web/a-1-x", "[App.test/web/a] by [App.test/web/a Deployment.apps/web/a]"},
		"what both need":                {both, "Pod/data/d-0", "[App.test/web/a App.test/web/b] by [Db.test/data/d StatefulSet.apps/data/d]"},
		"a claim of what both need":     {both, "PersistentVolumeClaim/data/d-0", "[App.test/web/a App.test/web/b] by [Db.test/data/d StatefulSet.apps/data/d]"},
		"what one needs":                {"App.test/web/a", "Pod/data/d-0", "[App.test/web/a] by [Db.test/data/d StatefulSet.apps/data/d]"},
		"a claim that nobody owns":      {both, "PersistentVolumeClaim/web/b", "[App.test/web/b] by []"},
		"a root within":                 {"Deployment.apps/web/a", "Pod/web/a-1-x", "[Deployment.apps/web/a] by [Deployment.apps/web/a]"},
		"a root at the bottom":          {"Pod/web/a-1-x", "Pod/web/a-1-x", "[Pod/web/a-1-x] by []"},
		"a ReplicaSet at the top":       {"ReplicaSet.apps/web/lone", "Pod/web/lone-x", "[ReplicaSet.apps/web/lone] by [ReplicaSet.apps/web/lone]"},
		"a pod of nobody's":             {both, "Pod/web/lone-x", "nowhere"},
		"a static pod":                  {"Pod/web/static", "Pod/web/static", "[Pod/web/static] by []"},
		"who serves":                    {both, "Service/web/front", "[App.test/web/a] by []"},
		"no stacks":                     {"", "Pod/web/a-1-x", "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, system, nil)
			thing := ref(t, c.thing)
			r := &metrics.UsageReport{}
			switch thing.Kind {
			case "Pod":
				r.Pods = []metrics.Pod{{Ref: thing}}
			case "Service":
				r.LoadBalancers = []metrics.LoadBalancer{{Service: thing}}
			default:
				r.Claims = []metrics.Claim{{Ref: thing}}
			}
			p := metrics.NewPlacement(g, stacksOf(t, g, c.stacks), r, graph.StackOptions{})
			got, ok := p.Of[thing]
			if write(got, ok) != c.want {
				t.Errorf("%s, want %s", write(got, ok), c.want)
			}
		})
	}
}

func TestPlacesOfPodsThatAreGone(t *testing.T) {
	const both = "App.test/web/a App.test/web/b"
	owners := func(ids string) []object.Ref {
		var out []object.Ref
		for id := range strings.FieldsSeq(ids) {
			out = append(out, ref(t, id))
		}
		return out
	}
	for name, c := range map[string]struct {
		owners, instance string
		want             string
	}{
		"a ReplicaSet that is there":      {"ReplicaSet.apps/web/a-1 Deployment.apps/web/a", "", "[App.test/web/a] by [App.test/web/a Deployment.apps/web/a]"},
		"one that is gone":                {"ReplicaSet.apps/web/a-0 Deployment.apps/web/a", "", "[App.test/web/a] by [App.test/web/a Deployment.apps/web/a]"},
		"of what both need":               {"StatefulSet.apps/data/d", "", "[App.test/web/a App.test/web/b] by [Db.test/data/d StatefulSet.apps/data/d]"},
		"all owners are gone":             {"ReplicaSet.apps/web/z-0 Deployment.apps/web/z", "", "nowhere"},
		"an owner that no stack holds":    {"ReplicaSet.apps/web/lone", "shop", "nowhere"},
		"by its instance label":           {"Job.batch/web/gone", "shop", "[App.test/web/b] by []"},
		"the label of two stacks":         {"", "common", "nowhere"},
		"a label of nobody's":             {"", "other", "nowhere"},
		"no owner, no label":              {"", "", "nowhere"},
		"a custom resource that is there": {"App.test/web/a", "", "[App.test/web/a] by [App.test/web/a]"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, system, map[string]string{"Deployment.apps/web/b": "shop", "App.test/web/a": "common", "App.test/web/b": "common"})
			gone := metrics.Pod{Ref: ref(t, "Pod/web/gone"), Gone: true, Owners: owners(c.owners)}
			if c.instance != "" {
				gone.Labels = map[string]string{"app.kubernetes.io/instance": c.instance}
			}
			p := metrics.NewPlacement(g, stacksOf(t, g, both), &metrics.UsageReport{Pods: []metrics.Pod{gone}}, graph.StackOptions{})
			got, ok := p.Of[gone.Ref]
			if write(got, ok) != c.want {
				t.Errorf("%s, want %s", write(got, ok), c.want)
			}
		})
	}
}

// BenchmarkPlacement finds the stacks of 10,000 pods, of 1,000 applications and 50
// databases that they share, and places the pods.
func BenchmarkPlacement(b *testing.B) {
	var words strings.Builder
	r := &metrics.UsageReport{}
	pod := func(name string) string {
		r.Pods = append(r.Pods, metrics.Pod{Ref: object.Ref{Kind: "Pod", Namespace: "web", Name: name}})
		return "Pod/web/" + name
	}
	for i := range 1000 {
		fmt.Fprintf(&words, "App.test/web/a%d owns Deployment.apps/web/a%d\nDeployment.apps/web/a%d owns ReplicaSet.apps/web/a%d\n", i, i, i, i)
		fmt.Fprintf(&words, "Deployment.apps/web/a%d needs Service/web/d%d\n", i, i%50)
		for j := range 9 {
			fmt.Fprintf(&words, "ReplicaSet.apps/web/a%d owns %s\n", i, pod(fmt.Sprintf("a%d-%d", i, j)))
		}
	}
	for i := range 50 {
		for j := range 20 {
			p := pod(fmt.Sprintf("d%d-%d", i, j))
			fmt.Fprintf(&words, "StatefulSet.apps/web/d%d owns %s\nService/web/d%d serves %s\n", i, p, i, p)
		}
	}
	g := graphOf(b, words.String(), nil)
	b.ReportAllocs()
	for b.Loop() {
		var pods []graph.ID
		for i := range r.Pods {
			id, _ := g.Find(r.Pods[i].Ref)
			pods = append(pods, id)
		}
		var stacks []metrics.Stack
		for _, id := range g.TopOwners(pods, graph.StackOptions{}) {
			stacks = append(stacks, metrics.Stack{Ref: g.Ref(id), Roots: []graph.ID{id}})
		}
		if p := metrics.NewPlacement(g, stacks, r, graph.StackOptions{}); len(p.Stacks) != 1000 || len(p.Of) != 10_000 {
			b.Fatalf("%d stacks, %d places", len(p.Stacks), len(p.Of))
		}
	}
}
