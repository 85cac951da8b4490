package drain

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// budgets follows the eviction API of Kubernetes 1.36
// (pkg/registry/core/pod/storage/eviction.go): pods that wait for their start or that are
// about to go are deleted without asking; a pod with several budgets is refused; one that
// is not ready goes where its budget says AlwaysAllow, or where enough others are healthy;
// every other takes one of the disruptions that are allowed.
type budgets struct {
	w *check.ClusterState
	// taking are the pods that take a disruption, guarded all pods on the node, by budget.
	taking  map[object.Ref][]object.Ref
	guarded map[object.Ref]int
}

func newDrainBudgets(w *check.ClusterState) *budgets {
	return &budgets{w: w, taking: map[object.Ref][]object.Ref{}, guarded: map[object.Ref]int{}}
}

// ask notes the budgets of a pod, and whether it takes a disruption.
func (b *budgets) ask(p *corev1.Pod, x *Pod) {
	x.Budgets = b.w.Serving(x.Pod, check.BudgetKind)
	for _, ref := range x.Budgets {
		b.guarded[ref]++
	}
	if p.Status.Phase == corev1.PodPending || p.DeletionTimestamp != nil || len(x.Budgets) == 0 {
		return
	}
	if len(x.Budgets) > 1 {
		var names []string
		for _, ref := range x.Budgets {
			names = append(names, ref.Name)
		}
		x.Refused = "several PodDisruptionBudgets select it (" + object.ShortList(names) + "), for which the API server refuses every eviction"
		return
	}
	budget, ok := check.Of[*policyv1.PodDisruptionBudget](b.w.Facts, x.Budgets[0])
	if !ok {
		return
	}
	if !x.Ready {
		policy := budget.Spec.UnhealthyPodEvictionPolicy
		if policy != nil && *policy == policyv1.AlwaysAllow || budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0 {
			return
		}
	}
	b.taking[x.Budgets[0]] = append(b.taking[x.Budgets[0]], x.Pod)
}

// evaluate predicts what each budget does in the drain, and marks the pods that it refuses or
// delays.
func (b *budgets) evaluate(pods []Pod) []Budget {
	var out []Budget
	for _, ref := range slices.SortedFunc(maps.Keys(b.guarded), object.Compare) {
		budget, ok := check.Of[*policyv1.PodDisruptionBudget](b.w.Facts, ref)
		if !ok {
			continue
		}
		d := Budget{Ref: ref, Pods: len(b.taking[ref]), Allowed: budget.Status.DisruptionsAllowed}
		verdict(&d, budget)
		for i := range pods {
			x := &pods[i]
			if !slices.Contains(b.taking[ref], x.Pod) {
				continue
			}
			if d.Blocks {
				x.Refused = ref.Name + " " + d.Message
			} else {
				x.Waits = int(d.Allowed) < d.Pods
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Budget) int {
		if a.Blocks != b.Blocks {
			return trueFirst(a.Blocks)
		}
		return 0
	})
	return out
}

// verdict decides whether a budget allows the eviction of its pods, and why.
func verdict(d *Budget, b *policyv1.PodDisruptionBudget) {
	st := &b.Status
	switch failed := meta.FindStatusCondition(st.Conditions, policyv1.DisruptionAllowedCondition); {
	case d.Pods == 0:
		d.Message = "allows to evict its pods here: none of them is healthy"
	case st.ObservedGeneration < b.Generation:
		d.Blocks = true
		d.Message = "was changed, and the disruption controller has not processed it since"
	case st.DisruptionsAllowed <= 0 && failed != nil && failed.Status == metav1.ConditionFalse && failed.Reason == policyv1.SyncFailedReason:
		d.Blocks, d.Never = true, true
		d.Message = "allows no eviction: the disruption controller cannot compute it: " + failed.Message
	case st.DisruptionsAllowed <= 0 && st.ExpectedPods == 0:
		d.Blocks = true
		d.Message = "allows no eviction: the disruption controller has counted no pods for it"
	case st.DisruptionsAllowed <= 0 && st.CurrentHealthy >= st.ExpectedPods:
		d.Blocks, d.Never = true, true
		field, value := check.BudgetField(b)
		d.Message = fmt.Sprintf("allows no eviction although %d of %d pods are healthy (%s: %s)", st.ExpectedPods, st.ExpectedPods, field, value)
	case st.DisruptionsAllowed <= 0:
		d.Blocks = true
		d.Message = fmt.Sprintf("allows no eviction while %d of %d pods are healthy: it requires %d", st.CurrentHealthy, st.ExpectedPods, min(st.DesiredHealthy+1, st.ExpectedPods))
	case int(st.DisruptionsAllowed) < d.Pods:
		d.Message = fmt.Sprintf("allows to evict %d of its %d pods here at once: the drain waits until those run elsewhere", st.DisruptionsAllowed, d.Pods)
	default:
		d.Message = fmt.Sprintf("allows to evict its %s here", object.Count(d.Pods, "pod"))
	}
}
