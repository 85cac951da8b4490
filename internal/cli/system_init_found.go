package cli

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// foundStacks takes what nobody named.
func (d *drafting) foundStacks() {
	for _, f := range d.session.applications(d.graph, d.o.stackOptions()).Stacks {
		if d.session.ground(d.graph, f) {
			continue
		}
		ref := f.Ref(d.graph)
		d.stacks = append(d.stacks, foundApp{name: ref.Name, found: ref.String(), roots: d.refs(f.Tops), all: d.refs(f.Roots)})
	}
	d.neededApps()
}

// neededApps takes what runs below the stacks that were found and stands for itself: the
// database that they share is on top of none, and it is the one that all are held for.
func (d *drafting) neededApps() {
	in := map[object.Ref]bool{}
	for _, s := range d.stacks {
		for _, ref := range s.roots {
			in[ref] = true
		}
	}
	opts := d.o.stackOptions()
	for _, s := range slices.Clone(d.stacks) {
		var roots []graph.ID
		for _, ref := range s.roots {
			if id, ok := d.graph.Find(ref); ok {
				roots = append(roots, id)
			}
		}
		for _, id := range d.graph.Stack(roots, opts).Members() {
			ref := d.graph.Ref(id)
			if ref.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, ref.Kind) {
				continue
			}
			if above := d.graph.OwnerPath(id, opts); len(above) > 0 {
				ref = d.graph.Ref(above[0])
			}
			if top, ok := d.graph.Find(ref); !ok || in[ref] || d.graph.State(top) != graph.Present || d.session.ownedByCluster(ref.Namespace) {
				continue
			}
			in[ref] = true
			d.stacks = append(d.stacks, foundApp{name: ref.Name, found: ref.String() + ", needed by " + s.found, roots: []object.Ref{ref}})
		}
	}
}

// namedStacks takes what was named. Of a group what runs stands for it, or is to make what
// runs: the settings of a release are none of its roots.
func (d *drafting) namedStacks(roots []rootArg) {
	in := map[object.Ref]bool{}
	for _, r := range roots {
		for _, stack := range d.session.stacksOf(d.graph, r, d.session.nodes(d.graph, r, d.selector)) {
			app := foundApp{name: stack.Ref.Name, found: stack.Ref.String()}
			all := d.refs(stack.Roots)
			app.all = all
			if running := slices.DeleteFunc(slices.Clone(all), func(ref object.Ref) bool { return !d.acts(ref) }); r.group != "" && len(running) > 0 {
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
func (d *drafting) acts(ref object.Ref) bool {
	kind, ok := d.session.kinds.Kind(ref.GroupKind())
	return ok && kind.Custom || ref.Group == "apps" || ref.Group == "batch" || ref.GroupKind() == podKind
}

func (d *drafting) refs(ids []graph.ID) []object.Ref {
	var out []object.Ref
	for _, id := range ids {
		out = append(out, d.graph.Ref(id))
	}
	return out
}
