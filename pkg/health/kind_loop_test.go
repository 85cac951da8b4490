package health_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A pod that is ready between two crashes is not well; one that has recovered is.
func TestRestartLoop(t *testing.T) {
	for name, c := range map[string]struct {
		restarts int32
		exit     int32
		ran, up  time.Duration // how long the last run took, and this one takes
		want     health.Status
	}{
		"again and again":                  {57, 137, 3 * time.Minute, time.Minute, health.Degraded},
		"it has run longer since":          {57, 137, 3 * time.Minute, 4 * time.Minute, health.Healthy},
		"at its start":                     {4, 1, 2 * time.Second, 5 * time.Second, health.Healthy},
		"once in a while":                  {57, 137, time.Hour, time.Minute, health.Healthy},
		"once":                             {1, 137, 3 * time.Minute, time.Minute, health.Healthy},
		"it ends well, and is begun again": {57, 0, 3 * time.Minute, time.Minute, health.Healthy},
	} {
		t.Run(name, func(t *testing.T) {
			before := func(d time.Duration) metav1.Time { return metav1.NewTime(snapshotTime.Add(-d)) }
			p := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p", CreationTimestamp: before(24 * time.Hour)},
				Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}},
				Status: corev1.PodStatus{
					Phase:      corev1.PodRunning,
					Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: before(c.up)}},
					ContainerStatuses: []corev1.ContainerStatus{{
						Name: "c", Ready: true, RestartCount: c.restarts,
						State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: before(c.up)}},
						LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: c.exit, StartedAt: before(c.up + c.ran), FinishedAt: before(c.up)}},
					}},
				},
			}
			if h := health.NewEvaluator(snapshotTime).Evaluate(object.Object{Ref: object.Ref{Kind: "Pod", Name: "p"}, Meta: p, Body: p}); h.Status != c.want {
				t.Errorf("%s (%s: %s), want %s", h.Status, h.Reason, h.Message, c.want)
			}
		})
	}
}
