package stack

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// levelRules are about the apps of a System: what its level needs, and no other rule checks.
func levelRules() []check.Rule {
	return []check.Rule{
		{
			ID: "stack-built", Category: check.Consumability, Severity: check.Warning, Guidelines: []check.Guideline{check.CoreOSGuideline(1), check.CoreOSGuideline(6)},
			Title: "The apps of a System can be built and updated",
			Why:   "An app that was applied by hand is lost with its namespace, and its next version is applied by hand as well.",
			Fix:   "Add its objects to spec.apps[].resources (kubectl sysop system export writes them), or name the operator that runs it in spec.apps[].operator.",
			Stack: built,
		},
		{
			ID: "stack-alerts", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(21)},
			Title: "Alerts are about the apps of a System",
			Why:   "Metrics that are only collected are looked up after users complain.",
			Fix:   "Add spec.monitoring to the System and run kubectl sysop upgrade -f FILE, or run kubectl sysop monitor apply. Where alerts are defined outside the cluster, waive the rule.",
			Stack: alerts,
		},
		{
			ID: "stack-scaled", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(14)},
			Title: "The apps of a System are scaled with their load",
			Why:   "A fixed number of replicas is too small at the peak, and is paid for at night.",
			Fix:   "Run kubectl sysop autoscale plan: it proposes a scaler, or says why none fits. autoscaling: false excludes an app.",
			Stack: scaled,
		},
	}
}

// built looks for what brings each root of an app: the manifest, an operator, a release or a GitOps
// tool.
func built(s *check.Stack, r *check.Result) {
	a, w := appOf(s), s.World
	if a == nil {
		return
	}
	for _, root := range a.Roots {
		custom, isCustom := w.Kinds.Kind(root.GroupKind())
		id, _ := w.Graph.Find(root)
		switch {
		case slices.Contains(a.Contained, root), a.Operator != "", isCustom && custom.Custom, w.InstalledBy(root) != "", len(w.Graph.ManagersOf(id)) > 0:
			r.Pass(root)
		default:
			r.AddFinding(check.Finding{
				Object:  root,
				Message: "the manifest does not contain it, and no operator, Helm release or GitOps tool is known that creates it",
			})
		}
	}
}

// scalerKinds are the kinds that set or recommend the size of a workload.
var scalerKinds = []schema.GroupKind{
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
	{Group: "keda.sh", Kind: "ScaledObject"},
	{Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler"},
}

// scaled looks for the scalers of the workloads of an app that can be scaled.
func scaled(s *check.Stack, r *check.Result) {
	a, w := appOf(s), s.World
	if a == nil || a.NotScaled {
		return
	}
	for _, wl := range w.WorkloadsOf(objectsOf(w, a)) {
		target, scalable := scaleOf(w, wl)
		if !scalable {
			continue
		}
		unread := slices.IndexFunc(scalerKinds, func(gk schema.GroupKind) bool {
			_, served := w.Kinds.Kind(gk)
			return served && !w.Read(gk, wl.Ref.Namespace)
		})
		switch {
		case isScaled(w, target) || isScaled(w, wl.Ref):
			r.Pass(target)
		case unread >= 0:
			r.AddUnread(target, scalerKinds[unread].String())
		default:
			r.AddFinding(check.Finding{Object: target, Field: "spec.replicas", Value: fmt.Sprint(wl.Replicas), Message: "nothing scales it with its load"})
		}
	}
}

// scaleOf returns the object whose replicas load may decide: the workload, or the custom resource
// whose operator sizes it. It is false for one that has no such number, and for pods that share a
// claim of one node.
func scaleOf(w *check.ClusterState, wl *check.Workload) (object.Ref, bool) {
	if owner, custom := w.CustomOwner(wl); custom {
		kind, served := w.Kinds.Kind(owner.GroupKind())
		return owner, served && kind.Scalable
	}
	isSet := wl.Ref.Group == "apps" && wl.Ref.Kind != "DaemonSet"
	return wl.Ref, isSet && wl.Replicas > 0 && w.PinningClaim(wl) == nil
}

func isScaled(w *check.ClusterState, ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return false
	}
	for e := range w.Graph.In(id) {
		if w.Graph.State(e.From) == graph.Present && slices.Contains(scalerKinds, w.Graph.Ref(e.From).GroupKind()) {
			return true
		}
	}
	return false
}
