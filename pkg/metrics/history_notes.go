package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// unknown tells that things of the cluster are in no sample, and so not in the window.
func (p *windowState) unknown(r *UsageReport, what string, n int) {
	if n > 0 {
		r.Notes = append(r.Notes, Note{
			Source: "prometheus", Reason: "NotServed", LowersFigures: true,
			Message: fmt.Sprintf("%d %s of the cluster have no samples in the window, and are omitted", n, what),
		})
	}
}

// tell adds the notes: of the server, and of what is not there.
func (p *windowState) tell(r *UsageReport, f *fetcher) {
	missing := func(message string) { f.note(Note{Reason: "NotServed", Message: message, LowersFigures: true}) }
	var cpu, memory, pods, requests bool
	for _, l := range p.counters {
		cpu = cpu || l.have
	}
	for i := range r.Pods {
		_, used := r.Pods[i].Used[Memory]
		memory = memory || used
		_, used = r.Pods[i].Used[CPU]
		cpu = cpu || used
	}
	pods, requests = p.served["pods"], p.served["requests"]
	switch {
	case !cpu && !memory:
		missing("the server has no samples of cAdvisor in the window: usage of CPU and memory is unknown")
	case !cpu:
		missing("the server has no container_cpu_usage_seconds_total in the window: usage of CPU is unknown")
	case !memory:
		missing("the server has no container_memory_working_set_bytes in the window: usage of memory is unknown")
	}
	switch {
	case !pods && !requests:
		missing("the server has no samples of kube-state-metrics in the window: requests, and the owners of deleted pods, are unknown")
	case !pods:
		missing("the server has no kube_pod_info in the window: the node of deleted pods may be unknown")
	case !requests:
		missing("the server has no requests of pods in the window (kube_pod_container_resource_requests)")
	}
	if n := p.byContainers(r); n > 0 {
		f.note(Note{Reason: "Requests", Message: fmt.Sprintf(
			"requests of %d deleted pods are those of their containers: what a pod requested as a whole, or for init containers, is unknown without kube_pod_resource_request of kube-scheduler", n)})
	}
	if len(p.holes) > 0 {
		longest := slices.MaxFunc(slices.Sorted(maps.Keys(p.holes)), func(a, b string) int { return cmp.Compare(p.holes[a], p.holes[b]) })
		f.note(Note{
			Subject: strings.TrimPrefix(longest, "/"), Reason: "Gap", LowersFigures: true,
			Message: fmt.Sprintf("samples of %d objects have gaps of up to %s: usage and requests in the gaps are not counted",
				len(p.holes), (time.Duration(p.holes[longest]) * time.Millisecond).Round(time.Second)),
		})
	}
	if p.early > staleness {
		f.note(Note{
			Reason: "Gap",
			Message: fmt.Sprintf("samples are missing before the window: usage of up to %s before it is counted in the window",
				(time.Duration(p.early) * time.Millisecond).Round(time.Second)),
		})
	}
	if p.wild > 0 {
		f.note(Note{Reason: "Garbage", LowersFigures: true, Message: fmt.Sprintf("%d samples of CPU usage are implausible, and ignored", p.wild)})
	}
	r.Notes = append(r.Notes, slices.SortedFunc(maps.Keys(f.notes), compareNotes)...)
}

// byContainers counts the pods that are gone, and of which only the containers tell what was
// requested.
func (p *windowState) byContainers(r *UsageReport) int {
	n := 0
	for i := range r.Pods {
		if out := &r.Pods[i]; out.Gone {
			q := p.pod(out.Ref.Namespace, out.Ref.Name, string(out.UID), 0)
			if fed(q.containers) && !fed(q.scheduler) {
				n++
			}
		}
	}
	return n
}

// fed says that anything is requested.
func fed(tracks map[Resource]*intervalTrack) bool {
	for _, t := range tracks {
		if !t.empty() {
			return true
		}
	}
	return false
}

func compareNotes(a, b Note) int {
	return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
}
