package stack

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func metricsRules() []check.Rule {
	return []check.Rule{
		{
			ID: "stack-metrics", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(21)},
			Title: "Something collects the metrics of the stack",
			Why:   "Without metrics, problems show only when users complain.",
			Fix:   "Add a ServiceMonitor or PodMonitor that selects its pods, or the annotation prometheus.io/scrape if the collector uses it.",
			Stack: metrics,
		},
	}
}

// metrics looks for signs that a collector reads the metrics of a pod of the stack.
func metrics(s *check.Stack, r *check.Result) {
	var lasting []object.Ref
	collected := false
	for _, wl := range s.ManagedWorkloads() {
		if !wl.IsLongRunning() || len(wl.Specs()) == 0 {
			continue
		}
		lasting = append(lasting, wl.Ref)
		if isCollected(s.World, wl) {
			collected = true
			r.Pass(wl.Ref)
		}
	}
	if collected || len(lasting) == 0 {
		return
	}
	for _, k := range s.World.Kinds.All() {
		if k.Custom && check.CollectsMetrics(k.Kind) && !s.World.Read(k.GroupKind(), "") {
			r.AddUnread(lasting[0], k.String())
			return
		}
	}
	r.AddFinding(check.Finding{
		Object: subject(s, lasting[0]),
		Message: fmt.Sprintf("nothing collects the metrics of its %s: no monitor selects them, and neither pods nor Services have an annotation like prometheus.io/scrape",
			object.Count(len(lasting), "workload")),
	})
}

// subject is the object to report on: that of the stack's name where it is long-running, or
// else another one.
func subject(s *check.Stack, otherwise object.Ref) object.Ref {
	if wl, ok := s.World.Workload(s.Ref); ok && !wl.IsLongRunning() {
		return otherwise
	}
	if id, ok := s.World.Graph.Find(s.Ref); ok && s.World.Graph.State(id) == graph.Present {
		return s.Ref
	}
	return otherwise
}

func isCollected(w *check.ClusterState, wl *check.Workload) bool {
	if wl.Template != nil && isScraped(wl.Template.Annotations) {
		return true
	}
	for _, p := range wl.Pods {
		if isScraped(p.Annotations) || isMonitored(w, check.PodRef(p)) {
			return true
		}
		for _, ref := range w.Serving(check.PodRef(p), check.ServiceKind) {
			svc, ok := check.Of[*corev1.Service](w.Facts, ref)
			if ok && isScraped(svc.Annotations) || isMonitored(w, ref) {
				return true
			}
		}
	}
	return false
}

func isMonitored(w *check.ClusterState, ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return false
	}
	for e := range w.Graph.In(id) {
		if from := w.Graph.Ref(e.From); check.CollectsMetrics(from.Kind) && w.Graph.State(e.From) == graph.Present {
			return true
		}
	}
	return false
}

// isScraped reports whether annotations ask collectors to scrape: prometheus.io/scrape, or
// another prefix before /scrape, and those of Datadog.
func isScraped(notes map[string]string) bool {
	for k, v := range notes {
		if strings.HasSuffix(k, "/scrape") && check.IsTrue(v) || strings.HasPrefix(k, "ad.datadoghq.com/") && (strings.HasSuffix(k, ".checks") || strings.HasSuffix(k, ".check_names")) {
			return true
		}
	}
	return false
}
