package app

import (
	"cmp"
	"context"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// addBackups adds to each stack the age of the last good backup of its objects.
func (h *HealthResult) addBackups() {
	copies := h.verdicts.Copies(h.Graph)
	if len(copies) == 0 {
		return
	}
	for i := range h.Stacks {
		s := &h.Stacks[i]
		last, found := check.LastCopy(copies, h.refsOf(s.Stack), h.Session.AsOf())
		if !found {
			continue
		}
		e := document.Evidence{Source: "backup", Object: last.Record.String(), Message: cmp.Or(last.Problem(), "the last good backup"), Since: last.Time}
		s.Evidence = append(s.Evidence, e)
	}
}

func (h *HealthResult) refsOf(s *graph.Stack) []object.Ref {
	var out []object.Ref
	for _, id := range s.Members() {
		if h.Graph.State(id) == graph.Present && !s.Boundary(id) {
			out = append(out, h.Graph.Ref(id))
		}
	}
	return out
}

// AskPrometheus adds to each stack what a Prometheus says about it. It returns a gap where that cannot be
// asked: the health of the objects stands without it.
func (h *HealthResult) AskPrometheus(ctx context.Context, server HistorySource, timeout time.Duration) (*object.Gap, error) {
	var targets monitor.Targets
	var alerts monitor.Alerts
	err := h.Input.AskPrometheus(ctx, server, timeout, map[string]any{"targets": &targets, "alerts": &alerts})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		gap := object.Gap{Resource: "prometheus", Reason: "Unavailable", Message: err.Error()}
		h.gaps = append(h.gaps, gap)
		return &gap, nil
	}
	for i := range h.Stacks {
		s := &h.Stacks[i]
		s.Evidence = append(s.Evidence, monitor.Evidence(targets, alerts, h.targets(s), func(ref object.Ref) bool {
			id, ok := h.Graph.Find(ref)
			return ok && s.Stack.Has(id)
		})...)
	}
	return nil, nil
}

// targets is how many pods of a stack can be targets: those of Jobs end.
func (h *HealthResult) targets(s *view.HealthStack) int {
	n := 0
	for _, id := range s.Stack.Members() {
		if h.Graph.State(id) != graph.Present || h.Graph.Ref(id).GroupKind() != PodKind {
			continue
		}
		ends := false
		for _, owner := range h.Graph.OwnersOf(id) {
			ends = ends || h.Graph.Ref(owner).Kind == "Job"
		}
		if !ends {
			n++
		}
	}
	return n
}
