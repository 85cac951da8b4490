package monitor_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// objects reads the documents of a text.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			err = o.UnmarshalJSON(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// appOf says which app of the shop a workload is of.
var appOf = map[string]string{"db": "db", "web": "web", "worker": "worker", "report": "worker", "agent": "agent", "migrate": "worker", "quiet": "quiet"}

// shop is the scope of the objects of the shop and of more, with the given ones left out.
func shop(t *testing.T, more string, without ...string) monitor.Scope {
	t.Helper()
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, string(text))
	if more != "" {
		all = append(all, objects(t, more)...)
	}
	all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool {
		return slices.Contains(without, o.GetKind()+"/"+o.GetName())
	})
	s := monitor.Scope{Name: "shop", Namespace: "shop", Cluster: monitor.Cluster{
		Objects: all, Serves: func(kind string) bool { return !slices.Contains(without, kind) && !strings.HasPrefix(kind, "Grafana") },
	}}
	for _, name := range []string{"agent", "db", "quiet", "web", "worker"} {
		app := monitor.App{Name: name}
		for _, o := range all {
			if o.GetNamespace() == "shop" && appOf[o.GetName()] == name {
				app.Objects = append(app.Objects, o)
			}
		}
		s.Apps = append(s.Apps, app)
	}
	return s
}

// told is a plan for people, a line a target, an object and a gap.
func told(p *monitor.Plan) string {
	var b strings.Builder
	for _, a := range p.Apps {
		for _, t := range a.Targets {
			fmt.Fprintf(&b, "%s %s %s %s %s %s %s\n", a.Name, t.Object, t.How, t.Port, t.Path, t.By, t.Prometheus)
		}
	}
	for _, g := range p.Gaps {
		fmt.Fprintf(&b, "gap %s: %s\n", g.Object, g.Message)
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "  ", " "), ".monitoring.coreos.com", "")
}

// annotate adds annotations to the pods of a Deployment.
func annotate(name string, pairs ...string) func(*monitor.Scope) {
	return func(s *monitor.Scope) {
		for _, o := range s.Cluster.Objects {
			for i := 0; o.GetName() == name && o.GetKind() == "Deployment" && i < len(pairs); i += 2 {
				if err := unstructured.SetNestedField(o.Object, pairs[i+1], "spec", "template", "metadata", "annotations", pairs[i]); err != nil {
					panic(err)
				}
			}
		}
	}
}

