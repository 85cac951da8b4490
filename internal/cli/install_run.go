package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/postrenderer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// wire gives the runner what it cannot know: health, values of others, where to tell.
func (o *installOptions) wire(r *install.Runner, c *installCluster) {
	r.Events = o.progress.print
	r.Now = o.env.Now
	r.Restorable = func(existing, was *unstructured.Unstructured) error {
		if fine, reason := crd.Restorable(was, existing); !fine {
			return errors.New(reason)
		}
		return nil
	}
	r.Gate = func(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
		return o.waitHealthy(ctx, refs, timeout, func(text string) {
			o.progress.print(journal.Event{At: o.env.Now(), Kind: journal.EventWaiting, Message: "for health: " + text})
		})
	}
	r.Resolve = func(ctx context.Context, conn install.Connection) (any, error) { return o.resolve(ctx, c, conn) }
}

// resolving is how often a missing value is read again.
const resolving = time.Second

// resolve waits for the value of a connection.
func (o *installOptions) resolve(ctx context.Context, c *installCluster, conn install.Connection) (any, error) {
	ctx, stop := context.WithTimeoutCause(ctx, o.timeout, errTooLong)
	defer stop()
	for {
		value, err := o.valueNow(ctx, c, conn)
		if err == nil || !errors.Is(err, install.ErrNoValue) && !apierrors.IsNotFound(err) {
			return value, err
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTooLong) {
				return nil, fmt.Errorf("no value after %s: %w", o.timeout, err)
			}
			return nil, ctx.Err()
		case <-time.After(resolving):
		}
	}
}

func (o *installOptions) valueNow(ctx context.Context, c *installCluster, conn install.Connection) (any, error) {
	kind, ok := c.Kinds.Kind(conn.From.GroupKind())
	if !ok { // Its definition is of this run.
		o.forgetKinds()
		kinds, err := c.From.Kinds(ctx, &app.EarlyGaps{})
		if err != nil {
			return nil, err
		}
		c.Kinds = kinds
		if kind, ok = kinds.Kind(conn.From.GroupKind()); !ok {
			return nil, fmt.Errorf("the cluster does not serve %s", conn.From.GroupKind())
		}
	}
	from, err := c.reader.Get(ctx, kind, conn.From.Namespace, conn.From.Name)
	if err != nil {
		return nil, err
	}
	return install.ResolveValue(from, conn.Path)
}

// options are those of the run of a plan.
func (p *installPlan) options() install.Options {
	o := p.o
	out := install.Options{
		KeepFailed: o.keepFailed, NoWait: o.noWait, TakeOwnership: o.takeOwnership, ForceConflicts: o.takeOwnership, Lookup: o.lookup,
		Kubernetes: p.cluster.kubernetes, APIs: p.cluster.apis(), Manifest: p.text, Timeout: o.timeout, StatusTimeout: max(o.timeout, undoing), Look: min(o.timeout, undoing),
	}
	if p.made != nil {
		out.APIs, out.PostRenderer = p.made.apis, p.postRenderer
	}
	return out
}

// postRenderer puts the values of connections into what the chart of a part makes.
func (p *installPlan) postRenderer(part *install.Part, values []install.Resolved) (postrenderer.PostRenderer, error) {
	opts := p.made.options(part)
	opts.APIs = part.APIs
	opts.Set = map[object.Ref][]chart.FieldValue{}
	for _, v := range values {
		value, err := p.fitting(part, v)
		if err != nil {
			return nil, err
		}
		opts.Set[v.To] = append(opts.Set[v.To], chart.FieldValue{Field: v.Field, Value: value})
	}
	return chart.NewPostRenderer(part.Chart, opts, part.Rendered), nil
}

// do does the plan. Where that fails and is undone, the objects of a System get its label again.
func (p *installPlan) do(ctx context.Context) (install.Report, error) {
	report, err := p.runner.Do(ctx, p.planned, p.options())
	if err != nil {
		p.o.remember(ctx, p.cluster, p.runner, p.of, report)
	}
	return report, err
}

// fitting is the value of a connection as the type that its field has.
func (p *installPlan) fitting(part *install.Part, v install.Resolved) (any, error) {
	for _, o := range part.Rendered.Objects {
		if refOfObject(o) != v.To {
			continue
		}
		to := o.DeepCopy()
		if err := install.Flow(v.Connection, to, v.Value, p.made.schema(o.GroupVersionKind())); err != nil {
			return nil, err
		}
		return install.ResolveValue(to, v.Field)
	}
	return nil, fmt.Errorf("%s creates no %s", part.Name, v.To)
}
