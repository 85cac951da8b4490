package installer

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
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// undoTimeout is how long an undo waits at least until one object is gone: a short timeout of a step
// must not leave the undo half done.
const undoTimeout = 2 * time.Minute

// valueInterval is how often a missing value is read again.
const valueInterval = time.Second

// restorable says why the former state of a CRD cannot be restored; nil if it can.
func restorable(existing, was *unstructured.Unstructured) error {
	if fine, reason := crd.Restorable(was, existing); !fine {
		return errors.New(reason)
	}
	return nil
}

// wire gives the runner what it cannot know: health, and values of other objects.
func (p *Plan) wire() {
	p.runner.Gate = func(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
		return p.waitHealthy(ctx, refs, timeout, func(text string) {
			p.emit(journal.Event{At: p.Input.Now(), Kind: journal.EventWaiting, Message: "for health: " + text})
		})
	}
	p.runner.Resolve = p.waitForValue
}

// waitForValue waits for the value of a connection.
func (p *Plan) waitForValue(ctx context.Context, conn connection.Connection) (any, error) {
	timeout := p.req.Timeout
	ctx, stop := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer stop()
	for {
		value, err := p.value(ctx, conn)
		if err == nil || !errors.Is(err, connection.ErrNoValue) && !apierrors.IsNotFound(err) {
			return value, err
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTimeout) {
				return nil, fmt.Errorf("no value after %s: %w", timeout, err)
			}
			return nil, ctx.Err()
		case <-time.After(valueInterval):
		}
	}
}

// value reads the current value of a connection.
func (c *cluster) value(ctx context.Context, conn connection.Connection) (any, error) {
	kind, ok := c.kinds.Kind(conn.From.GroupKind())
	if !ok { // This run has created its CRD.
		c.forgetKinds()
		kinds, err := c.from.Kinds(ctx, &app.EarlyGaps{})
		if err != nil {
			return nil, err
		}
		c.kinds = kinds
		if kind, ok = kinds.Kind(conn.From.GroupKind()); !ok {
			return nil, fmt.Errorf("the cluster does not serve %s", conn.From.GroupKind())
		}
	}
	from, err := c.reader.Get(ctx, kind, conn.From.Namespace, conn.From.Name)
	if err != nil {
		return nil, err
	}
	return connection.Resolve(from, conn.Path)
}

// options are those of the run of the plan.
func (p *Plan) options() install.Options {
	r := &p.req
	out := install.Options{
		KeepFailed: r.KeepFailed, NoWait: r.NoWait, TakeOwnership: r.TakeOwnership, ForceConflicts: r.TakeOwnership, Lookup: r.Lookup,
		Kubernetes: p.version, APIs: p.apis(), Manifest: r.Manifest, Stamp: r.Stamp, Unstamped: r.Unstamped, Timeout: r.Timeout, StatusTimeout: max(r.Timeout, undoTimeout), Look: min(r.Timeout, undoTimeout),
	}
	if p.loader != nil {
		out.APIs, out.PostRenderer = p.loader.apis, p.postRenderer
	}
	return out
}

// postRenderer puts the values of connections into the objects of a part.
func (p *Plan) postRenderer(part *install.Part, values []install.Resolved) (postrenderer.PostRenderer, error) {
	opts := p.loader.options(part)
	opts.APIs = part.APIs
	opts.Set = map[object.Ref][]chart.FieldValue{}
	for _, v := range values {
		value, err := p.convert(part, v)
		if err != nil {
			return nil, err
		}
		opts.Set[v.To] = append(opts.Set[v.To], chart.FieldValue{Field: v.Field, Value: value})
	}
	return chart.NewPostRenderer(part.Chart, opts, part.Rendered), nil
}

// convert returns the value of a connection as the type of its field.
func (p *Plan) convert(part *install.Part, v install.Resolved) (any, error) {
	for _, o := range part.Rendered.Objects {
		if object.RefOf(o) != v.To {
			continue
		}
		to := o.DeepCopy()
		if err := connection.Flow(v.Connection, to, v.Value, p.loader.schema(o.GroupVersionKind())); err != nil {
			return nil, err
		}
		return connection.Resolve(to, v.Field)
	}
	return nil, fmt.Errorf("%s creates no %s", part.Name, v.To)
}

// apply runs the plan, with dependents held if the System says so, and updates the record of the
// System: it stays adopted until all of its apps are gone.
func (p *Plan) apply(ctx context.Context) (Result, error) {
	if sys := p.regulated(); sys != nil {
		p.runner.Hold = p.Regulation.Hold(sys, p.Installation)
	}
	report, err := p.runner.Do(ctx, p.Planned, p.options())
	if err != nil {
		p.relabel(ctx, report)
	} else {
		err = p.updateSystem(ctx)
	}
	return Result{Plan: p, Applied: true, Report: report}, err
}

// updateSystem adopts an installed System, and releases an uninstalled one.
func (p *Plan) updateSystem(ctx context.Context) error {
	switch sys := p.req.System; {
	case p.req.Action == install.Uninstall && p.Installation.System:
		return p.Systems.Release(ctx, p.Installation)
	case sys != nil:
		p.forgetKinds()
		if err := p.Systems.Adopt(ctx, sys, p.req.Manifest); err != nil {
			return fmt.Errorf("all of %s is installed, but the System could not be adopted: %w", sys.Name, err)
		}
	}
	return nil
}

// Settle updates the record of the System if the plan has no steps: an earlier run may have been
// killed just before.
func (p *Plan) Settle(ctx context.Context) error {
	if p.req.DryRun != DryRunNone || p.req.Action == install.Uninstall && !wasUninstalled(p.journal) {
		return nil
	}
	return p.updateSystem(ctx)
}

// relabel restores the label of an adopted System on objects that an undo created again.
func (p *Plan) relabel(ctx context.Context, report install.Report) {
	if !p.Installation.System || report.Result != install.ResultUndone && report.Result != install.ResultPartlyUndone {
		return
	}
	ctx = context.WithoutCancel(ctx) // as the undo
	restored, err := p.runner.ReleasedObjects(ctx, report.Steps)
	if err == nil {
		err = p.Systems.Relabel(ctx, p.Installation, restored)
	}
	if err != nil {
		p.Input.Report.Note("the System is adopted, but not all of its objects carry its label: " + err.Error())
	}
}
