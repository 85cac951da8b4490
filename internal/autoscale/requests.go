package autoscale

import (
	"fmt"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Requests are the HTTP requests to a workload that an ingress controller counts.
type Requests struct {
	// Series is the counter, as PromQL selects it.
	Series string
	// Server is the URL of the Prometheus that has it, as a pod of the cluster reaches that.
	Server string
	// Peak is the 95th percentile of their rate over the window, in thousandths of a request a second.
	Peak int64
	// Problem says why KEDA cannot ask for it; empty for none.
	Problem string
}

// requestsRate is the range of the rate that KEDA asks for: several scrapes of any usual interval.
const requestsRate = "2m"

// addRequests lets KEDA scale a proposal by the rate of its HTTP requests, if a series and the usage of the
// same window say how many a second a pod serves at its target utilization.
func (p *planner) addRequests(r *Proposal) {
	route, _, found := p.RouteTo(r.workload)
	if _, served := p.State.Kinds.Kind(scaledObjectKind); !served || !found {
		return
	}
	say := func(format string, args ...any) {
		r.Reasons = append(r.Reasons, fmt.Sprintf("%s leads to it, and KEDA could scale it by the rate of HTTP requests: ", short(route))+fmt.Sprintf(format, args...))
	}
	requests, known := p.Requests[r.workload.Ref]
	used, request := p.Usage[r.workload.Ref].CPU.Peak, requestsOf(r.workload).CPU
	switch {
	case route.Kind != "Ingress":
		say("only the requests of an Ingress are counted by a series that is known")
		return
	case !p.Window:
		say("--prometheus and --window read how many a second a pod serves")
		return
	case requests.Problem != "":
		say("%s", requests.Problem)
		return
	case !known || requests.Peak <= 0 || used <= 0:
		say("the Prometheus has no series of ingress-nginx or Traefik for it")
		return
	case r.Exists.GroupKind() == horizontalKind:
		say("%s of an earlier run scales it; autoscale remove, then apply sets that up", short(r.Exists))
		return
	}
	const milli, percent = 1000, 100
	each := float64(requests.Peak) / milli / float64(used) * float64(request) * float64(r.CPU) / percent
	const least = 0.1 // a second: what serves less is not scaled by requests
	if each < least {
		say("a pod serves fewer than %.1f a second", least)
		return
	}
	threshold := strconv.FormatFloat(each, 'f', 1, 64)
	r.Scaler = Queue
	r.Triggers = append(r.Triggers, Trigger{Type: "prometheus", Metadata: map[string]string{
		"serverAddress": requests.Server, "query": fmt.Sprintf("sum(rate(%s[%s]))", requests.Series, requestsRate), "threshold": threshold,
	}})
	r.Reasons = append(r.Reasons, fmt.Sprintf("KEDA scales it by the HTTP requests of %s as well: %s a second a pod, since %s a second used %s of CPU at the peak, and a pod has %s x %d%%",
		short(route), threshold, strconv.FormatFloat(float64(requests.Peak)/milli, 'f', 1, 64), cpuText(used), cpuText(request), r.CPU))
}

// RouteTo is an Ingress or HTTPRoute whose requests a workload answers, and the Service between them.
func (w *World) RouteTo(wl *check.Workload) (route, service object.Ref, found bool) {
	for _, svc := range w.servicesOf(wl) {
		id, ok := w.Graph.Find(svc)
		if !ok {
			continue
		}
		for e := range w.Graph.In(id) {
			if route := w.Graph.Ref(e.From); route.Kind == "Ingress" || route.Kind == "HTTPRoute" {
				return route, svc, true
			}
		}
	}
	return object.Ref{}, object.Ref{}, false
}
