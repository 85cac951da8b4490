package systems

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// foundStacks adds the stacks that no argument names.
func (d *draft) foundStacks() {
	found := d.session.Applications(d.graph, d.StackOptions()).Stacks
	found = slices.DeleteFunc(found, func(f graph.FoundStack) bool { return d.session.IsClusterSystem(d.graph, f) || d.isMonitoring(f) })
	above, parentStack := d.parentsOf(found)
	for i, f := range found {
		if group, current := parentStack[f.Roots[0]]; current && f.Group.By == "" && group != i {
			continue // It is a root of that one.
		}
		ref := f.Ref(d.graph)
		d.stacks = append(d.stacks, foundApp{name: ref.Name, found: ref.String(), roots: d.refs(d.withoutOwned(above[i], f.TopObjects)), all: d.refs(f.Roots)})
	}
	d.neededApps()
}

// isMonitoring says whether a stack is only monitors or rules of alerts: they are about apps, and are none.
func (d *draft) isMonitoring(f graph.FoundStack) bool {
	return !slices.ContainsFunc(f.Roots, func(id graph.ID) bool { return !monitors(d.graph.Ref(id)) })
}

// parentsOf returns what each of the stacks comes from, and of which stack each parent is.
// One of several instances stays on its own: an object is the root of one app.
func (d *draft) parentsOf(found []graph.FoundStack) (above [][]graph.ID, parentStack map[graph.ID]int) {
	var groups []graph.Group
	for _, f := range found {
		groups = append(groups, f.Group)
	}
	above, parentStack = d.parents(groups), map[graph.ID]int{}
	several := map[graph.ID]bool{}
	for i := range above {
		for _, id := range above[i] {
			_, taken := parentStack[id]
			several[id] = several[id] || taken
			parentStack[id] = i
		}
	}
	for i := range above {
		above[i] = slices.DeleteFunc(above[i], func(id graph.ID) bool { return several[id] })
	}
	maps.DeleteFunc(parentStack, func(id graph.ID, _ int) bool { return several[id] })
	return above, parentStack
}

// parents returns what groups come from: who keeps the set, or the custom resources above
// the instance. What keeps an adopted System is no part of it.
func (d *draft) parents(groups []graph.Group) [][]graph.ID {
	above := d.graph.Parents(groups, d.makes, d.StackOptions())
	for i, p := range groups {
		if id, ok := d.graph.Find(p.Parent); p.By == graph.BySet && ok && !system.IsParent(p.Parent, d.graph.Labels(id)) {
			above[i] = []graph.ID{id}
		}
	}
	return above
}

// makes says whether objects of a kind may be made for one of another kind: of a kind of the
// catalogue, as that says; of others nothing is known that speaks against it.
func (d *draft) makes(parent, part schema.GroupKind) bool {
	if _, known := d.session.Catalogued(parent); !known {
		return true
	}
	parts, _ := d.session.Composes(parent)
	return slices.ContainsFunc(parts, func(kind string) bool { return declare.GroupKind(kind) == part })
}

// withoutOwned returns parents and the roots beside them: what a parent owns or keeps goes with it,
// unless nothing can be done to the parent itself, such as the ConfigMap of an ApplySet.
func (d *draft) withoutOwned(parents, roots []graph.ID) []graph.ID {
	if len(parents) == 0 {
		return roots
	}
	acting := slices.DeleteFunc(slices.Clone(parents), func(id graph.ID) bool { return !d.acts(d.graph.Ref(id)) })
	own := map[graph.ID]graph.ID{}
	if len(acting) > 0 {
		own = d.graph.Divide([][]graph.ID{acting}, nil, d.StackOptions())
	}
	return slices.Concat(parents, slices.DeleteFunc(slices.Clone(roots), func(id graph.ID) bool {
		_, in := own[id]
		return in || slices.Contains(parents, id)
	}))
}

// neededApps adds workloads below the found stacks that are apps of their own: a shared database is
// the root of no stack, and all of its users are held for it.
func (d *draft) neededApps() {
	opts := d.StackOptions()
	var groups [][]graph.ID
	for _, s := range d.stacks {
		groups = append(groups, d.ids(s.roots))
	}
	in := map[graph.ID]bool{}
	for _, id := range slices.Concat(slices.Concat(groups...), slices.Collect(maps.Keys(d.graph.Divide(groups, nil, opts)))) {
		in[id] = true
	}
	for i, s := range slices.Clone(d.stacks) {
		for _, id := range d.graph.Stack(groups[i], opts).Members() {
			ref := d.graph.Ref(id)
			if in[id] || ref.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, ref.Kind) {
				continue
			}
			top := id
			if above := d.graph.OwnerPath(id, opts); len(above) > 0 {
				top = above[0]
			}
			ref = d.graph.Ref(top)
			if in[top] || d.graph.State(top) != graph.Present || d.session.OwnedByCluster(ref.Namespace) {
				continue
			}
			in[top] = true
			d.stacks = append(d.stacks, foundApp{name: ref.Name, found: ref.String() + ", needed by " + s.found, roots: []object.Ref{ref}})
		}
	}
}

// namedStacks adds the named stacks. The roots of a group are its workloads and what creates them:
// the settings of a release are not roots.
func (d *draft) namedStacks(roots []app.Root) {
	in := map[object.Ref]bool{}
	for _, r := range roots {
		for _, stack := range d.session.StacksOf(d.graph, r, d.session.Nodes(d.graph, r, d.Selector)) {
			app := foundApp{name: stack.Ref.Name, found: stack.Ref.String(), all: d.refs(stack.Roots)}
			above := d.parents([]graph.Group{{By: r.Group, Namespace: stack.Ref.Namespace, Name: r.Name}})
			all := d.refs(d.withoutOwned(above[0], stack.Roots))
			if running := slices.DeleteFunc(slices.Clone(all), func(ref object.Ref) bool { return !d.acts(ref) }); r.Group != "" && len(running) > 0 {
				all = running
			}
			for _, ref := range all {
				if !in[ref] {
					in[ref] = true
					app.roots = append(app.roots, ref)
				}
			}
			if len(app.roots) > 0 {
				d.stacks = append(d.stacks, app)
			}
		}
	}
}

// acts says whether objects of a kind run, or have something run: workloads and custom
// resources.
func (d *draft) acts(ref object.Ref) bool {
	kind, ok := d.session.Kinds.Kind(ref.GroupKind())
	return ok && kind.Custom || ref.Group == "apps" || ref.Group == "batch" || ref.GroupKind() == app.PodKind
}

func (d *draft) refs(ids []graph.ID) []object.Ref {
	var out []object.Ref
	for _, id := range ids {
		out = append(out, d.graph.Ref(id))
	}
	return out
}

// ids returns the nodes of objects that were found.
func (d *draft) ids(refs []object.Ref) []graph.ID {
	var out []graph.ID
	for _, ref := range refs {
		if id, ok := d.graph.Find(ref); ok {
			out = append(out, id)
		}
	}
	return out
}
