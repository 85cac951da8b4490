package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

func policyKinds() []kindRule {
	return []kindRule{
		typed("autoscaling", "v2", "HorizontalPodAutoscaler", autoscalerHealth),
		typed("policy", "v1", "PodDisruptionBudget", budgetHealth),
		typed("", "v1", "ResourceQuota", quotaHealth),
	}
}

// warmUp is how long an autoscaler may be without metrics: the control plane gives pods as long
// (--horizontal-pod-autoscaler-cpu-initialization-period).
const warmUp = 5 * time.Minute

// autoscalerHealth evaluates whether it can scale, not whether it is at its limit, which its owner
// set.
func autoscalerHealth(s *subject, a *autoscalingv2.HorizontalPodAutoscaler) Health {
	if observed := a.Status.ObservedGeneration; observed != nil {
		if h, stale := s.stale(*observed); stale {
			return h
		}
	}
	state := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType) stated {
		return find(a.Status.Conditions, kind, saidOfAutoscaler)
	}
	able, active, limited := state(autoscalingv2.AbleToScale), state(autoscalingv2.ScalingActive), state(autoscalingv2.ScalingLimited)
	switch {
	case !able.found() && !active.found():
		return newHealth(Progressing, s.createdAt(), "NotObserved", "it has not tried to scale yet")
	case able.no() && !strings.HasPrefix(able.reason, "Backoff"):
		return able.as(Degraded, "UnableToScale", "it is not able to scale")
	case active.no() && active.reason == "ScalingDisabled":
		return active.as(Suspended, "ScalingDisabled", "scaling is disabled: its target has no replicas")
	case active.no():
		h := active.as(Degraded, "ScalingInactive", "it cannot compute how many replicas are needed")
		if strings.HasPrefix(active.reason, "FailedGet") && !s.lasted(s.createdAt(), warmUp) {
			h.Status = Progressing // the first pods have no metrics yet
		}
		return h
	case !active.yes():
		return newHealth(Progressing, able.since, "NoMetrics", "it has not read its metrics yet")
	}
	message := fmt.Sprintf("%d replicas, %d requested", a.Status.CurrentReplicas, a.Status.DesiredReplicas)
	if limited.yes() {
		message += "; " + or(limited.message, "it is at its limit")
	}
	return newHealth(Healthy, active.since, or(active.reason, "ScalingActive"), "%s", message)
}

// budgetHealth evaluates a budget by what it allows. One that allows no disruption although all of
// its pods are well never will: none of their nodes can be drained, and no controller changes that.
func budgetHealth(s *subject, b *policyv1.PodDisruptionBudget) Health {
	if h, stale := s.stale(b.Status.ObservedGeneration); stale {
		return h
	}
	have := b.Status
	allowed := find(have.Conditions, policyv1.DisruptionAllowedCondition, saidOf)
	since := allowed.since
	if since.IsZero() {
		since = s.createdAt()
	}
	count := fmt.Sprintf("%d/%d pods healthy, %d needed", have.CurrentHealthy, have.ExpectedPods, have.DesiredHealthy)
	switch {
	case allowed.reason == policyv1.SyncFailedReason:
		return allowed.as(Degraded, policyv1.SyncFailedReason, "its allowed disruptions cannot be computed")
	case have.ObservedGeneration == 0 && !allowed.found():
		return newHealth(Progressing, s.createdAt(), ReasonNotObserved, "its controller has not processed it yet")
	case have.ExpectedPods == 0:
		return newHealth(Healthy, since, "NoPods", "it protects no pods")
	case have.DisruptionsAllowed > 0:
		return newHealth(Healthy, since, or(allowed.reason, policyv1.SufficientPodsReason), "%s, %d may be disrupted", count, have.DisruptionsAllowed)
	case have.CurrentHealthy >= have.ExpectedPods && have.DesiredHealthy >= have.ExpectedPods:
		return newHealth(Degraded, since, "DisruptionsForbidden", "%s: it forbids every disruption", count)
	case have.CurrentHealthy < have.DesiredHealthy:
		// New pods do not count as healthy either.
		return newHealth(s.progressingUntil(since, startTimeout), since, policyv1.InsufficientPodsReason, "%s", count)
	}
	return newHealth(Healthy, since, "NoneAllowedNow", "%s, none may be disrupted now", count)
}

// quotaHealth: an exhausted quota does what it is for.
func quotaHealth(s *subject, q *corev1.ResourceQuota) Health {
	if len(q.Spec.Hard) > 0 && len(q.Status.Hard) == 0 {
		return newHealth(Progressing, s.createdAt(), "NotObserved", "its usage is not computed yet")
	}
	var full []string
	for name, hard := range q.Status.Hard {
		if used, ok := q.Status.Used[name]; ok && used.Cmp(hard) >= 0 {
			full = append(full, fmt.Sprintf("%s %s/%s", name, used.String(), hard.String()))
		}
	}
	if len(full) == 0 {
		return newHealth(Healthy, s.createdAt(), "WithinQuota", "%d resources within their limits", len(q.Status.Hard))
	}
	slices.Sort(full)
	return newHealth(Healthy, s.createdAt(), "QuotaUsedUp", "used up: %s", strings.Join(full, ", "))
}
