package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ClusterOptions configure how a cluster is read.
type ClusterOptions struct {
	// Config is the connection. Its client-side rate limits are not used: the server's priority and
	// fairness decides.
	Config *rest.Config
	// Discovery returns the served kinds; a cached one is invalidated if it is stale.
	Discovery discovery.CachedDiscoveryInterface
	// Detail says how much of a kind to read, and in which version ("" for the preferred one); nil
	// reads only metadata. If the server does not have the version, metadata is read and the rest
	// is a gap.
	Detail func(object.Resource) (Detail, string)
	// Also selects kinds to read although they are LeftOut; nil selects none.
	Also func(object.Resource) bool
	// Known are kinds with their scope, for kinds that discovery does not return.
	Known []object.Resource
	// Parallel limits the requests in flight (16 if it is 0), Page the objects of one (500).
	Parallel int
	Page     int
}

// Cluster is a Source that reads an API server. Call Kinds and Definitions before Read, and not
// during one; the other methods at any time.
type Cluster struct {
	opts   ClusterOptions
	base   *url.URL
	client *http.Client
	pause  func(context.Context, time.Duration) error // replaced by tests
	// found is the last result of discovery. It is replaced as a whole, since others read
	// concurrently.
	found *atomic.Pointer[discovered]
	// rechecked is set once discovery was repeated; copies of a Cluster share it.
	rechecked *atomic.Bool
}

// NewCluster returns a source for a cluster. It sends no request.
func NewCluster(o ClusterOptions) (*Cluster, error) {
	if o.Detail == nil {
		o.Detail = func(object.Resource) (Detail, string) { return Metadata, "" }
	}
	o.Parallel, o.Page = cmp.Or(o.Parallel, 16), cmp.Or(o.Page, 500)
	config := rest.CopyConfig(o.Config)
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("set up a client for %s: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("set up a client for %s: %w", config.Host, err)
	}
	return &Cluster{opts: o, base: base, client: client, pause: pause, found: &atomic.Pointer[discovered]{}, rechecked: &atomic.Bool{}}, nil
}

// Whole returns the same cluster as a source of whole objects, as maps and lists. Secrets and
// ConfigMaps are still read as metadata.
func (c *Cluster) Whole() *Cluster {
	whole := *c
	whole.found = &atomic.Pointer[discovered]{}
	whole.found.Store(c.found.Load())
	whole.opts.Detail = func(object.Resource) (Detail, string) { return Fields, "" }
	return &whole
}

// job reads something into a sink, and reports its failures there. It returns an error if the other
// jobs would fail as well.
type job func(context.Context) error

// Read lists and gets what the query selects, in parallel up to the limit.
func (c *Cluster) Read(ctx context.Context, ask Query, sink Sink) error {
	if c.Current() == nil {
		if err := c.discover(ctx, sink); err != nil {
			return err
		}
	}
	held := &unfound{Sink: sink}
	var jobs []job
	for _, w := range c.lists(ask) {
		switch {
		case w.aggregated:
			jobs = append(jobs, c.aggregated(w.Resource, held))
		case w.ns == "":
			jobs = append(jobs, c.everywhere(w.Resource, ask.Namespaces, held))
		default:
			jobs = append(jobs, func(ctx context.Context) error { return c.listInto(ctx, w.Resource, w.ns, held) })
		}
	}
	jobs = append(jobs, c.gets(ask.Objects, held)...)
	if err := c.run(ctx, jobs); err != nil {
		return err
	}
	return c.recheck(ctx, held.gaps, sink)
}

// listed is a list that a query needs.
type listed struct {
	object.Resource
	ns         string // empty for all namespaces
	aggregated bool   // only the APIServices with a Service
}

// lists returns the lists that a query needs, in the order of the kinds.
func (c *Cluster) lists(ask Query) []listed {
	var out []listed
	for _, r := range c.Current().All() {
		named := slices.Contains(ask.Kinds, r.GroupKind())
		if !r.Listable || LeftOut(r) && !named && !slices.Contains(ask.Include, r.GroupKind()) && !c.includes(r) {
			continue
		}
		switch {
		case ask.All, named:
			out = append(out, listed{Resource: r, aggregated: !ask.All && r.GroupKind() == apiServiceKind})
		case r.Namespaced && !slices.Contains(ask.Have, r.GroupKind()):
			for _, ns := range ask.Namespaces {
				out = append(out, listed{Resource: r, ns: ns})
			}
		}
	}
	return out
}

func (c *Cluster) includes(r object.Resource) bool { return c.opts.Also != nil && c.opts.Also(r) }

// run runs the jobs, with a limit on how many at a time. The first error cancels the rest.
func (c *Cluster) run(parent context.Context, jobs []job) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	next := make(chan job)
	var wg sync.WaitGroup
	for range min(c.opts.Parallel, len(jobs)) {
		wg.Go(func() {
			for job := range next {
				if ctx.Err() != nil {
					continue
				}
				if err := job(ctx); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, job := range jobs {
		next <- job
	}
	close(next)
	wg.Wait()
	if parent.Err() != nil {
		return parent.Err()
	}
	return context.Cause(ctx)
}

const notLocal = "!kube-aggregator.kubernetes.io/automanaged"

// aggregated lists the APIServices with a Service. The others, one for each group and version that
// the API server serves itself, have no references. Since they are not read, nothing is covered.
func (c *Cluster) aggregated(r object.Resource, sink Sink) job {
	return func(ctx context.Context) error {
		read, detail := c.detail(r, sink)
		if err := c.listSelected(ctx, read, "", selection{labels: notLocal}, detail, sink); err != nil {
			return c.settle(ctx, read, "", err, sink)
		}
		return nil
	}
}

// everywhere lists a kind in all namespaces. If that is forbidden, it lists the kind in each of the
// given namespaces.
func (c *Cluster) everywhere(r object.Resource, namespaces []string, sink Sink) job {
	return func(ctx context.Context) error {
		read, detail := c.detail(r, sink)
		err := c.list(ctx, read, "", detail, sink)
		if !apierrors.IsForbidden(err) || !r.Namespaced {
			return c.settle(ctx, read, "", err, sink)
		}
		sink.Gap(gap(read, "", err))
		for _, ns := range namespaces {
			if err := c.listInto(ctx, r, ns, sink); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *Cluster) listInto(ctx context.Context, r object.Resource, ns string, sink Sink) error {
	r, detail := c.detail(r, sink)
	return c.settle(ctx, r, ns, c.list(ctx, r, ns, detail, sink), sink)
}

// settle reports the result of a list to the sink. Objects of a list that failed midway stay, with
// the gap.
//
// NotFound is a gap, too: discovery has the kind, so either it was deleted with its objects, or
// cached discovery has an old version and the objects exist in another. See recheck.
func (c *Cluster) settle(ctx context.Context, r object.Resource, ns string, err error, sink Sink) error {
	var gone *ConnectError
	switch {
	case ctx.Err() != nil:
	case err == nil:
		sink.Cover(r.GroupKind(), ns)
	case errors.As(err, &gone):
		return err
	default:
		sink.Gap(gap(r, ns, err))
	}
	return nil
}

// List adds the metadata of every object of a resource to the sink. Its failure is a gap; it covers
// nothing.
func (c *Cluster) List(ctx context.Context, r object.Resource, ns string, sink Sink) {
	if !r.Namespaced {
		ns = ""
	}
	if err := c.list(ctx, r, ns, Metadata, sink); err != nil && ctx.Err() == nil {
		sink.Gap(gap(r, ns, err))
	}
}
