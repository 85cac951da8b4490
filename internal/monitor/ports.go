package monitor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// endpoint is a port of a pod that serves metrics.
type endpoint struct {
	name   string // of the container port; empty where it has none
	number int64
	path   string
	why    string
	// undeclared says that no container declares the port.
	undeclared bool
	https      bool
}

// port is how people write it.
func (e endpoint) port() string {
	if e.name != "" {
		return e.name
	}
	return strconv.FormatInt(e.number, 10)
}

// metricsName are the names of ports that serve metrics by convention. Those of https are not
// among them: they ask for a certificate or a token that nothing here knows.
var metricsName = regexp.MustCompile(`^((.+-)?(metrics|prometheus|prom)|monitoring)$`)

// exporter is an image that serves metrics at a port, unless its arguments say otherwise.
type exporter struct {
	image string // the end of its repository
	port  int64
}

// exporters are known images, with the port that their documentation names: that of the list of default
// ports of Prometheus, where it is on it. All serve /metrics.
var exporters = []exporter{
	{"oliver006/redis_exporter", 9121},
	{"prom/mysqld-exporter", 9104},
	{"prometheus/mysqld-exporter", 9104},
	{"nginx/nginx-prometheus-exporter", 9113},
	{"prometheuscommunity/postgres-exporter", 9187},
	{"percona/mongodb_exporter", 9216},
	{"prom/memcached-exporter", 9150},
	{"prometheus/memcached-exporter", 9150},
	{"prom/blackbox-exporter", 9115},
	{"prom/statsd-exporter", 9102},
	{"prom/node-exporter", 9100},
	{"danielqsj/kafka-exporter", 9308},
	{"prometheuscommunity/elasticsearch-exporter", 9114},
	{"prom/haproxy-exporter", 9101},
	{"lusotycoon/apache-exporter", 9117},
	{"hipages/php-fpm_exporter", 9253},
	{"prometheuscommunity/pgbouncer-exporter", 9127},
	{"natsio/prometheus-nats-exporter", 7777},
	{"prom/consul-exporter", 9107},
	{"prom/pushgateway", 9091},
	{"prom/prometheus", 9090},
	{"prometheus/prometheus", 9090},
	{"prom/alertmanager", 9093},
	{"prometheus/alertmanager", 9093},
	{"grafana/grafana", 3000},
	{"grafana/loki", 3100},
	{"coredns/coredns", 9153},
	{"bitnami/redis-exporter", 9121},
	{"bitnami/mysqld-exporter", 9104},
	{"bitnami/postgres-exporter", 9187},
	{"bitnami/mongodb-exporter", 9216},
	{"bitnami/nginx-exporter", 9113},
	{"bitnami/memcached-exporter", 9150},
	{"bitnami/kafka-exporter", 9308},
	{"bitnami/apache-exporter", 9117},
}

// endpoints finds the ports of a workload that serve metrics: as the manifest says, the catalog,
// the names of ports, the annotations, or a known image. Nothing else is tried: a port of which
// nothing says so is no endpoint.
func (w *workload) endpoints(a *monitored) []endpoint {
	if s := a.Setting; s.Port != "" {
		return w.declared(s.Port, s.Path, "spec.apps: monitoring.port of "+a.Name)
	}
	var out []endpoint
	if w.owner != nil {
		ref := kindOf(w.owner)
		if m, known := catalog.MonitoringOf(w.owner.GroupVersionKind().GroupKind()); known {
			if _, _, has := w.hasPort(m.Port); has {
				out = w.ofCatalog(m, "catalog: "+ref+", "+m.Source)
			}
		}
	}
	for _, c := range w.containers {
		for _, p := range c.Ports {
			if (p.Protocol == "" || p.Protocol == "TCP") && metricsName.MatchString(p.Name) && !strings.HasPrefix(p.Name, "https") {
				out = append(out, endpoint{name: p.Name, number: p.ContainerPort, path: w.annotations[notePath], why: fmt.Sprintf("the port of container %s is named %s", c.Name, p.Name)})
			}
		}
	}
	if len(out) == 0 {
		out = w.annotated()
	}
	if len(out) == 0 {
		out = w.exported()
	}
	for i := range out {
		if a.Setting.Path != "" {
			out[i].path = a.Setting.Path
		}
	}
	return distinct(out)
}

// exported is the port of the first container whose image is known.
func (w *workload) exported() []endpoint {
	for _, c := range w.containers {
		for _, x := range exporters {
			if strings.HasSuffix("/"+repository(c.Image), "/"+x.image) {
				return w.declared(strconv.FormatInt(x.port, 10), "", fmt.Sprintf("the image %s serves metrics at %d", x.image, x.port))
			}
		}
	}
	return nil
}

// declared is a port that the manifest or the catalog names: it may be without a declaration in the container.
func (w *workload) declared(port, path, evidence string) []endpoint {
	name, number, ok := w.hasPort(port)
	if !ok {
		var err error
		if number, err = strconv.ParseInt(port, 10, 64); err != nil {
			return nil
		}
	}
	return []endpoint{{name: name, number: number, path: path, why: evidence, undeclared: !ok}}
}

// ofCatalog is the port that the catalog names, which pods that do not exist yet have not declared.
func (w *workload) ofCatalog(m catalog.Monitoring, evidence string) []endpoint {
	out := w.declared(m.Port, m.Path, evidence)
	if len(out) == 0 {
		out = []endpoint{{name: m.Port, path: m.Path, why: evidence}}
	}
	out[0].https = len(m.HTTPS) > 0 && covers(w.owner.Object, m.HTTPS)
	return out
}

// Annotations by which a Prometheus without an operator finds pods, by convention.
const (
	noteScrape = "prometheus.io/scrape"
	notePort   = "prometheus.io/port"
	notePath   = "prometheus.io/path"
)

// defaultPath is where metrics are without another path.
const defaultPath = "/metrics"

// isAnnotated says whether the annotations of the pods are about an endpoint.
func (w *workload) isAnnotated(e endpoint) bool {
	port := w.annotations[notePort]
	return w.annotations[noteScrape] == "true" && (port == "" || port == strconv.FormatInt(e.number, 10)) &&
		cmp.Or(w.annotations[notePath], defaultPath) == cmp.Or(e.path, defaultPath)
}

// annotations are those by which an endpoint is found.
func (e endpoint) annotations() string {
	text := fmt.Sprintf(`%s: "true", %s: "%d"`, noteScrape, notePort, e.number)
	if cmp.Or(e.path, defaultPath) != defaultPath {
		text += fmt.Sprintf(", %s: %q", notePath, e.path)
	}
	return text
}

func (w *workload) annotated() []endpoint {
	if w.annotations[noteScrape] != "true" {
		return nil
	}
	path, evidence := w.annotations[notePath], "the annotation "+noteScrape+" of the pods"
	if port := w.annotations[notePort]; port != "" {
		return w.declared(port, path, evidence)
	}
	var out []endpoint
	for _, c := range w.containers {
		for _, p := range c.Ports {
			out = append(out, endpoint{name: p.Name, number: p.ContainerPort, path: path, why: evidence})
		}
	}
	if len(out) > 1 {
		return nil // nothing says which of them it is
	}
	return out
}

func distinct(all []endpoint) []endpoint {
	var out []endpoint
	for _, e := range all {
		if !slices.ContainsFunc(out, func(o endpoint) bool { return o.number == e.number }) {
			out = append(out, e)
		}
	}
	return out
}

// repository is an image without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}
