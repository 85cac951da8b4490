package app

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// PreflightRequest selects the manifests of files or docs, or, without these, the stack of the
// roots args.
type PreflightRequest struct {
	Files     []string
	Recursive bool
	Docs      []source.Document
	Args      []string
	// Autoscaler assumes that the cluster can add nodes.
	Autoscaler bool
	// Manager is the field manager that would write the batch; empty for any.
	Manager string
	// NoDryRun asks the API server nothing about the objects.
	NoDryRun bool
}

// NewPreflight reads the batch, and the related objects of the cluster.
func NewPreflight(ctx context.Context, input *Input, q PreflightRequest) (*Preflight, error) {
	in := *input
	a := &Preflight{in: &in, q: q, facts: check.NewCollector()}
	in.wholly = check.Whole()
	if len(q.Files) > 0 || q.Docs != nil {
		return a, a.readManifests(ctx)
	}
	return a, a.readStack(ctx)
}

// Preflight is a batch, and the data that was read for it.
type Preflight struct {
	in      *Input
	q       PreflightRequest
	Session *Session
	facts   *check.Collector
	// Graph is the cluster with the batch, world the cluster without it.
	Graph *graph.Graph
	state *check.ClusterState
	batch []preflight.Item
	// over is the batch over the cluster, and beneath the cluster without it; both are nil where
	// the batch is an existing stack.
	over    *source.Overlay
	beneath *inventory.Inventory
	// live are the existing custom resources, whole, of the kinds of the batch.
	live map[object.Ref]map[string]any
	// gone are the namespaces that are known to be missing.
	gone map[string]bool
}

// capacityKinds are the kinds that capacity depends on, in any namespace.
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

// admissionKinds are the kinds that admission and its defaults depend on.
func admissionKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Namespace"},
		{Kind: "LimitRange"},
		{Group: "storage.k8s.io", Kind: "StorageClass"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"},
		{Group: "node.k8s.io", Kind: "RuntimeClass"},
	}
}

// readManifests reads the manifests, the cluster, and both combined, in one pass.
func (a *Preflight) readManifests(ctx context.Context) error {
	docs, err := a.manifests(ctx)
	if err != nil {
		return err
	}
	a.live, a.gone = map[object.Ref]map[string]any{}, map[string]bool{}
	a.in.over = func(base source.Source, namespace string) source.Source {
		a.over = source.NewOverlay(base, docs, source.OverlayOptions{Namespace: namespace, Detail: a.in.detail()})
		return a.over
	}
	if a.Session, err = a.in.Open(ctx); err != nil {
		return hinted(err)
	}
	builder := a.baseBuilder(ctx)
	if err := a.read(ctx); err != nil {
		return err
	}
	base := builder.Build(a.beneath)
	a.state = a.Session.CheckWorld(base, a.facts, a.over.Served(), a.beneath)
	for i := range a.over.Batch().Manifests {
		m := &a.over.Batch().Manifests[i]
		id, named := a.beneath.Find(m.Ref)
		a.batch = append(a.batch, preflight.Item{Ref: m.Ref, Origin: m.Origin, Object: m.Object, Exists: named && a.beneath.Present(id)})
	}
	return nil
}

// baseBuilder returns a builder for the cluster without the batch.
func (a *Preflight) baseBuilder(ctx context.Context) *graph.Builder {
	s := a.Session
	builder := graph.NewBuilder(s.Rules, a.over.Served())
	a.beneath = inventory.New(append(s.Rules.Annotations(), graph.HelmName, graph.HelmNamespace), builder.Extract, keep(a.facts), a.readSimilar())
	for _, g := range s.Gaps {
		a.beneath.Gap(g)
	}
	a.over.SetBaseSink(s.schemas.before(ctx, a.beneath))
	return builder
}

