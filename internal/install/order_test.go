package install

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestOrderRefusesLoops(t *testing.T) {
	a := operatorPart(t, "a", "Alpha", "a.example.com")
	b := operatorPart(t, "b", "Beta", "b.example.com")
	c := operatorPart(t, "c", "Gamma", "c.example.com")
	a.Needs = []string{"b"}
	b.Rendered.Objects = append(b.Rendered.Objects, planCustom(t, "Gamma", "c.example.com", "b-system", "x"))
	c.Needs = []string{"a"}
	free := operatorPart(t, "free", "Delta", "d.example.com")
	p := NewPlan(Install, Installation{Name: "x", Namespace: "x", System: true}, []*Part{a, b, c, free}, emptyState(), planOptions)
	wantRefusal(t, p, "dependants", "a needs b, b needs c (it provides Gamma.c.example.com), c needs a")
	for _, n := range []string{"a", "b", "c", "free"} {
		if !slices.Contains(stepIDs(p), "release/"+n+"-system/"+n) {
			t.Errorf("no step for %s", n)
		}
	}
	if p.Parts[0] != free {
		t.Error("what is in no loop comes first")
	}
}

func TestOrderRefusesParts(t *testing.T) {
	in := Installation{Name: "x", Namespace: "x", System: true}
	a, b := operatorPart(t, "a", "Alpha", "a.example.com"), operatorPart(t, "a", "Beta", "b.example.com")
	wantRefusal(t, NewPlan(Install, in, []*Part{a, b}, emptyState(), planOptions), "release", "two parts have the name a")

	b.Name = "b"
	wantRefusal(t, NewPlan(Install, in, []*Part{a, b}, emptyState(), planOptions), "release", "a and b would use the same release, a in a-system")
	wantRefusal(t, NewPlan(Install, in, []*Part{a, b}, emptyState(), planOptions), "ownership", "a and b would both create Deployment.apps/a-system/a")

	a.Needs = []string{"nobody"}
	wantRefusal(t, NewPlan(Install, in, []*Part{a}, emptyState(), planOptions), "dependants", "a needs nobody, which is not part of this installation")

	c := operatorPart(t, "c", "Beta", "b.example.com")
	c.Rendered.Definitions[0] = planDefinition(t, "Beta", "b.example.com", "other: string")
	wantRefusal(t, NewPlan(Install, in, []*Part{b, c}, emptyState(), planOptions), "definitions", "b and c both provide betas.b.example.com, with different content")
}

// randomParts makes packages and apps that need each other at random, without loops but in
// any order; with loops, if asked.
func randomParts(t *testing.T, r *rand.Rand, loops bool) []*Part {
	n := 1 + r.IntN(9)
	var parts []*Part
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		p := operatorPart(t, name, fmt.Sprintf("Kind%d", i), fmt.Sprintf("g%d.example.com", i))
		for j := range n {
			if j == i || j > i && !loops || r.IntN(4) > 0 {
				continue
			}
			switch r.IntN(3) {
			case 0:
				p.Needs = append(p.Needs, fmt.Sprintf("p%d", j))
			case 1:
				p.Rendered.Objects = append(p.Rendered.Objects, planCustom(t, fmt.Sprintf("Kind%d", j), fmt.Sprintf("g%d.example.com", j), p.Namespace, name))
			default:
				from := object.Ref{Group: "apps", Kind: "Deployment", Namespace: fmt.Sprintf("p%d-system", j), Name: fmt.Sprintf("p%d", j)}
				p.Connections = append(p.Connections, connection.Connection{Name: fmt.Sprintf("p%d", j), From: from, Path: "status.observedGeneration", To: object.RefOf(p.Rendered.Objects[0]), Field: fmt.Sprintf(`metadata.labels["l%d"]`, j)})
			}
		}
		if r.IntN(3) == 0 {
			p.Rendered.Namespaces = append(p.Rendered.Namespaces, planObject(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: shared-%d}}", r.IntN(3))))
		}
		if r.IntN(4) == 0 {
			p.Rendered = &chart.Rendered{}
			p.Connections = nil
		}
		parts = append(parts, p)
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

func TestMakeProperties(t *testing.T) {
	in := Installation{Name: "random", Namespace: "random", System: true}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		parts := randomParts(t, r, false)
		p := NewPlan(Install, in, parts, emptyState(), planOptions)
		if len(p.Refusals) > 0 {
			t.Fatalf("seed %d: %s", seed, refusalTexts(p))
		}
		checkOrder(t, seed, p)
		checkOnce(t, seed, p)
		if again := NewPlan(Install, in, parts, emptyState(), planOptions); !slices.Equal(stepIDs(again), stepIDs(p)) || again.Fingerprint != p.Fingerprint {
			t.Fatalf("seed %d: the same input gives another plan", seed)
		}
		s := doPlan(t, emptyState(), p)
		if after := NewPlan(Install, in, parts, s, planOptions); len(after.Steps)+len(after.Refusals) > 0 || len(after.Unchanged) != len(parts) {
			t.Fatalf("seed %d: done, and still to do: %v %s", seed, stepIDs(after), refusalTexts(after))
		}
		o := planOptions
		o.Before, o.DeleteDefinitions = statesOf(s, p), true
		gone := doPlan(t, s, NewPlan(Uninstall, in, parts, s, o))
		if len(gone.Releases)+len(gone.Definitions) > 0 {
			t.Fatalf("seed %d: uninstalled, and there are %d releases and %d definitions", seed, len(gone.Releases), len(gone.Definitions))
		}
	}
}