// TestTargets: what scrapes a target, and the evidence of it.
func TestTargets(t *testing.T) {
	const selected = " Prometheus/monitoring/main\n"
	web := "web Deployment.apps/shop/web servicemonitor metrics ServiceMonitor/shop/shop-web" + selected
	for name, c := range map[string]struct {
		more    string
		without []string
		change  func(*monitor.Scope)
		want    []string
		not     []string
	}{
		"the shop": {want: []string{
			"db StatefulSet.apps/shop/db collected 9104 ServiceMonitor/shop/db" + selected, web,
			"worker Deployment.apps/shop/worker podmonitor http-metrics PodMonitor/shop/shop-worker" + selected,
			"agent DaemonSet.apps/shop/agent podmonitor http /stats PodMonitor/shop/shop-agent" + selected,
			"quiet Deployment.apps/shop/quiet unknown", "gap Deployment.apps/shop/quiet: no metrics endpoint is known\n",
		}},
		"an image that is known": {
			without: []string{"ServiceMonitor/db"},
			want:    []string{"db StatefulSet.apps/shop/db servicemonitor 9104 ServiceMonitor/shop/shop-db" + selected},
		},
		"a Prometheus with scrape configurations of its own": {
			more: "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: z, namespace: x}\nspec: {additionalScrapeConfigs: {name: a, key: b}}",
			want: []string{
				"agent DaemonSet.apps/shop/agent annotations http /stats", web,
				"gap DaemonSet.apps/shop/agent: no monitor is made: Prometheus/x/z has additionalScrapeConfigs, which may read the annotations of pods",
			},
		},
		"its annotations, and a port of the manifest": {
			more:   "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: z, namespace: x}\nspec: {additionalScrapeConfigs: {name: a, key: b}}",
			change: func(s *monitor.Scope) { s.Apps[0].Setting.Port = "9200" },
			want:   []string{"agent DaemonSet.apps/shop/agent podmonitor http PodMonitor/shop/shop-agent" + selected},
			not:    []string{"gap DaemonSet.apps/shop/agent"},
		},
		"annotations of another port": {
			more:   "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: z, namespace: x}\nspec: {additionalScrapeConfigs: {name: a, key: b}}",
			change: annotate("worker", "prometheus.io/scrape", "true", "prometheus.io/port", "1"),
			want:   []string{"worker Deployment.apps/shop/worker podmonitor http-metrics"},
		},
		"annotations without a path, and a path of the manifest": {
			more: "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: z, namespace: x}\nspec: {additionalScrapeConfigs: {name: a, key: b}}",
			change: func(s *monitor.Scope) {
				annotate("worker", "prometheus.io/scrape", "true")(s)
				s.Apps[4].Setting.Path = "/m"
			},
			want: []string{"worker Deployment.apps/shop/worker podmonitor http-metrics /m"},
		},
		"labels that a second Service has": {
			more: "apiVersion: v1\nkind: Service\nmetadata: {name: web-2, namespace: shop, labels: {app: web}}\nspec: {selector: {app: other}, ports: [{name: metrics, port: 1}]}",
			want: []string{"web Deployment.apps/shop/web podmonitor metrics PodMonitor/shop/shop-web" + selected},
		},
		"a monitor that is not selected": {
			more:    "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: lost, namespace: shop}\nspec: {selector: {matchLabels: {app: worker}}, podMetricsEndpoints: [{port: http-metrics}]}",
			without: nil,
			want:    []string{"worker Deployment.apps/shop/worker unselected http-metrics PodMonitor/shop/lost", "gap Deployment.apps/shop/worker: PodMonitor/shop/lost would scrape it, and no Prometheus selects that monitor"},
			not:     []string{"PodMonitor/shop/shop-worker"},
		},
		"a monitor of another namespace": {
			more: "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: far, namespace: x, labels: {release: stack}}\nspec: {namespaceSelector: {any: true}, selector: {}, podMetricsEndpoints: [{port: http-metrics}]}",
			want: []string{"worker Deployment.apps/shop/worker collected http-metrics PodMonitor/x/far" + selected},
		},
		"a monitor of its own namespace alone": {
			more: "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: far, namespace: x, labels: {release: stack}}\nspec: {selector: {}, podMetricsEndpoints: [{port: http-metrics}]}",
			want: []string{"worker Deployment.apps/shop/worker podmonitor"},
		},
		"a static target": {
			more: "apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: s, namespace: shop}\nspec: {staticConfigs: [{targets: [\"web.shop.svc:9113\"]}]}",
			want: []string{"web Deployment.apps/shop/web unselected metrics ScrapeConfig/shop/s"},
		},
		"no Prometheus": {
			without: []string{"Prometheus/main"},
			want:    []string{"web Deployment.apps/shop/web servicemonitor metrics ServiceMonitor/shop/shop-web \n", "gap : no Prometheus was found that could select the monitors"},
		},
		"a Prometheus without selectors": {
			more:    "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: bare, namespace: shop}\nspec: {}",
			without: []string{"Prometheus/main"},
			want:    []string{"gap : no Prometheus selects monitors in shop", "gap Deployment.apps/shop/web: no Prometheus selects the monitor ServiceMonitor/shop/shop-web"},
		},
		"a Prometheus of another namespace": {
			more:    "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: own, namespace: x}\nspec: {serviceMonitorSelector: {}, podMonitorSelector: {}}",
			without: []string{"Prometheus/main"},
			want:    []string{"gap : no Prometheus selects monitors in shop"},
		},
		"a Prometheus that selects all": {
			more:    "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusAgent\nmetadata: {name: all, namespace: x}\nspec: {serviceMonitorSelector: {}, podMonitorSelector: {}, serviceMonitorNamespaceSelector: {}, podMonitorNamespaceSelector: {}}",
			without: []string{"Prometheus/main"},
			want:    []string{"ServiceMonitor/shop/shop-web PrometheusAgent/x/all\n", "gap : no Prometheus selects the PrometheusRule in shop"},
		},
		"no operator": {
			without: []string{"ServiceMonitor.monitoring.coreos.com", "PrometheusRule.monitoring.coreos.com", "Prometheus/main", "ServiceMonitor/db"},
			want:    []string{"web Deployment.apps/shop/web unknown metrics", "agent DaemonSet.apps/shop/agent annotations http /stats", "gap Deployment.apps/shop/web: it serves metrics, and no monitor can be made", "gap : the cluster does not serve ServiceMonitor"},
		},
		"as the manifest says": {
			change: func(s *monitor.Scope) {
				s.Apps[2].Setting = system.AppMonitoring{Port: "8081", Path: "/m"}
				s.Apps[3].Setting.Off = true
				s.Apps[4].Setting.Port = "nothing"
			},
			want: []string{
				"quiet Deployment.apps/shop/quiet podmonitor 8081 /m PodMonitor/shop/shop-quiet", "web Deployment.apps/shop/web off",
				"worker Deployment.apps/shop/worker unknown", "gap Deployment.apps/shop/worker: no container has a port nothing",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := shop(t, c.more, c.without...)
			if c.change != nil {
				c.change(&s)
			}
			got := told(monitor.Make(s))
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("%q in\n%s", not, got)
				}
			}
		})
	}
}

