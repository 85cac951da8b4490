package cli

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// preflightRun is a batch, and what was read for it.
type preflightRun struct {
	o       *atomicOptions
	session *session
	facts   *check.Collector
	// graph is of the cluster with the batch, world of the cluster without it.
	graph *graph.Graph
	world *check.ClusterState
	batch []preflight.Item
	// over is the batch over the cluster, and beneath what the cluster has without it; both
	// are nil where the batch is a stack that is there.
	over    *source.Overlay
	beneath *inventory.Inventory
	// live are the custom resources that are there, whole, of the kinds that the batch has.
	live map[object.Ref]map[string]any
	// gone are namespaces of which it is known that they are not there.
	gone map[string]bool
}

// capacityKinds are the kinds that say whether there is room, wherever their objects are.
func capacityKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Node"},
		{Kind: "Pod"},
		{Kind: "PersistentVolume"},
		{Kind: "PersistentVolumeClaim"},
		{Group: "storage.k8s.io", Kind: "CSIDriver"},
		{Group: "storage.k8s.io", Kind: "CSINode"},
		{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"},
		{Group: "storage.k8s.io", Kind: "VolumeAttachment"},
		{Group: "resource.k8s.io", Kind: "DeviceClass"},
	}
}

// admissionKinds are the kinds that say what is admitted, and by which defaults.
func admissionKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Namespace"},
		{Kind: "LimitRange"},
		{Group: "storage.k8s.io", Kind: "StorageClass"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"},
		{Group: "node.k8s.io", Kind: "RuntimeClass"},
	}
}

// ofManifests reads the manifests, the cluster, and both together, in one go.
func (o *atomicOptions) ofManifests(ctx context.Context) (*preflightRun, error) {
	docs, err := o.manifests(ctx)
	if err != nil {
		return nil, err
	}
	a := &preflightRun{o: o, facts: check.NewCollector(), live: map[object.Ref]map[string]any{}, gone: map[string]bool{}}
	o.wholly = check.Whole()
	o.over = func(base source.Source, namespace string) source.Source {
		a.over = source.NewOverlay(base, docs, source.OverlayOptions{Namespace: namespace, Detail: o.detail()})
		return a.over
	}
	if a.session, err = o.open(ctx); err != nil {
		return nil, hinted(err)
	}
	below := a.baseBuilder(ctx)
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	without := below.Build(a.beneath)
	a.world = a.session.checkWorld(without, a.facts, a.over.Served(), a.beneath)
	for i := range a.over.Batch().Manifests {
		m := &a.over.Batch().Manifests[i]
		id, named := a.beneath.Find(m.Ref)
		a.batch = append(a.batch, preflight.Item{Ref: m.Ref, Origin: m.Origin, Object: m.Object, Exists: named && a.beneath.Present(id)})
	}
	return a, nil
}

// baseBuilder makes room for what the cluster has without the batch.
func (a *preflightRun) baseBuilder(ctx context.Context) *graph.Builder {
	s := a.session
	builder := graph.NewBuilder(s.rules, a.over.Served())
	a.beneath = inventory.New(append(s.rules.Annotations(), graph.HelmName, graph.HelmNamespace), builder.Extract, keep(a.facts), a.readSimilar())
	for _, g := range s.gaps {
		a.beneath.Gap(g)
	}
	a.over.SetBaseSink(s.schemas.before(ctx, a.beneath))
	return builder
}

// keep has a collector take what it wants of objects.
func keep(facts *check.Collector) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	}
}

// readSimilar keeps the custom resources of the batch's kinds, to find those that are most like new
// ones.
func (a *preflightRun) readSimilar() inventory.Extractor {
	kinds := map[schema.GroupKind]bool{}
	for _, m := range a.over.Batch().Manifests {
		kinds[m.Ref.GroupKind()] = m.Resource.Custom
	}
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		fields := o.Fields()
		if fields == nil || !kinds[o.GroupKind()] {
			return nil
		}
		return func(*inventory.Inventory, inventory.ID) { a.live[o.Ref] = fields }
	}
}

// checkWorld makes the world of what an inventory holds.
func (s *session) checkWorld(g *graph.Graph, facts *check.Collector, kinds *object.Kinds, inv *inventory.Inventory) *check.ClusterState {
	w := check.NewWorld(g, facts, kinds, func(gk schema.GroupKind, namespace string) bool {
		return kinds.NotServed(gk) || inv.Covered(gk, namespace)
	})
	w.FindOperators = operator.Find
	w.Catalogued = s.catalogued
	return w
}