// checkOrder says that everything of a part comes after the gate of what it needs.
func checkOrder(t *testing.T, seed uint64, p *Plan) {
	t.Helper()
	first, last := map[string]int{}, map[string]int{}
	for i, s := range p.Steps {
		if _, have := first[s.Part]; !have {
			first[s.Part] = i
		}
		last[s.Part] = i
	}
	o := orderOf(p.Parts)
	for i, part := range p.Parts {
		for at := range o.needs[i] {
			if need := p.Parts[at].Name; first[part.Name] <= last[need] {
				t.Fatalf("seed %d: %s begins at %d, and %s, which it needs, ends at %d: %v", seed, part.Name, first[part.Name], need, last[need], stepIDs(p))
			}
		}
	}
}

// checkOnce says that each object is made by exactly one step, and that no two steps have one ID.
func checkOnce(t *testing.T, seed uint64, p *Plan) {
	t.Helper()
	made, ids := map[object.Ref]int{}, map[string]bool{}
	for _, s := range p.Steps {
		if ids[s.ID] {
			t.Fatalf("seed %d: two steps are %s", seed, s.ID)
		}
		ids[s.ID] = true
		if s.Kind != Await {
			for _, ref := range s.Objects {
				made[ref]++
			}
		}
	}
	want := map[object.Ref]int{}
	for _, part := range p.Parts {
		r := rendered(part)
		want[object.Ref{Kind: "Namespace", Name: part.Namespace}] = 1
		for _, us := range [][]*unstructured.Unstructured{r.Objects, r.Definitions, r.Namespaces} {
			for _, u := range us {
				want[object.RefOf(u)] = 1
			}
		}
	}
	if !maps.Equal(made, want) {
		t.Fatalf("seed %d: made %v, want %v", seed, made, want)
	}
}

func TestMakeRefusalsKeepSteps(t *testing.T) {
	in := Installation{Name: "random", Namespace: "random", System: true}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 88))
		parts := randomParts(t, r, true)
		s := emptyState()
		for _, p := range parts {
			for _, u := range rendered(p).Objects {
				if r.IntN(3) == 0 {
					s.Namespaces[u.GetNamespace()] = "Active"
					s.Objects[object.RefOf(u)] = u // nobody's
				}
			}
		}
		p := NewPlan(Install, in, parts, s, planOptions)
		for _, part := range parts {
			if !slices.Contains(stepIDs(p), "release/"+part.Namespace+"/"+part.Release) {
				t.Fatalf("seed %d: %s has no step; refused: %s", seed, part.Name, refusalTexts(p))
			}
		}
		foreign := 0
		for _, f := range p.Refusals {
			if f.Topic == "ownership" {
				foreign++
			}
			if f.Message == "" {
				t.Fatalf("seed %d: a refusal says nothing: %+v", seed, f)
			}
		}
		if foreign != len(s.Objects) {
			t.Fatalf("seed %d: %d objects are nobody's, and %d are refused:\n%s", seed, len(s.Objects), foreign, refusalTexts(p))
		}
	}
}