// TestOperators: what the catalog says of the pods of an operator becomes a monitor of these alone, by
// https where they serve metrics so; and its switch is asked for where they do not serve any.
func TestOperators(t *testing.T) {
	const (
		owned = "apiVersion: v1\nkind: Pod\nmetadata: {name: x-1, namespace: shop, ownerReferences: [{apiVersion: %s, kind: %s, name: x, controller: true, uid: u}]}\n" +
			"spec: {containers: [{name: c, image: i, ports: [{name: %s, containerPort: %d}]}]}"
		postgres = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: x, namespace: shop}\nspec: {monitoring: {tls: {enabled: %t}}}"
		pooler   = "apiVersion: postgresql.cnpg.io/v1\nkind: Pooler\nmetadata: {name: x, namespace: shop}\nspec: {monitoring: {tls: {enabled: true}}}"
		kafka    = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: x, namespace: shop}\nspec: {kafka: {%s}}"
		ray      = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: x, namespace: shop}\nspec: {}"
		instance = "map[cnpg.io/cluster:x cnpg.io/podRole:instance]"
		brokers  = "map[strimzi.io/cluster:x strimzi.io/name:x-kafka]"
		search   = "apiVersion: opensearch.org/v1\nkind: OpenSearchCluster\nmetadata: {name: x, namespace: shop}\nspec: {general: {monitoring: {enable: %t}}}"
		crunchy  = "apiVersion: postgres-operator.crunchydata.com/v1beta1\nkind: PostgresCluster\nmetadata: {name: x, namespace: shop}\nspec: {%s}"
		minio    = "apiVersion: minio.min.io/v2\nkind: Tenant\nmetadata: {name: x, namespace: shop}\nspec: {prometheusOperator: %t}"
		grid     = "apiVersion: infinispan.org/v1\nkind: Infinispan\nmetadata: {name: x, namespace: shop, annotations: {%s}}"
		server   = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x, namespace: shop}\nspec: {%s}"
		asked    = "gap Kafka.kafka.strimzi.io/shop/x: the switch of its operator for metrics is not set"
	)
	for name, c := range map[string]struct {
		text               string
		port, scheme, pods string
		gap                string
	}{
		"PostgreSQL":                            {fmt.Sprintf(postgres, false) + "\n---\n" + fmt.Sprintf(owned, "postgresql.cnpg.io/v1", "Cluster", "metrics", 9187), "metrics", "", instance, ""},
		"PostgreSQL by https":                   {fmt.Sprintf(postgres, true) + "\n---\n" + fmt.Sprintf(owned, "postgresql.cnpg.io/v1", "Cluster", "metrics", 9187), "metrics", "https", instance, "does not verify its certificate"},
		"PostgreSQL without pods":               {fmt.Sprintf(postgres, true), "metrics", "https", instance, "does not verify its certificate"},
		"PgBouncer by https":                    {pooler, "metrics", "https", "map[cnpg.io/poolerName:x]", "does not verify its certificate"},
		"Kafka":                                 {fmt.Sprintf(kafka, "metricsConfig: {type: strimziMetricsReporter}"), "tcp-prometheus", "", brokers, ""},
		"Kafka, with another switch":            {fmt.Sprintf(kafka, "metricsConfig: {type: jmxPrometheusExporter}"), "tcp-prometheus", "", brokers, ""},
		"Kafka that serves metrics":             {fmt.Sprintf(kafka, "") + "\n---\n" + fmt.Sprintf(owned, "kafka.strimzi.io/v1", "Kafka", "tcp-prometheus", 9404), "tcp-prometheus", "", brokers, ""},
		"Kafka that serves none":                {fmt.Sprintf(kafka, "") + "\n---\n" + fmt.Sprintf(owned, "kafka.strimzi.io/v1", "Kafka", "tcp-plain", 9092), "", "", "", asked},
		"Kafka without pods":                    {fmt.Sprintf(kafka, ""), "", "", "", asked},
		"OpenSearch":                            {fmt.Sprintf(search, false) + "\n---\n" + fmt.Sprintf(owned, "opensearch.org/v1", "OpenSearchCluster", "http", 9200), "", "", "", "gap OpenSearchCluster.opensearch.org/shop/x: the switch of its operator for metrics is not set"},
		"OpenSearch that its operator monitors": {fmt.Sprintf(search, true) + "\n---\n" + fmt.Sprintf(owned, "opensearch.org/v1", "OpenSearchCluster", "http", 9200), "", "", "", ""},
		"Crunchy":                               {fmt.Sprintf(crunchy, ""), "", "", "", "gap PostgresCluster.postgres-operator.crunchydata.com/shop/x: the switch of its operator for metrics is not set"},
		"Crunchy that is asked":                 {fmt.Sprintf(crunchy, "monitoring: {pgmonitor: {exporter: {}}}"), "", "", "", "its pods do not exist yet"},
		"MinIO":                                 {fmt.Sprintf(minio, false), "", "", "", "gap Tenant.minio.min.io/shop/x: the switch of its operator for metrics is not set"},
		"MinIO that its operator monitors":      {fmt.Sprintf(minio, true) + "\n---\n" + strings.Replace(fmt.Sprintf(owned, "minio.min.io/v2", "Tenant", "none", 9000), "name: none, ", "", 1), "", "", "", ""},
		"Infinispan":                            {fmt.Sprintf(grid, ""), "", "", "", "gap Infinispan.infinispan.org/shop/x: the switch of its operator for metrics is not set"},
		"Infinispan that is not monitored":      {fmt.Sprintf(grid, `infinispan.org/monitoring: "false"`), "", "", "", "gap Infinispan.infinispan.org/shop/x: the switch of its operator for metrics is not set"},
		"Infinispan that is":                    {fmt.Sprintf(grid, `infinispan.org/monitoring: "true"`), "", "", "", ""},
		"Prometheus":                            {fmt.Sprintf(server, ""), "web", "", "map[app.kubernetes.io/name:prometheus operator.prometheus.io/name:x]", ""},
		"Prometheus by https":                   {fmt.Sprintf(server, "web: {tlsConfig: {}}"), "web", "https", "map[app.kubernetes.io/name:prometheus operator.prometheus.io/name:x]", "does not verify its certificate"},
		"Ray":                                   {ray, "metrics", "", "map[ray.io/cluster:x]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := shop(t, "")
			s.Apps = []monitor.App{{Name: "x", Objects: objects(t, c.text)}}
			plan := monitor.Make(s)
			var port, scheme, pods string
			for _, o := range plan.Objects {
				if u := (&unstructured.Unstructured{Object: o}); u.GetKind() == "PodMonitor" {
					spec := o["spec"].(map[string]any)
					endpoint := spec["podMetricsEndpoints"].([]any)[0].(map[string]any)
					port, _ = endpoint["port"].(string)
					scheme, _ = endpoint["scheme"].(string)
					pods = fmt.Sprint(spec["selector"].(map[string]any)["matchLabels"])
				}
			}
			if got := told(plan); port != c.port || scheme != c.scheme || pods != c.pods || !strings.Contains(got, c.gap) || c.gap == "" && strings.Contains(got, "gap ") {
				t.Errorf("port %q, scheme %q, pods %s\n%s", port, scheme, pods, got)
			}
		})
	}
}

