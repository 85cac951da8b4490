package autoscaler

import (
	"context"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// StatusResult is how the scalers of the workloads do.
type StatusResult struct {
	Scalers []autoscale.Status
	Session *app.Session
	Graph   *graph.Graph
}

// Works says that all scalers work, and that none is at its maximum.
func (r *StatusResult) Works() bool {
	return !slices.ContainsFunc(r.Scalers, func(s autoscale.Status) bool { return !s.Works() })
}

// Status reads how the HorizontalPodAutoscalers of the workloads do, those of others as well.
func Status(ctx context.Context, input *app.Input, req Request) (*StatusResult, error) {
	r, err := read(ctx, input, req)
	if err != nil {
		return nil, err
	}
	name, err := req.nameIn(r.namespace())
	if err != nil {
		return nil, err
	}
	targets := map[object.Ref]*check.Workload{}
	w := autoscale.World{Graph: r.Graph, State: r.state, Apps: r.apps}
	for _, wl := range w.Workloads() {
		targets[wl.Ref] = wl
		if owner, custom := r.state.CustomOwner(wl); custom {
			targets[owner] = wl
		}
	}
	costs := r.podCosts()
	out := &StatusResult{Scalers: []autoscale.Status{}, Session: r.Session, Graph: r.Graph}
	for _, h := range check.All[*autoscalingv2.HorizontalPodAutoscaler](r.state.Facts, "autoscaling", autoscale.Horizontal) {
		to := h.Spec.ScaleTargetRef
		target := object.Ref{Group: schema.FromAPIVersionAndKind(to.APIVersion, to.Kind).Group, Kind: to.Kind, Namespace: h.Namespace, Name: to.Name}
		wl := targets[target]
		if wl == nil {
			continue
		}
		s := autoscale.StatusOf(h, target, costs[wl.Ref], r.Ledger.Currency)
		maker := s.Scaler
		if owner, ok := r.state.Owner(s.Scaler); ok { // the ScaledObject that KEDA made it for
			maker = owner
		}
		s.Managed = r.state.Labels(maker)[regulate.InstalledLabel] == name || autoscale.StatedBy(r.state, maker) != ""
		out.Scalers = append(out.Scalers, s)
	}
	slices.SortFunc(out.Scalers, func(a, b autoscale.Status) int { return object.Compare(a.Scaler, b.Scaler) })
	return out, nil
}