// read follows the batch through the cluster: what is needed to know whether there is room,
// the namespaces that it is in, and what its stack leads to.
func (a *preflightRun) read(ctx context.Context) error {
	s := a.session
	reading := s.c.clock.stage("read")
	err := source.Follow(ctx, s.source, a.first(), s.schemas.before(ctx, s.inv), func() source.Query {
		reading()
		build := s.c.clock.stage("build")
		a.graph = s.builder.Build(s.inv)
		ask := a.next()
		build()
		reading = s.c.clock.stage("read")
		return ask
	})
	reading()
	return err
}

// first is what is read wherever it is, and what of the batch may be there.
func (a *preflightRun) first() source.Query {
	batch := a.over.Batch()
	ask := source.Query{Kinds: slices.Concat(a.session.rules.Crossing(), admissionKinds()), Include: a.session.c.include, All: a.session.snapshot}
	if runsAnything(batch) {
		ask.Kinds = append(ask.Kinds, capacityKinds()...)
	}
	for i := range batch.Manifests {
		m := &batch.Manifests[i]
		switch {
		case !m.Served || batch.Defines(m.Ref.GroupKind()):
		case m.Resource.Custom && m.Resource.Listable:
			// Others of its kind may show what it will run.
			ask.Kinds = append(ask.Kinds, m.Ref.GroupKind())
		case m.Ref.Namespace == "" || source.LeftOut(m.Resource):
			ask.Objects = append(ask.Objects, m.Ref)
		}
	}
	slices.SortFunc(ask.Kinds, object.CompareKinds)
	ask.Kinds = slices.Compact(ask.Kinds)
	return ask
}

// runsAnything says whether the batch has what makes pods, or may.
func runsAnything(batch *source.Batch) bool {
	return slices.ContainsFunc(batch.Manifests, func(m source.Manifest) bool {
		if m.Resource.Custom || !m.Served {
			return m.Ref.GroupKind() != definitionKind
		}
		return podTemplatePath(m.Ref) != nil || m.Ref.GroupKind() == podKind
	})
}

// next is what the graph of all together leads to.
func (a *preflightRun) next() source.Query {
	g, batch := a.graph, a.over.Batch()
	var roots []graph.ID
	for _, ref := range batch.Refs() {
		if id, ok := g.Find(ref); ok && !graph.IsBoundary(ref) {
			roots = append(roots, id)
		}
	}
	stack := g.Stack(roots, graph.StackOptions{NoInferred: a.o.noInferred})
	namespaces := slices.Concat(batch.Namespaces(), stack.Namespaces(), a.donors())
	slices.Sort(namespaces)
	return source.Query{Objects: stack.Wanted(), Kinds: stack.WantedKinds(), Namespaces: slices.DeleteFunc(slices.Compact(namespaces), a.absent)}
}

// maxDonors bounds the namespaces that are read to see what others of a kind run.
const maxDonors = 4

// donors are namespaces with custom resources of the kinds of the batch: what they run
// tells what those of the batch will.
func (a *preflightRun) donors() []string {
	batch := a.over.Batch()
	var out []string
	for i := range batch.Manifests {
		m := &batch.Manifests[i]
		if !m.Resource.Custom {
			continue
		}
		for id := range a.graph.OfKind(m.Ref.GroupKind()) {
			ref := a.graph.Ref(id)
			if _, ours := batch.Find(ref); !ours && ref.Namespace != "" && a.graph.State(id) == graph.Present && len(out) < maxDonors && !slices.Contains(out, ref.Namespace) {
				out = append(out, ref.Namespace)
			}
		}
	}
	return out
}

// absent says that the cluster has no such namespace: nothing is asked of it, and nothing
// is in it but the batch.
func (a *preflightRun) absent(namespace string) bool {
	if a.gone[namespace] {
		return true
	}
	if a.session.snapshot || !a.missing(object.Ref{Kind: "Namespace", Name: namespace}) {
		return false
	}
	a.gone[namespace] = true
	for _, r := range a.session.kinds.All() {
		if r.Namespaced {
			a.session.inv.Cover(r.GroupKind(), namespace)
			a.beneath.Cover(r.GroupKind(), namespace)
		}
	}
	return true
}

// missing says that the cluster does not have an object, for certain.
func (a *preflightRun) missing(ref object.Ref) bool {
	if id, named := a.beneath.Find(ref); named {
		return a.beneath.Missing(id)
	}
	return a.beneath.Covered(ref.GroupKind(), ref.Namespace)
}

// namespaceOf returns a namespace that the cluster has, as it was read.
func (a *preflightRun) namespaceOf(name string) (*corev1.Namespace, bool) {
	return check.Of[*corev1.Namespace](a.facts, object.Ref{Kind: "Namespace", Name: name})
}
