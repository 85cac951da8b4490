package monitor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Evidence is what the answers of a Prometheus say about a stack: targets that are down, that none of
// its pods is seen, and alerts that fire. has says whether an object is of the stack, and pods is how
// many of its pods can be targets.
func Evidence(targets Targets, alerts Alerts, pods int, has func(object.Ref) bool) []document.Evidence {
	type job struct {
		up, all int
		first   string // pod of the first target that is down
		message string
	}
	jobs := map[string]*job{}
	for _, t := range targets.ActiveTargets {
		pod := object.Ref{Kind: "Pod", Namespace: t.Labels["namespace"], Name: t.Labels["pod"]}
		if pod.Name == "" || !has(pod) {
			continue
		}
		j := jobs[t.Labels["job"]]
		if j == nil {
			j = &job{}
			jobs[t.Labels["job"]] = j
		}
		j.all++
		switch {
		case t.Health == Up:
			j.up++
		case t.Health == Down && (j.first == "" || pod.String() < j.first):
			j.first, j.message = pod.String(), t.ScrapeURL+": "+t.LastError
		}
	}
	var out []document.Evidence
	for _, name := range sortedKeys(jobs) {
		if j := jobs[name]; j.first != "" {
			out = append(out, document.Evidence{Source: ofPrometheus, Object: j.first, Message: fmt.Sprintf("%d of %d targets of the job %s are not up: %s", j.all-j.up, j.all, name, j.message)})
		}
	}
	if pods > 0 && len(jobs) == 0 {
		out = append(out, document.Evidence{Source: ofPrometheus, Message: fmt.Sprintf("blind: of %s none is scraped", object.Count(pods, "pod"))})
	}
	return append(out, firing(alerts, has)...)
}

// ofPrometheus names a Prometheus in evidence.
const ofPrometheus = "prometheus"

// firing are the alerts that fire about objects of a stack.
func firing(alerts Alerts, has func(object.Ref) bool) []document.Evidence {
	var out []document.Evidence
	for _, a := range alerts.Alerts {
		if a.State != Firing {
			continue
		}
		for _, ref := range subjects(a.Labels) {
			if has(ref) {
				message := "the alert " + a.Labels["alertname"] + " fires"
				if text := cmp.Or(a.Annotations["summary"], a.Annotations["description"]); text != "" {
					message += ": " + text
				}
				out = append(out, document.Evidence{Source: ofPrometheus, Object: ref.String(), Message: message, Since: a.ActiveAt.UTC()})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b document.Evidence) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message), a.Since.Compare(b.Since))
	})
	return out
}

// namingLabels are the labels of series of kube-state-metrics, the kubelet and cert-manager that name an object.
var namingLabels = []struct {
	label string
	of    object.Ref
}{
	{"pod", object.Ref{Kind: "Pod"}},
	{"deployment", object.Ref{Group: "apps", Kind: "Deployment"}},
	{"statefulset", object.Ref{Group: "apps", Kind: "StatefulSet"}},
	{"daemonset", object.Ref{Group: "apps", Kind: "DaemonSet"}},
	{"job_name", object.Ref{Group: "batch", Kind: "Job"}},
	{"cronjob", object.Ref{Group: "batch", Kind: "CronJob"}},
	{"persistentvolumeclaim", object.Ref{Kind: "PersistentVolumeClaim"}},
	{"horizontalpodautoscaler", object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}},
	{"name", object.Ref{Group: "cert-manager.io", Kind: "Certificate"}},
}

// subjects are the objects that the labels of a target or alert may name. Without honorLabels the labels
// of a series are exported_*, and those without this prefix are of the target that it is scraped from.
func subjects(labels map[string]string) []object.Ref {
	const exported = "exported_"
	namespace, isExported := labels[exported+"namespace"]
	var out []object.Ref
	for _, n := range namingLabels {
		name := labels[exported+n.label]
		if name == "" && (!isExported || n.label != "pod") {
			name = labels[n.label]
		}
		if name != "" {
			ref := n.of
			ref.Namespace, ref.Name = cmp.Or(namespace, labels["namespace"]), name
			out = append(out, ref)
		}
	}
	return out
}
