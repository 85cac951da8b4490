package autoscale

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Status is how one scaler does.
type Status struct {
	Scaler object.Ref `json:"scaler"`
	Target object.Ref `json:"target"`
	// Managed says that autoscale apply made it, or that the manifest of a System states it.
	Managed  bool `json:"managed"`
	Min      int  `json:"min"`
	Max      int  `json:"max"`
	Replicas int  `json:"replicas"`
	Desired  int  `json:"desired"`
	// Metrics are current and target utilization: "cpu 81% of 70%".
	Metrics []string `json:"metrics"`
	// Limit is max or min where it wants more or fewer, and Since when that began.
	Limit string    `json:"limit,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Scaled is when it last changed the replicas.
	Scaled time.Time `json:"scaled,omitzero"`
	// LiftCost is what one replica above the maximum costs a month; empty where that is unknown.
	LiftCost string `json:"liftCost,omitempty"`
	Currency string `json:"currency,omitempty"`
	// Problem is why it does not scale; empty if it does.
	Problem string `json:"problem,omitempty"`
}

// Works says that a scaler works and is not at its maximum.
func (s *Status) Works() bool { return s.Problem == "" && s.Limit != "max" }

// StatusOf reads an HPA. podCost is what a pod of its target costs a month.
func StatusOf(h *autoscalingv2.HorizontalPodAutoscaler, target object.Ref, podCost decimal.Decimal, currency string) Status {
	s := Status{
		Scaler: object.Ref{Group: horizontalKind.Group, Kind: Horizontal, Namespace: h.Namespace, Name: h.Name}, Target: target,
		Min: 1, Max: int(h.Spec.MaxReplicas), Replicas: int(h.Status.CurrentReplicas), Desired: int(h.Status.DesiredReplicas), Metrics: utilizations(h),
	}
	if h.Spec.MinReplicas != nil {
		s.Min = int(*h.Spec.MinReplicas)
	}
	if h.Status.LastScaleTime != nil {
		s.Scaled = h.Status.LastScaleTime.UTC()
	}
	if podCost.IsPositive() {
		s.LiftCost, s.Currency = podCost.StringFixed(2), currency
	}
	if len(h.Status.Conditions) == 0 {
		s.Problem = "its controller has not evaluated it yet"
	}
	for _, c := range h.Status.Conditions {
		switch {
		case c.Type == autoscalingv2.ScalingLimited && c.Status == corev1.ConditionTrue:
			// It is also limited by how fast it may scale, which is no limit of replicas.
			switch {
			case c.Reason == "TooManyReplicas" || s.Desired >= s.Max && c.Reason != "TooFewReplicas":
				s.Limit = "max"
			case c.Reason == "TooFewReplicas":
				s.Limit = "min"
			default:
				continue
			}
			s.Since = c.LastTransitionTime.UTC()
		case c.Type == autoscalingv2.ScalingActive && c.Status != corev1.ConditionTrue, c.Type == autoscalingv2.AbleToScale && c.Status != corev1.ConditionTrue:
			s.Problem = fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	return s
}

// external is a metric such as the length of a queue, a pod, current and wanted.
func external(h *autoscalingv2.HorizontalPodAutoscaler, m *autoscalingv2.ExternalMetricSource) string {
	now := "?"
	for _, c := range h.Status.CurrentMetrics {
		if c.External != nil && c.External.Metric.Name == m.Metric.Name && c.External.Current.AverageValue != nil {
			now = plain(c.External.Current.AverageValue)
		}
	}
	return fmt.Sprintf("%s %s of %s a pod", m.Metric.Name, now, plain(m.Target.AverageValue))
}

// plain is a quantity as a decimal number, which Kubernetes writes in thousandths.
func plain(q *resource.Quantity) string {
	exact := q.DeepCopy()
	d := exact.AsDec()
	return decimal.NewFromBigInt(d.UnscaledBig(), -int32(d.Scale())).String()
}

// utilizations are the metrics of resources, current and wanted.
func utilizations(h *autoscalingv2.HorizontalPodAutoscaler) []string {
	out := []string{}
	for _, m := range h.Spec.Metrics {
		if m.External != nil && m.External.Target.AverageValue != nil {
			out = append(out, external(h, m.External))
			continue
		}
		if m.Resource == nil || m.Resource.Target.AverageUtilization == nil {
			out = append(out, string(m.Type))
			continue
		}
		now := "?"
		for _, c := range h.Status.CurrentMetrics {
			if c.Resource != nil && c.Resource.Name == m.Resource.Name && c.Resource.Current.AverageUtilization != nil {
				now = fmt.Sprintf("%d%%", *c.Resource.Current.AverageUtilization)
			}
		}
		out = append(out, fmt.Sprintf("%s %s of %d%%", m.Resource.Name, now, *m.Resource.Target.AverageUtilization))
	}
	return out
}
