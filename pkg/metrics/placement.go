package metrics

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Attribution says to which stacks the things of a reading belong. Every place has one
// path to each of its stacks.
type Attribution struct {
	// Stacks are the roots, in order.
	Stacks []object.Ref
	// Weights are those that a stack asks for (annotation sysop.dev/share-weight); 1
	// where there is none.
	Weights map[object.Ref]decimal.Decimal
	// Of maps pods, claims and Services, by reference, to where they belong. What is
	// not in it belongs to no stack.
	Of map[object.Ref]Path
}

// Path is where a thing belongs.
type Path struct {
	// Stacks that it is in, in order. More than one share it.
	Stacks []object.Ref
	// Path leads from the topmost owner to the owner of the thing: custom resources first, then
	// workloads. It is empty if the thing is a root itself or has no owner; a stack whose root is
	// not on it comes above the first.
	Path []object.Ref
}

// Stack is a stack that is asked about: its name, and the nodes that are its root.
// Most have one; a release has as many as it installed.
type Stack struct {
	Ref   object.Ref
	Roots []graph.ID
}

// NewPlacement assigns the things of a report to the stacks. A deleted pod belongs to the stack
// of its nearest owner that still exists, or else to the one stack of its namespace that has its
// instance label.
//
// What the root of a stack owns is part of that stack alone, even if other stacks need it: it is
// paid for where it has its own row. What several stacks need and none of them owns is shared.
func NewPlacement(g *graph.Graph, stacks []Stack, r *UsageReport, o graph.StackOptions) *Attribution {
	p := attributor{g: g, opts: o, out: &Attribution{Of: map[object.Ref]Path{}}, in: map[graph.ID][]int{}, paths: map[graph.ID][]object.Ref{}, tops: map[graph.ID]int{}}
	var roots []graph.ID
	for _, s := range stacks {
		roots = append(roots, s.Roots...)
	}
	o.PartOf = g.PartOf(roots, o)
	p.stacks = slices.SortedFunc(slices.Values(stacks), func(a, b Stack) int { return object.Compare(a.Ref, b.Ref) })
	for i, s := range p.stacks {
		p.out.Stacks = append(p.out.Stacks, s.Ref)
		stack := g.Stack(s.Roots, o)
		for _, id := range stack.Members() {
			if stack.IsOwnPart(id) {
				p.in[id] = append(p.in[id], i)
			}
		}
		for _, id := range s.Roots {
			p.tops[id] = i
		}
	}
	for i := range r.Pods {
		p.pod(&r.Pods[i])
	}
	for i := range r.Claims {
		p.thing(r.Claims[i].Ref)
	}
	for i := range r.LoadBalancers {
		p.thing(r.LoadBalancers[i].Service)
	}
	return p.out
}

// attributor finds places.
type attributor struct {
	g      *graph.Graph
	opts   graph.StackOptions
	out    *Attribution
	stacks []Stack
	in     map[graph.ID][]int // the stacks that hold a node, by number, in order
	tops   map[graph.ID]int   // the stack that a node is a root of
	paths  map[graph.ID][]object.Ref
	// labelled is nil until it is asked for.
	labelled map[instance]int
}

func (p *attributor) pod(pod *Pod) {
	if p.thing(pod.Ref) {
		return
	}
	for _, owner := range pod.Owners {
		id, ok := p.g.Find(owner)
		if !ok || p.g.State(id) != graph.Present {
			continue
		}
		if place, ok := p.place(id); ok {
			if shown(p.g, id) || len(place.Path) == 0 {
				place.Path = append(slices.Clone(place.Path), owner)
			}
			p.out.Of[pod.Ref] = place
		}
		return
	}
	name, _ := Label(pod.Labels, instanceLabel)
	if i, ok := p.instances()[instance{pod.Ref.Namespace, name}]; ok && i >= 0 {
		p.out.Of[pod.Ref] = Path{Stacks: []object.Ref{p.stacks[i].Ref}}
	}
}

// instanceLabel is the field's label for what belongs together.
const instanceLabel = "app.kubernetes.io/instance"

type instance struct{ namespace, name string }

// instances maps instance labels to the stack that has them, or to -1 where several
// do.
func (p *attributor) instances() map[instance]int {
	if p.labelled != nil {
		return p.labelled
	}
	p.labelled = map[instance]int{}
	for id, in := range p.in {
		name, ok := p.g.Label(id, instanceLabel)
		if !ok || name == "" {
			continue
		}
		key := instance{p.g.Ref(id).Namespace, name}
		for _, i := range in {
			if have, ok := p.labelled[key]; ok && have != i {
				i = -1
			}
			p.labelled[key] = i
		}
	}
	return p.labelled
}

// thing places an object that is in the graph.
func (p *attributor) thing(ref object.Ref) bool {
	id, ok := p.g.Find(ref)
	if !ok || p.g.State(id) != graph.Present {
		return false
	}
	if place, ok := p.place(id); ok {
		p.out.Of[ref] = place
	}
	return true
}

// place returns where a node belongs; false where no stack holds it.
func (p *attributor) place(id graph.ID) (Path, bool) {
	in := p.in[id]
	if len(in) == 0 {
		return Path{}, false
	}
	place := Path{Stacks: make([]object.Ref, 0, len(in)), Path: p.path(id, in)}
	for _, i := range in {
		place.Stacks = append(place.Stacks, p.stacks[i].Ref)
	}
	return place, true
}

// path returns the owners of a node from the topmost that its stacks hold, or from
// the root among them. Siblings share it.
func (p *attributor) path(id graph.ID, in []int) []object.Ref {
	above := p.g.OwnerPath(id, p.opts)
	if len(above) == 0 {
		return nil
	}
	last := above[len(above)-1]
	if known, ok := p.paths[last]; ok && slices.Equal(p.in[last], in) {
		return known
	}
	held := func(x graph.ID) bool {
		return slices.ContainsFunc(in, func(i int) bool { return slices.Contains(p.in[x], i) })
	}
	above = slices.DeleteFunc(above, func(x graph.ID) bool { return !held(x) })
	for i, x := range slices.Backward(above) {
		if top, ok := p.tops[x]; ok && slices.Contains(in, top) {
			above = above[i:]
			break
		}
	}
	path := make([]object.Ref, 0, len(above))
	for i, x := range above {
		if i == 0 || shown(p.g, x) {
			path = append(path, p.g.Ref(x))
		}
	}
	if slices.Equal(p.in[last], in) {
		p.paths[last] = path
	}
	return path
}

// shown says whether an owner is worth a line: a ReplicaSet under its Deployment is
// not.
func shown(g *graph.Graph, id graph.ID) bool {
	r := g.Ref(id)
	return r.Group != "apps" || r.Kind != "ReplicaSet" || len(g.OwnersOf(id)) == 0
}
