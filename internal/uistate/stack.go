package uistate

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// stack makes a stack of the State.
func (b *stateBuilder) stack(f *Found) Stack {
	s := Stack{
		Name: f.Name.String(), Namespace: f.Name.Namespace, GroupedBy: f.By, Roots: []int{}, Tree: []Position{}, Objects: f.Objects,
		Created: unix(f.Created), Cluster: f.Cluster,
	}
	for _, id := range f.Stack.Roots() {
		if b.held[id] {
			s.Roots = append(s.Roots, b.number(id))
		}
	}
	if f.Health != nil {
		s.Health, s.Since = healthNumber(f.Health.Status), unix(f.Health.Since)
		s.Causes = b.causes(f.Health.Causes)
	}
	t := b.grow(f)
	s.Tree = t.places
	if row := b.rows[f.Name]; row != nil {
		s.Pods, s.Usage = []int{row.Pods, row.Measured, f.HealthyPods}, b.rowUsage(row)
		s.Cost, s.Rest = b.attribute(f.Name, row, t)
	}
	return s
}

func (b *stateBuilder) causes(all []health.Cause) []Cause {
	var out []Cause
	for _, c := range all {
		if !b.held[c.ID] {
			continue
		}
		parent := -1
		if !c.Root && b.held[c.Of] {
			parent = b.number(c.Of)
		}
		out = append(out, Cause{b.number(c.ID), parent})
	}
	return out
}

// stackTree is the tree of a stack: its places in preorder, with the number of the place above (-1 for
// none) of each.
type stackTree struct {
	places []Position
	above  []int
	// at is the place of a node.
	at map[graph.ID]int
}

// grow lays the forest of a stack out. What is not held has no place, and what is below it moves
// up; nor has a boundary, unless it is in trouble that counts.
func (b *stateBuilder) grow(f *Found) *stackTree {
	t := &stackTree{places: []Position{}, at: map[graph.ID]int{}}
	for _, root := range f.Stack.Forest() {
		b.put(f, t, root, -1, 0)
	}
	return t
}

func (b *stateBuilder) put(f *Found, t *stackTree, branch *graph.Branch, above, depth int) {
	part, judged := health.Part{}, false
	if f.Health != nil {
		part, judged = f.Health.Part(branch.ID)
	}
	if b.held[branch.ID] && (!f.Stack.Boundary(branch.ID) || part.Required && part.Own.Status.Worse(health.Healthy)) {
		shared := f.Stack.Shared
		if f.Shared != nil {
			shared = f.Shared
		}
		place := Position{
			Node: b.number(branch.ID), Depth: depth, How: hows[branch.How], Again: branch.Repeated, Shared: shared(branch.ID),
			Peer: judged && !part.Required,
		}
		if !branch.Repeated {
			place.Below = healthNumber(part.Below)
			t.at[branch.ID] = len(t.places)
		}
		t.places, t.above = append(t.places, place), append(t.above, above)
		above, depth = len(t.places)-1, depth+1
	}
	if branch.Repeated {
		return
	}
	for _, c := range branch.Children {
		b.put(f, t, c, above, depth)
	}
}

// hows are the places of a node, in the words of a State. Who looks upwards has no stack there.
var hows = map[graph.Position]string{
	graph.Root: "root", graph.Owned: "owned", graph.Needed: "needed", graph.ServesParent: "serving", graph.ServedBelow: "behind",
	graph.OwnedBy: "owned", graph.NeededBy: "needed", graph.MadeBy: "made",
}
