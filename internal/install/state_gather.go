package install

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// stateReader is one Gather.
type stateReader struct {
	ctx    context.Context
	reader Reader
	ask    StateRequest
	state  State
}

// ReadState reads what Make looks at, and nothing else: the releases of the parts and of the
// installation, the definitions that they bring or brought, the objects that they would
// make, where connections come from, custom resources where a new schema or an uninstallation is
// about them, and claims where StatefulSets have them deleted. What may not be read is a Gap; other failures are errors.
func ReadState(ctx context.Context, reader Reader, ask StateRequest) (State, error) {
	g := &stateReader{ctx: ctx, reader: reader, ask: ask, state: State{
		Kinds: ask.Kinds, Namespaces: map[string]string{}, Definitions: map[string]*unstructured.Unstructured{},
		Objects: map[object.Ref]*unstructured.Unstructured{}, Custom: map[string]CustomResources{},
		Sets: map[object.Ref]*unstructured.Unstructured{}, Claims: map[string][]*unstructured.Unstructured{},
	}}
	if g.state.Kinds == nil {
		g.state.Kinds = object.NewKinds(nil)
	}
	var err error
	if g.state.Kubernetes, err = reader.Version(ctx); err != nil {
		return State{}, fmt.Errorf("read the version of the cluster: %w", err)
	}
	for _, step := range []func() error{g.namespaces, g.releases, g.definitions, g.objects, g.custom, g.sets, g.claims} {
		if err := step(); err != nil {
			return State{}, err
		}
	}
	slices.SortFunc(g.state.Gaps, func(a, b object.Gap) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace))
	})
	g.state.Gaps = slices.Compact(g.state.Gaps)
	return g.state, nil
}

// absent sorts errors: what is not there is nothing, what may not be read is a gap.
func (g *stateReader) absent(r object.Resource, namespace string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		g.state.Gaps = append(g.state.Gaps, object.Gap{Resource: r.String(), Namespace: namespace, Reason: "Forbidden", Message: err.Error()})
		return nil
	}
	in := ""
	if namespace != "" {
		in = " in " + namespace
	}
	return fmt.Errorf("read %s%s: %w", r, in, err)
}

// kind is how a kind is served; false where it is not, or where nothing is known of it.
func (g *stateReader) kind(gk schema.GroupKind) (object.Resource, bool) {
	return g.state.Kinds.Kind(gk)
}

// namespacesAsked are those that parts are in, sorted.
func (g *stateReader) namespacesAsked() []string {
	names := []string{g.ask.Installation.Namespace}
	for _, p := range g.ask.Parts {
		names = append(names, p.Namespace)
		for _, u := range rendered(p).Namespaces {
			names = append(names, u.GetName())
		}
		for _, u := range madeBy(p) {
			names = append(names, u.GetNamespace())
		}
		for _, c := range p.Connections {
			names = append(names, c.From.Namespace)
		}
	}
	for _, b := range slices.Concat(g.ask.Before, g.ask.To) {
		names = append(names, b.Namespace)
	}
	return slices.DeleteFunc(distinct(names), func(n string) bool { return n == "" })
}

func (g *stateReader) namespaces() error {
	r, ok := g.kind(namespaceKind)
	if !ok {
		r = object.Resource{Version: "v1", Kind: namespaceKind.Kind, Plural: "namespaces"}
	}
	for _, n := range g.namespacesAsked() {
		u, err := g.reader.Get(g.ctx, r, "", n)
		if err != nil {
			if err := g.absent(r, "", err); err != nil {
				return err
			}
			continue
		}
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		if u.GetDeletionTimestamp() != nil {
			phase = "Terminating"
		}
		g.state.Namespaces[n] = cmp.Or(phase, "Active")
		if notes := u.GetAnnotations(); notes[resourcePolicy] != "" {
			g.state.Objects[object.Ref{Kind: namespaceKind.Kind, Name: n}] = u
		}
	}
	return nil
}

// definitions reads those that parts bring, those that packages of ours brought, and those of
// the kinds of connections.
func (g *stateReader) definitions() error {
	r, ok := g.kind(definitionKind)
	if !ok {
		return nil // a cluster without custom resources has none
	}
	if packages := g.packages(); len(packages) > 0 {
		list, err := g.reader.List(g.ctx, r, "", PackageLabel+" in ("+strings.Join(packages, ",")+")")
		if err != nil {
			if err := g.absent(r, "", err); err != nil {
				return err
			}
		}
		for _, u := range list {
			g.state.Definitions[u.GetName()] = u
		}
	}
	for _, n := range g.definitionNames() {
		if g.state.Definitions[n] != nil {
			continue
		}
		u, err := g.reader.Get(g.ctx, r, "", n)
		if err != nil {
			if err := g.absent(r, "", err); err != nil {
				return err
			}
			continue
		}
		g.state.Definitions[n] = u
	}
	return nil
}

