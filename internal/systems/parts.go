package systems

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// keptPrefix begins the name of the set of an adopted System, which is no name of an app.
const keptPrefix = "sysop-"

var secretKind = schema.GroupKind{Kind: "Secret"}

// partition says which object becomes part of which app: what is below its roots alone, what
// its release or its set says, and what several need to the lowest of them, which needs the
// fewest others.
func (x *export) partition() *parts {
	g, o := x.graph, x.StackOptions()
	p := &parts{x: x, of: map[graph.ID]int{}, kept: map[graph.ID]bool{}, made: map[string]bool{}}
	groups := p.tops()
	first := make([]graph.ID, len(groups))
	for i, ids := range groups {
		first[i] = ids[0]
	}
	for id, nodes := range g.Divide(groups, nil, o) {
		p.take(id, slices.Index(first, nodes))
	}
	for i, a := range p.apps {
		for _, ref := range a.said {
			if id, ok := g.Find(ref); ok {
				p.take(id, i)
				for _, member := range g.InSet(id) {
					p.take(member, i)
				}
			}
		}
	}
	stacks := make([]*graph.Stack, len(groups))
	order, above := make([]int, len(groups)), make([]int, len(groups))
	for i, ids := range groups {
		stacks[i], order[i] = g.Stack(ids, o), i
		for _, root := range first {
			if stacks[i].Has(root) {
				above[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(above[a], above[b]) })
	for _, i := range order {
		for _, id := range stacks[i].Members() {
			p.take(id, i)
		}
	}
	p.sort()
	return p
}

// take makes a node part of an app, unless it is part of one.
func (p *parts) take(id graph.ID, app int) bool {
	if _, other := p.of[id]; other {
		return false
	}
	p.of[id] = app
	return true
}

// tops makes an app of each stack, with the applied roots: for an object with owners that is the
// topmost owner.
func (p *parts) tops() [][]graph.ID {
	g := p.x.graph
	taken := map[string]bool{}
	var groups [][]graph.ID
	for _, stack := range p.x.stacks {
		app := partApp{said: stack.all}
		var ids []graph.ID
		for _, ref := range stack.roots {
			id, ok := g.Find(ref)
			if !ok {
				continue
			}
			if above := g.OwnerPath(id, p.x.StackOptions()); len(above) > 0 {
				id = above[0]
			}
			set, acts := g.InSet(id), p.x.acts(g.Ref(id))
			if len(set) > 0 && !acts && len(stack.roots) > 1 {
				continue // The mark of a tool on what it applied.
			}
			for _, member := range set {
				p.kept[member] = p.kept[member] || acts
			}
			if p.take(id, len(p.apps)) {
				ids = append(ids, id)
				app.roots = append(app.roots, g.Ref(id))
			}
		}
		if len(ids) == 0 {
			continue
		}
		app.name = labelOf(strings.TrimPrefix(stack.name, keptPrefix), g.Ref(ids[0]).Kind, taken)
		p.apps, groups = append(p.apps, app), append(groups, ids)
	}
	return groups
}

// sort parts what is to be written from what is made.
func (p *parts) sort() {
	g := p.x.graph
	for id := range graph.ID(g.Len()) {
		i, in := p.of[id]
		ref := g.Ref(id)
		if !in || graph.IsBoundary(ref) && !p.isRole(id) || p.x.session.OwnedByCluster(ref.Namespace) {
			continue
		}
		owned := len(g.OwnersOf(id)) > 0 || p.kept[id]
		switch {
		case ref.GroupKind() == secretKind && owned:
			p.made[ref.Namespace+"/"+ref.Name] = true
		case ref.GroupKind() == secretKind && g.State(id) != graph.Present && !p.needed(id):
		case ref.GroupKind() == secretKind:
			p.secrets = append(p.secrets, id)
		case owned || g.State(id) != graph.Present || p.ours(ref):
		default:
			if ref.GroupKind() == app.ConfigMapKind {
				p.configs = append(p.configs, id)
			}
			p.apps[i].objects = append(p.apps[i].objects, ref)
		}
	}
}

// needed says that an object needs a missing one.
func (p *parts) needed(id graph.ID) bool {
	for e := range p.x.graph.In(id) {
		if e.Relation == relation.Needs && !e.Optional {
			return true
		}
	}
	return false
}

// ours says that an object is one that is kept for a System: its set, its journal.
func (p *parts) ours(ref object.Ref) bool {
	return ref.GroupKind() == app.ConfigMapKind && strings.HasPrefix(ref.Name, keptPrefix)
}

// isRole says that a node is a ClusterRole, which stacks stand on, and bring along.
func (p *parts) isRole(id graph.ID) bool {
	ref := p.x.graph.Ref(id)
	return ref.Group == "rbac.authorization.k8s.io" && ref.Kind == "ClusterRole"
}

// wanted are the objects that are to be read, each once.
func (p *parts) wanted() []object.Ref {
	var out []object.Ref
	for _, a := range p.apps {
		out = append(out, a.objects...)
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}

// dependencies are those of one app on another, by what the graph says.
func (p *parts) dependencies() []system.Dependency {
	g := p.x.graph
	var out []system.Dependency
	for id := range graph.ID(g.Len()) {
		from, in := p.of[id]
		if !in {
			continue
		}
		for e := range g.Out(id) {
			to, assigned := p.of[e.To]
			if !assigned || to == from || e.Relation != relation.Needs || e.Optional || p.x.NoInferred && e.Inferred || g.Ref(e.To).GroupKind() == secretKind || graph.IsBoundary(g.Ref(e.To)) {
				continue
			}
			d := system.Dependency{From: p.apps[from].name, To: p.apps[to].name, Reason: g.Ref(e.From).String() + " needs " + g.Ref(e.To).String()}
			if !slices.ContainsFunc(out, func(o system.Dependency) bool { return o.From == d.From && o.To == d.To }) {
				out = append(out, d)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b system.Dependency) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}
