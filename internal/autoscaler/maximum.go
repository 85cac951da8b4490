package autoscaler

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// preflight evaluates whether quotas and nodes have room for all maxima at the same time. It asks
// the API server for no dry run: a plan needs no permission to write.
func (r *reading) preflight(ctx context.Context, plan *autoscale.Plan) ([]autoscale.Finding, error) {
	var docs []source.Document
	for wl, replicas := range plan.AtMaximum() {
		o, err := scaledTo(wl, replicas)
		if err != nil {
			return nil, err
		}
		docs = append(docs, source.Document{At: source.Position{File: wl.Ref.String()}, Object: o.Object})
	}
	if len(docs) == 0 {
		return nil, nil
	}
	slices.SortFunc(docs, func(a, b source.Document) int { return strings.Compare(a.At.File, b.At.File) })
	in := *r.in
	in.Extract, in.Collect = nil, nil
	a, err := app.NewPreflight(ctx, &in, app.PreflightRequest{Docs: docs, NoDryRun: true})
	if err != nil {
		return nil, err
	}
	q, err := a.Evaluation(ctx, nil)
	if err != nil {
		return nil, err
	}
	var out []autoscale.Finding
	report := preflight.Evaluate(q)
	for i := range report.Findings {
		f := &report.Findings[i]
		ofRoom := f.Topic == preflight.Quota || f.Topic == preflight.Scheduling || f.Topic == preflight.Storage
		if f.Verdict == schedule.Fits || !ofRoom {
			continue
		}
		reason := "Room"
		if f.Verdict == schedule.Unknown {
			reason = "RoomUnknown"
		}
		out = append(out, autoscale.Finding{Object: f.Object, Reason: reason, Message: "at its maximum: " + f.Message, Hint: f.Remedy})
	}
	return out, nil
}

// scaledTo is a workload as it would be written, with other replicas.
func scaledTo(wl *check.Workload, replicas int) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wl.Object)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: wl.Ref.Group, Version: "v1", Kind: wl.Ref.Kind})
	delete(o.Object, "status")
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
	}
	return o, unstructured.SetNestedField(o.Object, int64(replicas), "spec", "replicas")
}