// definitionNames are those that are asked for by name, sorted.
func (g *stateReader) definitionNames() []string {
	var names []string
	for _, p := range g.ask.Parts {
		for _, u := range rendered(p).Definitions {
			names = append(names, u.GetName())
		}
		for _, c := range p.Connections {
			for _, ref := range []object.Ref{c.From, c.To} {
				if k, served := g.kind(ref.GroupKind()); served && k.Custom {
					names = append(names, k.Plural+"."+k.Group)
				}
			}
		}
	}
	for i := range g.state.Releases {
		record := g.state.Releases[i].Current()
		if record == nil {
			continue
		}
		for _, u := range record.Objects {
			if refOf(u).GroupKind() == definitionKind {
				names = append(names, u.GetName())
			}
		}
	}
	return slices.DeleteFunc(distinct(names), func(n string) bool { return n == "" })
}

// packages are those whose definitions are asked for by our mark: what is uninstalled, and
// what was installed and is wanted no more.
func (g *stateReader) packages() []string {
	var names []string
	for _, p := range g.ask.Parts {
		if !p.App {
			names = append(names, p.Name)
		}
	}
	for i := range g.state.Releases {
		names = append(names, g.state.Releases[i].Labels[PackageLabel])
	}
	return slices.DeleteFunc(distinct(names), func(n string) bool { return n == "" })
}

// objects reads those that parts want to make, in the version in which they are written, and
// where connections come from. What is in a namespace that is not there is not there.
func (g *stateReader) objects() error {
	var all []wanted
	seen := map[object.Ref]bool{}
	add := func(ref object.Ref, version string) {
		r, served := g.kind(ref.GroupKind())
		_, found := g.state.Namespaces[ref.Namespace]
		if !served || ref.Name == "" || seen[ref] || ref.Namespace != "" && !found {
			return
		}
		seen[ref] = true
		all = append(all, wanted{ref: ref, version: version, resource: r})
	}
	for _, p := range g.ask.Parts {
		for _, u := range madeBy(p) {
			add(refOf(u), u.GroupVersionKind().Version)
		}
		for _, c := range p.Connections {
			// Of a Secret its name is all that is looked at, and that is known.
			if c.From.GroupKind() != secretKind {
				add(c.From, "")
			}
		}
	}
	g.readAll(all)
	for _, w := range all {
		if w.err != nil {
			if err := g.absent(w.resource, w.ref.Namespace, w.err); err != nil {
				return err
			}
			continue
		}
		g.state.Objects[w.ref] = w.object
	}
	return nil
}

// wanted is an object that is asked for, and what came of it.
type wanted struct {
	ref      object.Ref
	version  string
	resource object.Resource
	object   *unstructured.Unstructured
	err      error
}

// atOnce is how many objects are read at a time.
const atOnce = 8

// readAll reads objects, some at a time; each goes where it was asked for.
func (g *stateReader) readAll(all []wanted) {
	var group sync.WaitGroup
	next := make(chan int)
	for range min(atOnce, len(all)) {
		group.Go(func() {
			for i := range next {
				all[i].object, all[i].err = g.get(all[i].resource, all[i].version, all[i].ref)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
}

// get reads an object in a version, or in the preferred one where that is not served.
func (g *stateReader) get(r object.Resource, version string, ref object.Ref) (*unstructured.Unstructured, error) {
	if version != "" && version != r.Version {
		other := r
		other.Version = version
		if u, err := g.reader.Get(g.ctx, other, ref.Namespace, ref.Name); !apierrors.IsNotFound(err) {
			return u, err
		}
	}
	return g.reader.Get(g.ctx, r, ref.Namespace, ref.Name)
}

// custom reads custom resources: whole where they must fit another schema, their metadata
// where packages go.
func (g *stateReader) custom() error {
	whole := g.changing()
	for _, name := range slices.Sorted(maps.Keys(g.state.Definitions)) {
		live := g.state.Definitions[name]
		r, ok := resourceOf(live)
		if !ok || !whole[name] && g.ask.Action != Uninstall && !g.leaves(live) {
			continue
		}
		read := g.reader.ListMetadata
		if whole[name] {
			read = g.reader.List
		}
		list, err := read(g.ctx, r, "", "")
		if err != nil && !apierrors.IsNotFound(err) { // what is not served (yet) has no objects
			if err := g.absent(r, "", err); err != nil {
				return err
			}
			continue
		}
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int { return object.Compare(refOf(a), refOf(b)) })
		g.state.Custom[name] = CustomResources{Objects: list, Whole: whole[name]}
	}
	return nil
}

// changing are the definitions of which a part has another one.
func (g *stateReader) changing() map[string]bool {
	out := map[string]bool{}
	for _, p := range g.ask.Parts {
		if p.KeepDefinitions || g.ask.Action == Uninstall {
			continue
		}
		for _, want := range rendered(p).Definitions {
			if live := g.state.Definitions[want.GetName()]; live != nil && !crd.Same(live, want) {
				out[want.GetName()] = true
			}
		}
	}
	return out
}

// leaves says that the package of a definition is none of the parts that are wanted.
func (g *stateReader) leaves(definition *unstructured.Unstructured) bool {
	name := definition.GetLabels()[PackageLabel]
	return name != "" && !slices.ContainsFunc(g.ask.Parts, func(p *Part) bool { return !p.App && p.Name == name })
}
