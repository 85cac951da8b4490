package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func robustMetricsRules() []Rule {
	return []Rule{
		{
			ID: "stack-metrics", Category: Robustness, Severity: Info, Guidelines: []Guideline{maturity(21)},
			Title: "Something collects the metrics of the stack",
			Why:   "Without metrics, problems show only when users complain.",
			Fix:   "Add a ServiceMonitor or PodMonitor that selects its pods, or the annotation prometheus.io/scrape if the collector uses it.",
			Stack: robustMetrics,
		},
	}
}

// robustMetrics looks for anything that says that metrics are collected of a pod of the
// stack.
func robustMetrics(s *Stack, r *Result) {
	var lasting []object.Ref
	collected := false
	for _, wl := range s.ManagedWorkloads() {
		if !wl.IsLongRunning() || len(wl.Specs()) == 0 {
			continue
		}
		lasting = append(lasting, wl.Ref)
		if s.World.robustCollected(wl) {
			collected = true
			r.Pass(wl.Ref)
		}
	}
	if collected || len(lasting) == 0 {
		return
	}
	for _, k := range s.World.Kinds.All() {
		if k.Custom && robustCollects(k.Kind) && !s.World.Read(k.GroupKind(), "") {
			r.AddUnread(lasting[0], k.String())
			return
		}
	}
	r.AddFinding(Finding{
		Object: robustSubject(s, lasting[0]),
		Message: fmt.Sprintf("nothing collects the metrics of its %s: no monitor selects them, and neither pods nor Services have an annotation like prometheus.io/scrape",
			object.Count(len(lasting), "workload")),
	})
}

// robustSubject is what the stack is called, where that is an object that lasts, or else
// another.
func robustSubject(s *Stack, otherwise object.Ref) object.Ref {
	if wl, ok := s.World.Workload(s.Ref); ok && !wl.IsLongRunning() {
		return otherwise
	}
	if id, ok := s.World.Graph.Find(s.Ref); ok && s.World.Graph.State(id) == graph.Present {
		return s.Ref
	}
	return otherwise
}

// robustCollects tells kinds that say of what metrics are collected: ServiceMonitor,
// PodMonitor, VMPodScrape, PodMonitoring.
func robustCollects(kind string) bool {
	return strings.HasSuffix(kind, "Monitor") || strings.HasSuffix(kind, "Monitoring") || strings.HasSuffix(kind, "Scrape") || kind == "ScrapeConfig"
}

func (w *ClusterState) robustCollected(wl *Workload) bool {
	if wl.Template != nil && robustScraped(wl.Template.Annotations) {
		return true
	}
	for _, p := range wl.Pods {
		if robustScraped(p.Annotations) || w.robustMonitored(podRef(p)) {
			return true
		}
		for _, ref := range w.Serving(podRef(p), robustServiceKind) {
			svc, ok := Of[*corev1.Service](w.Facts, ref)
			if ok && robustScraped(svc.Annotations) || w.robustMonitored(ref) {
				return true
			}
		}
	}
	return false
}

func (w *ClusterState) robustMonitored(ref object.Ref) bool {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return false
	}
	for e := range w.Graph.In(id) {
		if from := w.Graph.Ref(e.From); robustCollects(from.Kind) && w.Graph.State(e.From) == graph.Present {
			return true
		}
	}
	return false
}

// robustScraped tells the annotations by which collectors go: prometheus.io/scrape, or a
// prefix of one's own before /scrape, and those of Datadog.
func robustScraped(notes map[string]string) bool {
	for k, v := range notes {
		if strings.HasSuffix(k, "/scrape") && robustTrue(v) || strings.HasPrefix(k, "ad.datadoghq.com/") && (strings.HasSuffix(k, ".checks") || strings.HasSuffix(k, ".check_names")) {
			return true
		}
	}
	return false
}
