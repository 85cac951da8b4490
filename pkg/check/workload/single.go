package workload

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func singleRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-single", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "What others depend on has a second replica",
			Why:   "When the only pod behind a Service is lost, to an update, a drain or a failure, everything that depends on the Service fails until it is back.",
			Fix:   "Run two replicas, if the application can; else waive the rule, with the downtime that is acceptable.",
			Stack: single,
		},
		{
			ID: "pod-recreate", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(7)},
			Title: "Updates keep replicas running",
			Why:   "With the strategy Recreate every update stops all pods before the first new one starts.",
			Fix:   "Set spec.strategy.type to RollingUpdate, unless two versions must not run side by side.",
			Stack: recreate,
		},
	}
}

// single finds Services that others need and that have one pod, without another replica.
func single(s *check.Stack, r *check.Result) {
	found := map[object.Ref]bool{}
	for _, ref := range s.Members() {
		if ref.GroupKind() != check.ServiceKind {
			continue
		}
		var pods []*check.Workload
		for _, p := range s.World.PodsBehind(ref) {
			if wl, ok := s.World.Workload(check.PodRef(p)); ok && wl.IsLongRunning() {
				pods = append(pods, wl)
			}
		}
		groups := s.World.ReplicaGroups(pods)
		needs := needing(s.World, ref, groups)
		if len(groups) == 0 || len(needs) == 0 {
			continue
		}
		c := groups[0]
		if len(groups) > 1 || c.Replicas > 1 || len(c.Pods) > 1 || c.Workloads[0].Ref.Kind == "DaemonSet" {
			r.Pass(c.Ref) // A DaemonSet has a pod on each node.
			continue
		}
		if found[c.Ref] {
			continue
		}
		found[c.Ref] = true
		f := check.Finding{Object: c.Ref, Related: append([]object.Ref{ref}, needs...)}
		if c.Workloads[0].Template != nil {
			f.Field, f.Value = "spec.replicas", fmt.Sprint(c.Replicas)
		}
		f.Message = fmt.Sprintf("is the only pod behind %s, which %s", check.Near(ref, c.Ref), namesNeed(needs, c.Ref))
		if f.Field != "" {
			f.Message = fmt.Sprintf("has the only pod behind %s, which %s", check.Near(ref, c.Ref), namesNeed(needs, c.Ref))
		}
		r.AddFinding(f)
	}
}

func namesNeed(needs []object.Ref, from object.Ref) string {
	var names []string
	for _, n := range needs {
		names = append(names, check.Near(n, from))
	}
	if len(names) == 1 {
		return names[0] + " needs"
	}
	return object.ShortList(names) + " need"
}

// needing returns the objects that need a Service or route requests to it, in order, without
// its pods and the owners or creators of these.
func needing(w *check.ClusterState, service object.Ref, groups []*check.ReplicaGroup) []object.Ref {
	id, ok := w.Graph.Find(service)
	if !ok {
		return nil
	}
	own := map[object.Ref]bool{}
	for _, c := range groups {
		for _, wl := range c.Workloads {
			own[wl.Ref] = true
		}
		for _, owner := range w.GroupOwners(c) {
			own[owner] = true
		}
	}
	var out []object.Ref
	for e := range w.Graph.In(id) {
		from := w.Graph.Ref(e.From)
		if w.Graph.State(e.From) != graph.Present || e.Optional || !sendsRequests(e, from) {
			continue
		}
		if wl, ok := w.Workload(from); ok {
			from = wl.Ref
		} else if from.Group == "apps" || from.Group == "batch" {
			from = w.BuiltInTop(from)
		}
		if !own[from] && !slices.Contains(out, from) {
			out = append(out, from)
		}
	}
	slices.SortFunc(out, object.Compare)
	return out
}

// sendsRequests reports whether an edge to a Service means that requests are sent to it.
func sendsRequests(e graph.Edge, from object.Ref) bool {
	switch {
	case from.Kind == "IPAddress" && from.Group == "networking.k8s.io", from.Group == rbacv1.GroupName:
		return false // They record it or name it, and send no requests.
	case e.Relation == relation.Needs:
		return e.Rule != "statefulset-service"
	case e.Relation != relation.Serves:
		return false
	}
	switch from.Group {
	case "networking.k8s.io":
		return from.Kind == "Ingress"
	case "gateway.networking.k8s.io":
		return e.Rule == "route-backend"
	case "admissionregistration.k8s.io", "apiregistration.k8s.io":
		return true
	}
	return false
}

func recreate(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		d, ok := wl.Object.(*appsv1.Deployment)
		if !ok || wl.Replicas < 1 {
			continue
		}
		if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
			r.Pass(wl.Ref)
			continue
		}
		// One replica with a volume of its own has no choice.
		if wl.Replicas == 1 && len(s.World.Claims(wl)) > 0 {
			r.Pass(wl.Ref)
			continue
		}
		r.AddFinding(check.Finding{
			Object: wl.Ref, Field: "spec.strategy.type", Value: string(d.Spec.Strategy.Type),
			Message: fmt.Sprintf("each update stops %s before the first new pod starts", allPods(wl.Replicas)),
		})
	}
}

func allPods(n int32) string {
	if n == 1 {
		return "the only pod"
	}
	return fmt.Sprintf("all %d pods", n)
}
