package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ClusterOptions say how a cluster is read.
type ClusterOptions struct {
	// Config is the connection. Its limits on the rate of requests are lifted: the
	// server's priority and fairness decides.
	Config *rest.Config
	// Discovery is asked for the kinds; a cached one is asked again where it turns
	// out to be stale.
	Discovery discovery.CachedDiscoveryInterface
	// Detail says how much to read of a kind, and in which version ("" for the
	// preferred one). A version that the server does not have makes it Metadata,
	// and a gap.
	Detail func(object.Resource) (Detail, string)
	// Parallel bounds the requests in flight (16 where it is 0), Page the objects
	// in one of them (500).
	Parallel int
	Page     int
}

// Cluster is a Source that reads an API server.
type Cluster struct {
	opts   ClusterOptions
	client rest.Interface
	kinds  *object.Kinds
	served map[schema.GroupKind][]string // versions
}

// NewCluster returns a source for a cluster. It sends no request yet.
func NewCluster(o ClusterOptions) (*Cluster, error) {
	o.Parallel, o.Page = cmp.Or(o.Parallel, 16), cmp.Or(o.Page, 500)
	config := rest.CopyConfig(o.Config)
	config.QPS = -1
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.WarningHandler = rest.NoWarnings{}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("set up a client for %s: %w", config.Host, err)
	}
	return &Cluster{opts: o, client: client}, nil
}

// Definitions lists the metadata of the CustomResourceDefinitions. One whose
// kind the cached discovery does not know yet makes that be asked again.
func (c *Cluster) Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error) {
	crds := object.Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"}
	var mu sync.Mutex
	var out []metav1.Object
	err := c.list(ctx, crds, "", Metadata, collector{sink, func(o object.Object) {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, o.Meta)
	}})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	slices.SortFunc(out, func(a, b metav1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	stale := err != nil // who may not list them cannot tell, and must not trust a cache of hours
	for _, crd := range out {
		stale = stale || !c.knows(crd.GetName())
	}
	if stale {
		c.opts.Discovery.Invalidate()
		if err := c.discover(ctx, sink); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// knows says whether discovery has the resource that a CRD is named after.
func (c *Cluster) knows(crd string) bool {
	gr := schema.ParseGroupResource(crd)
	_, ok := c.kinds.Resource(gr)
	return ok
}

// collector hands objects to a function instead of a sink.
type collector struct {
	Sink
	add func(object.Object)
}

func (c collector) Add(o object.Object) { c.add(o) }

// Read lists and gets what is asked for, in parallel within the bound.
func (c *Cluster) Read(ctx context.Context, ask Ask, sink Sink) error {
	var jobs []func(context.Context)
	list := func(r object.Resource, ns string) {
		jobs = append(jobs, func(ctx context.Context) { c.listInto(ctx, r, ns, sink) })
	}
	for _, r := range c.kinds.All() {
		if !r.Listable || leftOut(r) {
			continue
		}
		switch {
		case ask.All, slices.Contains(ask.Kinds, r.GroupKind()):
			list(r, "")
		case r.Namespaced:
			for _, ns := range ask.Namespaces {
				list(r, ns)
			}
		}
	}
	jobs = append(jobs, c.gets(ask.Objects, sink)...)
	c.run(ctx, jobs)
	return ctx.Err()
}

// run runs the jobs, so many at a time. Each tells the sink of its own failure.
func (c *Cluster) run(ctx context.Context, jobs []func(context.Context)) {
	next := make(chan func(context.Context))
	var wg sync.WaitGroup
	for range min(c.opts.Parallel, len(jobs)) {
		wg.Go(func() {
			for job := range next {
				job(ctx)
			}
		})
	}
	for _, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- job
	}
	close(next)
	wg.Wait()
}

// many is how many objects of one kind are asked for one by one; more are found
// in a list.
const many = 32

// gets returns a job for each object, or for a list of its kind where many are
// asked for.
func (c *Cluster) gets(refs []object.Ref, sink Sink) []func(context.Context) {
	type group struct {
		gk schema.GroupKind
		ns string
	}
	by := map[group][]object.Ref{}
	for _, r := range refs {
		g := group{r.GroupKind(), r.Namespace}
		by[g] = append(by[g], r)
	}
	var jobs []func(context.Context)
	for g, refs := range by {
		r, ok := c.kinds.Kind(g.gk)
		if !ok || leftOut(r) || r.Namespaced != (g.ns != "") {
			continue
		}
		if len(refs) > many && r.Listable {
			jobs = append(jobs, func(ctx context.Context) { c.listInto(ctx, r, g.ns, sink) })
			continue
		}
		for _, ref := range refs {
			jobs = append(jobs, func(ctx context.Context) { c.getInto(ctx, r, ref, sink) })
		}
	}
	return jobs
}

// detail settles how a resource is read: the detail that is wanted, where the
// server has a version of that shape.
func (c *Cluster) detail(r object.Resource, sink Sink) (object.Resource, Detail) {
	detail, version := c.opts.Detail(r)
	if detail == Metadata || neverWhole(r.GroupKind()) {
		return r, Metadata
	}
	if version == "" || version == r.Version {
		return r, detail
	}
	if slices.Contains(c.served[r.GroupKind()], version) {
		r.Version = version
		return r, detail
	}
	sink.Gap(object.Gap{Resource: r.String(), Reason: "UnknownVersion", Message: fmt.Sprintf("served as %s only, not as %s: its fields were not read", r.Version, version)})
	return r, Metadata
}

func (c *Cluster) listInto(ctx context.Context, r object.Resource, ns string, sink Sink) {
	r, detail := c.detail(r, sink)
	if err := c.list(ctx, r, ns, detail, sink); err != nil && ctx.Err() == nil {
		if apierrors.IsNotFound(err) {
			// A kind that has just been removed has no objects.
			sink.Cover(r.GroupKind(), ns)
			return
		}
		sink.Gap(gap(r, ns, err))
		return
	}
	if ctx.Err() == nil {
		sink.Cover(r.GroupKind(), ns)
	}
}

func (c *Cluster) getInto(ctx context.Context, r object.Resource, ref object.Ref, sink Sink) {
	r, detail := c.detail(r, sink)
	o, err := c.get(ctx, r, ref, detail)
	switch {
	case err == nil:
		sink.Add(o)
	case ctx.Err() != nil:
	case apierrors.IsNotFound(err):
		sink.Absent(ref)
	default:
		sink.Gap(gap(r, ref.Namespace, err))
	}
}

// gap says why a resource could not be read.
func gap(r object.Resource, ns string, err error) object.Gap {
	reason := string(apierrors.ReasonForError(err))
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
	case apierrors.IsMethodNotSupported(err):
		reason = "NotListable"
	case reason == "" || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err):
		reason = "Unavailable"
	}
	return object.Gap{Resource: r.String(), Namespace: ns, Reason: reason, Message: err.Error()}
}

// List hands the metadata of every object of a resource to the sink.
func (c *Cluster) List(ctx context.Context, r object.Resource, ns string, sink Sink) {
	if !r.Namespaced {
		ns = ""
	}
	if err := c.list(ctx, r, ns, Metadata, sink); err != nil && ctx.Err() == nil {
		sink.Gap(gap(r, ns, err))
	}
}