// operatorFields are the fields of the types of prometheus-operator by release, of testdata/operator-fields.txt:
// the type of a field is empty where it is not looked at.
func operatorFields(t *testing.T) map[string]map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/operator-fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]map[string]string{}
	var types map[string]map[string]string
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "version":
			types = map[string]map[string]string{}
			out[words[1]] = types
		default:
			fields := map[string]string{}
			for _, word := range words[1:] {
				name, kind, _ := strings.Cut(word, "=")
				fields[name] = kind
			}
			types[words[0]] = fields
		}
	}
	return out
}

// unknownFields are the fields of a value that its type lacks.
func unknownFields(types map[string]map[string]string, kind string, value any) (out []string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			out = append(out, unknownFields(types, kind, item)...)
		}
	case map[string]any:
		for name, inner := range v {
			of, known := types[kind][name]
			if !known {
				out = append(out, kind+"."+name)
			} else if of != "" {
				out = append(out, unknownFields(types, of, inner)...)
			}
		}
	}
	return out
}

// TestOperatorVersions: monitors and rules have only fields that every version of prometheus-operator since
// v0.60 serves: portNumber of pods, scrapeClass and limit of groups, which are newer, are not among them.
func TestOperatorVersions(t *testing.T) {
	s := shop(t, "")
	s.Settings.Interval = 15e9
	s.Apps[2].Setting = system.AppMonitoring{Port: "8081", Path: "/m"}
	s.Apps = append(s.Apps, monitor.App{Name: "x", Objects: objects(t, "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: x, namespace: shop}\nspec: {monitoring: {tls: {enabled: true}}}")})
	all := monitor.Make(s).Objects
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"port", "path", "scheme", "tlsConfig", "interval", "relabelings", "record", "for"} {
		if !strings.Contains(string(text), `"`+field+`":`) {
			t.Errorf("nothing has %s", field)
		}
	}
	versions := operatorFields(t)
	for version, types := range versions {
		seen := map[string]bool{}
		for _, o := range all {
			if kind := o["kind"].(string); types[kind+"Spec"] != nil {
				seen[kind] = true
				if unknown := unknownFields(types, kind+"Spec", o["spec"]); len(unknown) > 0 {
					t.Errorf("%s of %s: %s lacks %v", kind, version, version, unknown)
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: only %v are made", version, seen)
		}
	}
	newer := map[string]any{"scrapeClass": "x", "podMetricsEndpoints": []any{map[string]any{"portNumber": int64(1)}}}
	if got := unknownFields(versions["v0.60.0"], "PodMonitorSpec", newer); len(got) != 2 || len(versions) != 3 {
		t.Errorf("v0.60.0 lacks %v of what is newer; %d versions", got, len(versions))
	}
	if got := unknownFields(versions["v0.93.0"], "PodMonitorSpec", newer); len(got) != 0 {
		t.Errorf("v0.93.0 lacks %v", got)
	}
}

// TestOwnObjects: the plan is the same once its objects are in the cluster.
func TestOwnObjects(t *testing.T) {
	s := shop(t, "")
	s.Settings.Labels = map[string]string{"release": "stack"}
	first := monitor.Make(s)
	for _, o := range first.Objects {
		s.Cluster.Objects = append(s.Cluster.Objects, &unstructured.Unstructured{Object: o})
	}
	want, _ := json.Marshal(first)
	if got, _ := json.Marshal(monitor.Make(s)); string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLabels: the objects have the labels that their Prometheus selects, or those of the manifest.
func TestLabels(t *testing.T) {
	labels := func(s monitor.Scope, kind string) map[string]string {
		for _, o := range monitor.Make(s).Objects {
			if u := (&unstructured.Unstructured{Object: o}); u.GetKind() == kind {
				return u.GetLabels()
			}
		}
		return nil
	}
	s := shop(t, "")
	if got := labels(s, "PrometheusRule"); got["release"] != "stack" || got["role"] != "alert" || got[monitor.OwnLabel] != "shop" {
		t.Errorf("labels %v", got)
	}
	if got := labels(s, "PodMonitor"); got["release"] != "stack" || got["role"] != "" {
		t.Errorf("labels %v", got)
	}
	s = shop(t, `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p, namespace: shop}
spec:
  podMonitorSelector: {matchExpressions: [{key: tier, operator: In, values: [gold, silver]}, {key: team, operator: Exists}, {key: old, operator: DoesNotExist}]}`, "Prometheus/main")
	if got := labels(s, "PodMonitor"); got["tier"] != "gold" || got["team"] != "true" || len(got) != 3 {
		t.Errorf("labels %v", got)
	}
	s.Settings.Labels = map[string]string{"mine": "1"}
	if got := labels(s, "PodMonitor"); got["mine"] != "1" || got["tier"] != "" {
		t.Errorf("labels %v", got)
	}
}

// TestSystemOfPlan: the objects of a plan are a System, and are in its manifest as they are.
func TestSystemOfPlan(t *testing.T) {
	plan := monitor.Make(shop(t, ""))
	sys, text, err := installer.Generated(plan.Installation, plan.Namespace, "", "monitors", plan.Manifests())
	if err != nil {
		t.Fatal(err)
	}
	again, problems := system.Parse("f", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, _ := json.Marshal(plan.Objects)
	got, _ := json.Marshal(again.Apps[0].Resources)
	if sys.Name != "shop-monitoring" || sys.Namespace != "shop" || string(got) != string(want) {
		t.Errorf("%s/%s\n%s\nwant\n%s", sys.Namespace, sys.Name, got, want)
	}
	if _, _, err := installer.Generated("none-monitoring", "shop", "", "monitors", (&monitor.Plan{Name: "none"}).Manifests()); err == nil {
		t.Error("nothing to make, and no error")
	}
}

// TestDashboard: panels have their own number and place, and every app its row.
func TestDashboard(t *testing.T) {
	var board struct {
		UID, Title string
		Panels     []struct {
			ID            int
			Type, Title   string
			GridPos       struct{ X, Y, W, H int }
			Targets       []struct{ Expr, RefID string }
			Datasource    map[string]string
			FieldConfig   map[string]any
			PluginVersion string
		}
	}
	for _, o := range monitor.Make(shop(t, "")).Objects {
		u := &unstructured.Unstructured{Object: o}
		if u.GetKind() != "ConfigMap" {
			continue
		}
		if u.GetLabels()["grafana_dashboard"] != "1" {
			t.Errorf("labels %v", u.GetLabels())
		}
		text, _, _ := unstructured.NestedString(o, "data", "shop.json")
		if err := json.Unmarshal([]byte(text), &board); err != nil {
			t.Fatal(err)
		}
	}
	if board.UID == "" || len(board.UID) > 40 || board.Title == "" {
		t.Errorf("uid %q, title %q", board.UID, board.Title)
	}
	taken, ids, rows := map[[2]int]string{}, map[int]bool{}, []string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("panel %d %s: a second of this number", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Errorf("%s at %d,%d: %s is there", p.Title, x, y, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else if p.Type != "text" && (len(p.Targets) == 0 || p.Datasource["uid"] != "${datasource}") {
			t.Errorf("%s has no query, or another data source", p.Title)
		}
	}
	if got := strings.Join(rows, ", "); got != "System shop, App agent, App db, App quiet, App web, App worker" {
		t.Errorf("rows %s", got)
	}
}

// TestDashboardWithoutAlerts: the record of the pods, which panels join, is made without alerts too,
// and the plan says where it cannot be made; no panel says 0 where there are no data.
func TestDashboardWithoutAlerts(t *testing.T) {
	s := shop(t, "")
	s.Settings.NoAlerts = true
	plan := monitor.Make(s)
	if rules := spec(t, plan, "PrometheusRule", "shop-alerts"); !strings.Contains(rules, `"record":"sysop:pod:info"`) || strings.Contains(rules, `"alert":`) || len(plan.Alerts) > 0 {
		t.Errorf("rules %s", rules)
	}
	text, _ := json.Marshal(plan.Objects)
	if strings.Contains(string(text), "vector(0)") || strings.Contains(string(text), "ALERTS") {
		t.Errorf("the dashboard shows what is not known: %s", text)
	}
	s.Settings.NoDashboard = true
	if plan := monitor.Make(s); spec(t, plan, "PrometheusRule", "shop-alerts") != "" {
		t.Errorf("rules without a use: %v", plan.Objects)
	}
	s = shop(t, "", "PrometheusRule.monitoring.coreos.com")
	if got := told(monitor.Make(s)); !strings.Contains(got, "does not serve PrometheusRule, so no alerts are made, and most panels of the dashboard are empty") {
		t.Errorf("told\n%s", got)
	}
	s = shop(t, "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: bare, namespace: shop}\nspec: {}", "Prometheus/main")
	if got := told(monitor.Make(s)); !strings.Contains(got, "no Prometheus selects the PrometheusRule in shop, so no alerts fire, and most panels of the dashboard are empty") {
		t.Errorf("told\n%s", got)
	}
}

// TestPlannedKinds: a Prometheus has to select the monitors that are made, and no kind that is not.
func TestPlannedKinds(t *testing.T) {
	const services = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: services, namespace: shop}\nspec: {serviceMonitorSelector: {}, ruleSelector: {}}"
	s := shop(t, services, "Prometheus/main", "Deployment/worker", "DaemonSet/agent", "Deployment/quiet")
	plan := monitor.Make(s)
	if got := plan.Prometheuses[0]; !got.Monitors || got.Message != "" || plan.Server() != "svc:shop/prometheus-operated:9090" {
		t.Errorf("%+v, server %q", got, plan.Server())
	}
	plan = monitor.Make(shop(t, services, "Prometheus/main", "Deployment/web", "Deployment/worker", "DaemonSet/agent", "Deployment/quiet"))
	if got := plan.Prometheuses[0]; !got.Monitors || plan.Apps[1].Targets[0].How != monitor.Collected {
		t.Errorf("by a monitor of others: %+v, %+v", got, plan.Apps)
	}
	plan = monitor.Make(shop(t, services, "Prometheus/main"))
	if got := plan.Prometheuses[0]; got.Monitors || got.Message != "does not select PodMonitor in shop" {
		t.Errorf("%+v", got)
	}
}

// TestGaps: what could not be read is in the plan.
func TestGaps(t *testing.T) {
	s := shop(t, "")
	s.Cluster.Gaps = []object.Gap{{Resource: "prometheuses.monitoring.coreos.com", Reason: "Forbidden", Message: "you may not list them"}}
	if got := told(monitor.Make(s)); !strings.Contains(got, "gap prometheuses: could not be read: you may not list them") {
		t.Errorf("told\n%s", got)
	}
}

// TestAnnotationsOfOperator: without prometheus-operator the annotations that are named have the path as well,
// where pods serve their metrics at another one than that which is read by default.
func TestAnnotationsOfOperator(t *testing.T) {
	s := shop(t, "", "ServiceMonitor.monitoring.coreos.com", "PodMonitor.monitoring.coreos.com", "Prometheus.monitoring.coreos.com", "Prometheus/main")
	s.Apps = []monitor.App{{Name: "x", Objects: objects(t, "apiVersion: minio.min.io/v2\nkind: Tenant\nmetadata: {name: x, namespace: shop}\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata: {name: x-1, namespace: shop, ownerReferences: [{apiVersion: minio.min.io/v2, kind: Tenant, name: x, controller: true, uid: u}]}\n"+
		"spec: {containers: [{name: c, image: i, ports: [{containerPort: 9000}]}]}")}}
	const want = `prometheus.io/scrape: "true", prometheus.io/port: "9000", prometheus.io/path: "/minio/v2/metrics/cluster" among`
	if plan := monitor.Make(s); len(plan.Gaps) == 0 || !slices.ContainsFunc(plan.Gaps, func(g monitor.Gap) bool { return strings.HasPrefix(g.Help, want) }) {
		t.Errorf("gaps %+v", plan.Gaps)
	}
}
