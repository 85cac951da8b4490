package health_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// What is on its way is in trouble when a deadline has passed that it states itself, and only then.
func TestDeadlines(t *testing.T) {
	const goesOn = `conditions: [{type: Progressing, status: "True", lastTransitionTime: "2026-05-04T11:30:00Z"}]`
	for _, c := range []struct {
		name, kind, fields string
		want               health.Status
	}{
		{"progress took too long", "Gadget", `{spec: {progressDeadlineSeconds: 600}, status: {` + goesOn + `}}`, health.Degraded},
		{"progress has time", "Gadget", `{spec: {progressDeadlineSeconds: 3600}, status: {` + goesOn + `}}`, health.Progressing},
		{"no deadline", "Gadget", `{spec: {}, status: {` + goesOn + `}}`, health.Progressing},
		{"a deadline of nothing", "Gadget", `{spec: {progressDeadlineSeconds: 0}, status: {` + goesOn + `}}`, health.Progressing},
		{"nobody says since when", "Gadget", `{metadata: {creationTimestamp: "2026-05-01T00:00:00Z"}, spec: {progressDeadlineSeconds: 600}, status: {phase: Updating}}`, health.Progressing},
		{"a run took too long", "WidgetRun", `{spec: {activeDeadlineSeconds: 60}, status: {phase: Running, startTime: "2026-05-04T11:00:00Z"}}`, health.Degraded},
		{"a run has time", "WidgetRun", `{spec: {activeDeadlineSeconds: 7200}, status: {phase: Running, startTime: "2026-05-04T11:00:00Z"}}`, health.Progressing},
		{"a run by its policy", "WidgetJob", `{spec: {runPolicy: {activeDeadlineSeconds: 60}}, status: {phase: Running, startTime: "2026-05-04T11:00:00Z"}}`, health.Degraded},
		{"a timeout of a run", "WidgetRun", `{spec: {timeout: 30m}, status: {phase: Running, startedAt: "2026-05-04T11:00:00Z"}}`, health.Degraded},
		{"a timeout of requests", "Gadget", `{spec: {timeout: 30s}, status: {` + goesOn + `, startedAt: "2026-05-04T11:00:00Z"}}`, health.Progressing},
		{"a run that is done", "WidgetRun", `{spec: {timeout: 30m}, status: {phase: Succeeded, startedAt: "2026-05-04T11:00:00Z"}}`, health.Healthy},
		{"a run that is suspended", "WidgetRun", `{spec: {timeout: 30m, suspend: true}, status: {phase: Running, startedAt: "2026-05-04T11:00:00Z"}}`, health.Suspended},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, c.kind, c.fields).object())
			if h.Status != c.want {
				t.Errorf("%s by %s (%s: %s), want %s", h.Status, h.Stage, h.Reason, h.Message, c.want)
			}
			if (h.Status == health.Degraded) != (h.Reason == health.DeadlineExceeded && strings.Contains(h.Message, "eadlineSeconds") || strings.Contains(h.Message, "spec.timeout")) {
				t.Errorf("%s: %s", h.Reason, h.Message)
			}
		})
	}
}

// What goes on by its status has begun when the status says.
func TestProgressSince(t *testing.T) {
	h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "WidgetRun", `{status: {phase: Running, startTime: "2026-05-04T11:00:00Z"}}`).object())
	if h.Status != health.Progressing || h.Since.Format("15:04") != "11:00" {
		t.Errorf("%s since %s", h.Status, h.Since)
	}
}
