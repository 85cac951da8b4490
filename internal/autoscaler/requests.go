package autoscaler

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// counter is a series that counts HTTP requests, with its matchers.
type counter struct {
	name     string
	matchers []string
}

// text is the counter as PromQL selects it.
func (c counter) text(more string) string {
	all := slices.Clone(c.matchers)
	if more != "" {
		all = append(all, more)
	}
	return c.name + "{" + strings.Join(all, ",") + "}"
}

// countersOf are the counters of ingress controllers for an Ingress and the Service that it leads to. What
// a label of the target hides is in exported_*.
func countersOf(ingress, service object.Ref) []counter {
	var out []counter
	for _, prefix := range []string{"", "exported_"} {
		out = append(out, counter{"nginx_ingress_controller_requests", []string{
			fmt.Sprintf("%snamespace=%q", prefix, ingress.Namespace), fmt.Sprintf("ingress=%q", ingress.Name), fmt.Sprintf("%sservice=%q", prefix, service.Name),
		}}, counter{"traefik_service_requests_total", []string{
			fmt.Sprintf("%sservice=~%q", prefix, regexp.QuoteMeta(service.Namespace+"-"+service.Name)+"-[^-@]+@kubernetes"),
		}})
	}
	return out
}

// requests are the HTTP requests to the workloads of an Ingress, over the window.
func (r *reading) requests(ctx context.Context, w *autoscale.World) error {
	w.Requests = map[object.Ref]autoscale.Requests{}
	server, problem := r.inCluster()
	for _, wl := range w.Workloads() {
		route, service, found := w.RouteTo(wl)
		if !found || route.Kind != "Ingress" {
			continue
		}
		for _, c := range countersOf(route, service) {
			peak, known, err := r.Quantile(ctx, metrics.QuantileQuery{Counter: c.name, Matchers: c.matchers, Quantile: 0.95})
			if err != nil {
				return err
			}
			if known && peak > 0 {
				w.Requests[wl.Ref] = autoscale.Requests{Series: c.text(r.req.History.Matchers), Server: server, Peak: peak, Problem: problem}
				break
			}
		}
	}
	return nil
}

// inCluster is the URL by which a pod reaches the Prometheus of the request, or why KEDA cannot ask it.
func (r *reading) inCluster() (server, problem string) {
	h := r.req.History
	if !h.Access.IsPlain() {
		return "", "KEDA needs a TriggerAuthentication for the headers, certificates or credentials of the Prometheus, which has to be written by hand"
	}
	rest, isService := strings.CutPrefix(h.Address, "svc:")
	const address = "KEDA needs the address of the Prometheus in the cluster: --prometheus svc:NAMESPACE/NAME:PORT, with the number of the port"
	if !isService {
		u, err := url.Parse(h.Address)
		if err == nil && u.User == nil && strings.Contains(u.Hostname()+".", ".svc.") {
			return h.Address, ""
		}
		return "", address
	}
	scheme := "http"
	if before, after, found := strings.Cut(rest, ":"); found && (before == "http" || before == "https") {
		scheme, rest = before, after
	}
	namespace, name, _ := strings.Cut(rest, "/")
	name, path, _ := strings.Cut(name, "/")
	name, port, _ := strings.Cut(name, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", address
	}
	u := url.URL{Scheme: scheme, Host: name + "." + namespace + ".svc:" + port}
	if path != "" {
		u.Path = "/" + path
	}
	return u.String(), ""
}
