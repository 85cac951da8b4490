package install

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// stateReader is one call of ReadState.
type stateReader struct {
	ctx    context.Context
	reader Reader
	ask    StateRequest
	state  State
}

// ReadState reads what NewPlan needs, and nothing else: the releases of the parts and of the
// installation, their definitions, the objects that they would create, the sources of connections,
// custom resources affected by a new schema or an uninstallation, and claims if StatefulSets have
// them deleted. A forbidden read is a Gap; other failures are errors.
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

// absent sorts errors: NotFound is nil, Forbidden a gap.
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

// kind returns the resource of a kind; false if it is not served or unknown.
func (g *stateReader) kind(gk schema.GroupKind) (object.Resource, bool) {
	return g.state.Kinds.Kind(gk)
}

// namespacesAsked returns the namespaces of the parts, sorted.
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
		if notes := u.GetAnnotations(); notes[helm.PolicyAnnotation] != "" {
			g.state.Objects[object.Ref{Kind: namespaceKind.Kind, Name: n}] = u
		}
	}
	return nil
}

// definitions reads the definitions of parts, of our packages, and of the kinds of connections.
func (g *stateReader) definitions() error {
	r, ok := g.kind(definitionKind)
	if !ok {
		return nil // the cluster does not serve definitions
	}
	if packages := g.packages(); len(packages) > 0 {
		list, err := g.reader.List(g.ctx, r, "", helm.PackageLabel+" in ("+strings.Join(packages, ",")+")")
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

// definitionNames returns the definitions to read by name, sorted.
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
			if object.RefOf(u).GroupKind() == definitionKind {
				names = append(names, u.GetName())
			}
		}
	}
	return slices.DeleteFunc(distinct(names), func(n string) bool { return n == "" })
}

// packages returns the packages whose definitions are listed by label: those being uninstalled, and
// installed ones that the System has dropped.
func (g *stateReader) packages() []string {
	var names []string
	for _, p := range g.ask.Parts {
		if !p.App {
			names = append(names, p.Name)
		}
	}
	for i := range g.state.Releases {
		names = append(names, g.state.Releases[i].Labels[helm.PackageLabel])
	}
	return slices.DeleteFunc(distinct(names), func(n string) bool { return n == "" })
}

// objects reads the objects that parts want to create, in the version of their manifests, and the
// sources of connections. A namespace that does not exist has no objects.
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
			add(object.RefOf(u), u.GroupVersionKind().Version)
		}
		for _, c := range p.Connections {
			// Only the name of a Secret flows, which is known without a read.
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

// wanted is an object to read, with the result.
type wanted struct {
	ref      object.Ref
	version  string
	resource object.Resource
	object   *unstructured.Unstructured
	err      error
}

// atOnce limits how many objects are read in parallel.
const atOnce = 8

// readAll reads objects in parallel into their entries.
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

// get reads an object in a version, or in the preferred one if that is not served.
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

// custom reads custom resources: complete if they must fit another schema, and only metadata if
// their package is removed.
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
		if err != nil && !apierrors.IsNotFound(err) { // a kind that is not served (yet) has no objects
			if err := g.absent(r, "", err); err != nil {
				return err
			}
			continue
		}
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int { return object.Compare(object.RefOf(a), object.RefOf(b)) })
		g.state.Custom[name] = CustomResources{Objects: list, Whole: whole[name]}
	}
	return nil
}

// changing returns the definitions that a part would change.
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

// leaves reports whether the package of a definition is not among the desired parts.
func (g *stateReader) leaves(definition *unstructured.Unstructured) bool {
	name := definition.GetLabels()[helm.PackageLabel]
	return name != "" && !slices.ContainsFunc(g.ask.Parts, func(p *Part) bool { return !p.App && p.Name == name })
}