// readSimilar keeps the custom resources of the batch's kinds, to compare new ones with.
func (a *Preflight) readSimilar() inventory.Extractor {
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

// read follows the references of the batch in the cluster: capacity, its namespaces, and its stack.
func (a *Preflight) read(ctx context.Context) error {
	s := a.Session
	reading := s.Input.Clock.Stage("read")
	err := source.Follow(ctx, s.Source, a.first(), s.schemas.before(ctx, s.Inventory), func() source.Query {
		reading()
		build := s.Input.Clock.Stage("build")
		a.Graph = s.builder.Build(s.Inventory)
		ask := a.next()
		build()
		reading = s.Input.Clock.Stage("read")
		return ask
	})
	reading()
	return err
}

// first returns the query for the kinds that are read in every namespace, and for the objects of
// the batch that may exist.
func (a *Preflight) first() source.Query {
	batch := a.over.Batch()
	ask := source.Query{Kinds: slices.Concat(a.Session.Rules.Crossing(), admissionKinds()), Include: a.Session.Input.Include, All: a.Session.Snapshot}
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

// runsAnything reports whether the batch has an object that creates pods, or may.
func runsAnything(batch *source.Batch) bool {
	return slices.ContainsFunc(batch.Manifests, func(m source.Manifest) bool {
		if m.Resource.Custom || !m.Served {
			return m.Ref.GroupKind() != DefinitionKind
		}
		return podTemplatePath(m.Ref) != nil || m.Ref.GroupKind() == PodKind
	})
}

// next returns the query for what the combined graph references.
func (a *Preflight) next() source.Query {
	g, batch := a.Graph, a.over.Batch()
	var roots []graph.ID
	for _, ref := range batch.Refs() {
		if id, ok := g.Find(ref); ok && !graph.IsBoundary(ref) {
			roots = append(roots, id)
		}
	}
	stack := g.Stack(roots, graph.StackOptions{NoInferred: a.in.NoInferred})
	namespaces := slices.Concat(batch.Namespaces(), stack.Namespaces(), a.donors())
	slices.Sort(namespaces)
	return source.Query{Objects: stack.Wanted(), Kinds: stack.WantedKinds(), Namespaces: slices.DeleteFunc(slices.Compact(namespaces), a.absent)}
}

// maxDonors bounds the namespaces that are read to find what similar objects run.
const maxDonors = 4

// donors returns namespaces with custom resources of the kinds of the batch: the pods of these
// predict those of the batch.
func (a *Preflight) donors() []string {
	batch := a.over.Batch()
	var out []string
	for i := range batch.Manifests {
		m := &batch.Manifests[i]
		if !m.Resource.Custom {
			continue
		}
		for id := range a.Graph.OfKind(m.Ref.GroupKind()) {
			ref := a.Graph.Ref(id)
			if _, ours := batch.Find(ref); !ours && ref.Namespace != "" && a.Graph.State(id) == graph.Present && len(out) < maxDonors && !slices.Contains(out, ref.Namespace) {
				out = append(out, ref.Namespace)
			}
		}
	}
	return out
}

// absent reports that the cluster has no such namespace: nothing in it is queried, and it holds
// only the batch.
func (a *Preflight) absent(namespace string) bool {
	if a.gone[namespace] {
		return true
	}
	if a.Session.Snapshot || !a.missing(object.Ref{Kind: "Namespace", Name: namespace}) {
		return false
	}
	a.gone[namespace] = true
	for _, r := range a.Session.Kinds.All() {
		if r.Namespaced {
			a.Session.Inventory.Cover(r.GroupKind(), namespace)
			a.beneath.Cover(r.GroupKind(), namespace)
		}
	}
	return true
}

// missing reports that the cluster certainly does not have an object.
func (a *Preflight) missing(ref object.Ref) bool {
	if id, named := a.beneath.Find(ref); named {
		return a.beneath.Missing(id)
	}
	return a.beneath.Covered(ref.GroupKind(), ref.Namespace)
}

// namespaceOf returns an existing namespace, as it was read.
func (a *Preflight) namespaceOf(name string) (*corev1.Namespace, bool) {
	return check.Of[*corev1.Namespace](a.facts, object.Ref{Kind: "Namespace", Name: name})
}

// manifests reads the files of -f. Standard input may never end: an interrupt ends the
// waiting, not the reading.
func (a *Preflight) manifests(ctx context.Context) ([]source.Document, error) {
	if a.q.Docs != nil {
		return a.q.Docs, nil
	}
	docs, err := userfile.Await(ctx, func() ([]source.Document, error) {
		return source.ReadManifests(a.q.Files, a.q.Recursive, a.in.Stdin)
	})
	return docs, hinted(err)
}

// hinted adds its hint to an error of manifests.
func hinted(err error) error {
	if manifest, ok := errors.AsType[*source.ManifestError](err); ok && manifest.Hint != "" {
		return hint.With(err, manifest.Hint)
	}
	return err
}
