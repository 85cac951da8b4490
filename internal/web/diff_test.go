package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// apply does with a change what the page does with it.
func apply(old *uistate.State, change *uistate.Delta) *uistate.State {
	out := *old
	if change.Head != nil {
		out = *change.Head
	}
	out.At = change.At
	out.Nodes = slices.Clone(old.Nodes)
	for i, n := range change.Nodes {
		for len(out.Nodes) <= i {
			out.Nodes = append(out.Nodes, nil)
		}
		out.Nodes[i] = n
	}
	stacks := map[string]uistate.Stack{}
	order := change.Order
	for _, s := range old.Stacks {
		stacks[s.Name] = s
		if change.Order == nil {
			order = append(order, s.Name)
		}
	}
	for name, s := range change.Stacks {
		if s == nil {
			delete(stacks, name)
		} else {
			stacks[name] = *s
		}
	}
	out.Stacks = nil
	for _, name := range order {
		if s, ok := stacks[name]; ok {
			out.Stacks = append(out.Stacks, s)
		}
	}
	return &out
}

// written is a UIState as a page has it, without nulls behind the last node.
func written(t *testing.T, p *uistate.State) string {
	t.Helper()
	q := *p
	for len(q.Nodes) > 0 && q.Nodes[len(q.Nodes)-1] == nil {
		q.Nodes = q.Nodes[:len(q.Nodes)-1]
	}
	if len(q.Nodes) == 0 {
		q.Nodes = nil
	}
	if len(q.Stacks) == 0 {
		q.Stacks = nil
	}
	b, err := json.Marshal(&q)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// over sends a value as JSON.
func over[T any](t *testing.T, v T) T {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func some(r *rand.Rand, most int) *int64 {
	if r.IntN(2) == 0 {
		return nil
	}
	n := int64(r.IntN(most))
	return &n
}

func randomNode(r *rand.Rand) *uistate.Node {
	if r.IntN(5) == 0 {
		return nil
	}
	n := &uistate.Node{Kind: r.IntN(3), Name: fmt.Sprint("n", r.IntN(5)), Health: r.IntN(7), Boundary: r.IntN(4) == 0, Created: int64(r.IntN(3))}
	for range r.IntN(3) {
		n.Edges = append(n.Edges, uistate.Edge{To: r.IntN(9), Relation: r.IntN(3), Why: "why"})
		n.Labels = append(n.Labels, r.IntN(3))
		n.Events = append(n.Events, uistate.Event{Reason: "BackOff", Count: r.IntN(4)})
	}
	if r.IntN(2) == 0 {
		n.Usage = &uistate.Usage{CPU: some(r, 5), Memory: some(r, 5)}
	}
	return n
}

func randomStack(r *rand.Rand, name int) uistate.Stack {
	s := uistate.Stack{Name: fmt.Sprint("s", name), Health: r.IntN(3), Cost: some(r, 100)}
	for range r.IntN(4) {
		s.Tree = append(s.Tree, uistate.Position{Node: r.IntN(4), Cost: some(r, 9)})
	}
	if r.IntN(3) == 0 {
		s.Rest = []uistate.Unattributed{{Name: "idle", Cost: 3}}
	}
	return s
}

func randomPicture(r *rand.Rand) *uistate.State {
	p := &uistate.State{Title: "shop", At: fmt.Sprint(r.IntN(1000)), Objects: r.IntN(3)}
	if r.IntN(3) == 0 {
		p.Parts = map[string]string{"cost": "no prices"}
	}
	for range r.IntN(8) {
		p.Nodes = append(p.Nodes, randomNode(r))
	}
	for _, i := range r.Perm(4)[:r.IntN(5)] {
		p.Stacks = append(p.Stacks, randomStack(r, i))
	}
	return p
}

// TestDifferences proves that a page which applies them has what was published, from whatever it
// had before.
func TestDifferences(t *testing.T) {
	changes := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		old, now := randomPicture(r), randomPicture(r)
		before := written(t, old)
		change := Diff(old, now)
		if change == nil {
			now.At = old.At
			if written(t, old) != written(t, now) {
				t.Fatalf("seed %d: nothing leads from %s to %s", seed, before, written(t, now))
			}
			continue
		}
		changes++
		if got, want := written(t, apply(over(t, old), over(t, change))), written(t, now); got != want {
			t.Fatalf("seed %d:\n%s is not\n%s", seed, got, want)
		}
		if written(t, old) != before {
			t.Fatalf("seed %d: Diff changed what it read", seed)
		}
		later := over(t, now)
		later.At = "later"
		if change := Diff(over(t, now), later); change != nil {
			t.Fatalf("seed %d: %+v for nothing", seed, change)
		}
	}
	if changes < 1450 {
		t.Errorf("only %d changes were tried", changes)
	}
}

// TestDifferenceIsSmall has a page of 2,000 nodes, of which one fails.
func TestDifferenceIsSmall(t *testing.T) {
	old := &uistate.State{Title: "shop", Labels: []string{"app=shop"}}
	stack := uistate.Stack{Name: "shop", Roots: []int{0}}
	for i := range 2000 {
		old.Nodes = append(old.Nodes, &uistate.Node{Name: fmt.Sprint("shop-", i), Health: 1, Edges: []uistate.Edge{{To: i / 2, Relation: 1, Via: "owner"}}})
		stack.Tree = append(stack.Tree, uistate.Position{Node: i, Depth: i % 4})
	}
	old.Stacks = []uistate.Stack{stack}
	now := over(t, old)
	now.At = "2026-11-23T06:44:33Z"
	now.Nodes[1234].Health, now.Nodes[1234].Reason, now.Nodes[1234].Message = 6, "CrashLoopBackOff", "back-off 5m0s restarting failed container"
	change := Diff(over(t, old), now)
	b, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) >= 2048 || len(change.Nodes) != 1 || len(change.Stacks) != 0 || change.Head != nil || change.Order != nil {
		t.Errorf("%d bytes: %s", len(b), b[:min(len(b), 500)])
	}
	if !bytes.Contains(b, []byte(`"1234":{`)) {
		t.Errorf("%s", b)
	}
}

func TestDifferenceSays(t *testing.T) {
	old := &uistate.State{Nodes: []*uistate.Node{{Name: "a"}, {Name: "b"}}, Stacks: []uistate.Stack{{Name: "x"}, {Name: "y"}}}
	change := Diff(old, &uistate.State{Title: "t", Nodes: []*uistate.Node{{Name: "a"}, nil, {Name: "c"}}, Stacks: []uistate.Stack{{Name: "y"}}})
	if got := slices.Sorted(maps.Keys(change.Nodes)); !slices.Equal(got, []int{1, 2}) || change.Nodes[1] != nil {
		t.Errorf("nodes %v", got)
	}
	if s, ok := change.Stacks["x"]; !ok || s != nil || len(change.Stacks) != 1 || !slices.Equal(change.Order, []string{"y"}) {
		t.Errorf("stacks %v in order %v", change.Stacks, change.Order)
	}
	if change.Head == nil || change.Head.Title != "t" || change.Head.Nodes != nil || change.Head.Stacks != nil {
		t.Errorf("head %+v", change.Head)
	}
}

func BenchmarkDiff(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	a := &uistate.State{}
	for range 10_000 {
		a.Nodes = append(a.Nodes, randomNode(r))
	}
	text, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	var c uistate.State
	if err := json.Unmarshal(text, &c); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Diff(a, &c)
	}
}
