package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func budgetRules() []check.Rule {
	return []check.Rule{
		{
			ID: "budget-present", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(19)},
			Title: "Replicas have a PodDisruptionBudget",
			Why:   "Without one, the drain of several nodes for an upgrade may evict all replicas at once.",
			Fix:   "Add a PodDisruptionBudget with maxUnavailable: 1 that selects the pods.",
			Stack: budgetPresent,
		},
		{
			ID: "budget-allows", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(19)},
			Title: "PodDisruptionBudgets allow an eviction while all pods are healthy",
			Why:   "A budget that allows no eviction while every pod is healthy blocks the drain of each node with its pods, until the budget or the pod is deleted.",
			Fix:   "Set maxUnavailable to 1 or more, or run one replica more than minAvailable.",
			Stack: budgetAllows,
		},
		{
			ID: "budget-one-per-pod", Category: check.Robustness, Severity: check.Error, Guidelines: []check.Guideline{check.MaturityGuideline(19)},
			Title: "No pod is selected by two PodDisruptionBudgets",
			Why:   "The API server refuses to evict a pod that several budgets select, so that its node cannot be drained.",
			Fix:   "Narrow the selectors of the budgets, or delete all but one.",
			Stack: budgetSingle,
		},
	}
}

func budgetPresent(s *check.Stack, r *check.Result) {
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		if !c.Replicated() || len(c.Pods) == 0 {
			continue
		}
		var uncovered []string
		for _, p := range c.Pods {
			if len(s.World.Serving(check.PodRef(p), check.BudgetKind)) == 0 {
				uncovered = append(uncovered, p.Name)
			}
		}
		switch {
		case len(uncovered) == 0:
			r.Pass(c.Ref)
		case !s.World.Read(check.BudgetKind, c.Pods[0].Namespace):
			r.AddUnread(c.Ref, "PodDisruptionBudgets of "+c.Pods[0].Namespace)
		case len(uncovered) == len(c.Pods):
			r.AddFinding(check.Finding{
				Object:  c.Ref,
				Message: fmt.Sprintf("has %d replicas and no PodDisruptionBudget: drains of their nodes may evict all of them at once", c.Replicas),
			})
		default:
			r.AddFinding(check.Finding{
				Severity: check.Info, Object: c.Ref,
				Message: fmt.Sprintf("%s of %d has no PodDisruptionBudget: %s", object.Count(len(uncovered), "pod"), len(c.Pods), object.ShortList(uncovered)),
			})
		}
	}
}

func budgetAllows(s *check.Stack, r *check.Result) {
	for _, ref := range s.Members() {
		b, ok := check.Of[*policyv1.PodDisruptionBudget](s.World.Facts, ref)
		if !ok {
			continue
		}
		pods := s.World.PodsBehind(ref)
		if len(pods) == 0 {
			continue // The graph reports selectors that match nothing.
		}
		f, wrong := stuck(s.World, ref, b, pods)
		if !wrong {
			r.Pass(ref)
			continue
		}
		r.AddFinding(f)
	}
}

// stuck reports whether a budget allows no eviction although all of its pods are healthy.
func stuck(w *check.ClusterState, ref object.Ref, b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (check.Finding, bool) {
	f := check.Finding{Object: ref}
	for _, wl := range w.WorkloadsOf(check.PodRefs(pods)) {
		f.Related = append(f.Related, wl.Ref)
	}
	if failed := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition); failed != nil && failed.Status == metav1.ConditionFalse && failed.Reason == policyv1.SyncFailedReason {
		f.Field, f.Value = "status.conditions[DisruptionAllowed].reason", failed.Reason
		f.Message = "allows no eviction: the disruption controller cannot compute it: " + failed.Message
		f.Remedy = "Use minAvailable with a number where the pods' controller has no scale subresource, and select pods that have a controller."
		return f, true
	}
	current := b.Status.ObservedGeneration >= b.Generation && b.Status.ExpectedPods > 0
	if current && (b.Status.DisruptionsAllowed > 0 || b.Status.CurrentHealthy < b.Status.ExpectedPods) {
		return f, false
	}
	expected := int(b.Status.ExpectedPods)
	if !current {
		expected = len(pods)
	}
	if allowed, _ := allowedEvictions(b, expected); !current && allowed > 0 {
		return f, false
	}
	f.Field, f.Value = check.BudgetField(b)
	f.Message = fmt.Sprintf("allows no eviction although %d of %d pods are healthy: every drain of their nodes waits", expected, expected)
	if owner, ok := w.Owner(ref); ok {
		// Operators guard the pods that they move themselves: a primary, which they hand over
		// when its node is cordoned.
		f.Severity = check.Info
		f.Message += fmt.Sprintf(", until the operator of %s moves the pod", check.Near(owner, ref))
		f.Remedy = "Check whether the operator moves the pod when its node is cordoned; if not, change the budget through " + check.Near(owner, ref) + "."
		return f, true
	}
	if expected == 1 {
		f.Remedy = "Run two replicas, or delete the budget: with one pod it can only block."
		return f, true
	}
	if b.Spec.MaxUnavailable != nil {
		f.Patch = "spec: {maxUnavailable: 1}"
	} else {
		f.Patch = "spec: {minAvailable: null, maxUnavailable: 1}"
	}
	return f, true
}

// allowedEvictions returns how many of a number of healthy pods a budget lets go, by the
// arithmetic of the disruption controller: percentages are rounded up, and without either
// field nothing is allowed.
func allowedEvictions(b *policyv1.PodDisruptionBudget, pods int) (int, error) {
	if b.Spec.MaxUnavailable != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, pods, true)
		return max(0, min(n, pods)), err
	}
	if b.Spec.MinAvailable == nil {
		return 0, nil
	}
	least, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, pods, true)
	return max(0, pods-least), err
}

func budgetSingle(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		var twice []string
		var budgets []object.Ref
		any := false
		for _, p := range wl.Pods {
			serving := s.World.Serving(check.PodRef(p), check.BudgetKind)
			any = any || len(serving) > 0
			if len(serving) > 1 {
				twice = append(twice, p.Name)
				budgets = append(budgets, serving...)
			}
		}
		if len(twice) == 0 {
			if any {
				r.Pass(wl.Ref)
			}
			continue
		}
		slices.SortFunc(budgets, object.Compare)
		budgets = slices.Compact(budgets)
		var names []string
		for _, b := range budgets {
			names = append(names, b.Name)
		}
		r.AddFinding(check.Finding{
			Object: wl.Ref, Field: "spec.selector", Related: budgets,
			Message: fmt.Sprintf("%s selected by several budgets (%s): the API server refuses to evict such a pod", object.CountAre(len(twice), "pod"), object.ShortList(names)),
		})
	}
}
