package windows

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
)

// series are input series of promtool: the values by the series.
type series map[string]string

// owners are the series by which the pods of the shop are known, with those of a neighbour whose
// names begin in the same way: no alert is about that.
var owners = series{
	`kube_pod_owner{namespace="shop",pod="web-5d9-abcde",owner_kind="ReplicaSet",owner_name="web-5d9"}`:             "1x600",
	`kube_replicaset_owner{namespace="shop",replicaset="web-5d9",owner_kind="Deployment",owner_name="web"}`:         "1x600",
	`kube_pod_owner{namespace="shop",pod="web-api-7c4-abcde",owner_kind="ReplicaSet",owner_name="web-api-7c4"}`:     "1x600",
	`kube_replicaset_owner{namespace="shop",replicaset="web-api-7c4",owner_kind="Deployment",owner_name="web-api"}`: "1x600",
	`kube_pod_owner{namespace="shop",pod="db-0",owner_kind="StatefulSet",owner_name="db"}`:                          "1x600",
	`kube_job_owner{namespace="shop",job_name="report-1",owner_kind="CronJob",owner_name="report"}`:                 "1x600",
	`kube_job_owner{namespace="shop",job_name="report-all-1",owner_kind="CronJob",owner_name="report-all"}`:         "1x600",
}

// alertCases are, for each alert, series that it fires on, and alike ones that it does not: those of
// a System that is well, and those of neighbours.
var alertCases = []struct {
	name, app string
	bad, good series
}{
	{
		"SystemAppUnavailable", "web",
		series{`kube_deployment_spec_replicas{namespace="shop",deployment="web"}`: "2x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web"}`: "0x600"},
		series{
			`kube_deployment_spec_replicas{namespace="shop",deployment="web"}`: "0x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web"}`: "0x600",
			`kube_deployment_spec_replicas{namespace="shop",deployment="web-api"}`: "2x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web-api"}`: "0x600",
			`kube_deployment_spec_replicas{namespace="test",deployment="web"}`: "2x600", `kube_deployment_status_replicas_available{namespace="test",deployment="web"}`: "0x600",
		},
	},
	{
		"SystemAppUnavailable", "db",
		series{`kube_statefulset_replicas{namespace="shop",statefulset="db"}`: "2x600", `kube_statefulset_status_replicas_ready{namespace="shop",statefulset="db"}`: "0x600"},
		series{`kube_statefulset_replicas{namespace="shop",statefulset="db"}`: "2x600", `kube_statefulset_status_replicas_ready{namespace="shop",statefulset="db"}`: "2x600"},
	},
	{
		"SystemAppUnavailable", "agent",
		series{`kube_daemonset_status_desired_number_scheduled{namespace="shop",daemonset="agent"}`: "3x600", `kube_daemonset_status_number_available{namespace="shop",daemonset="agent"}`: "0x600"},
		series{`kube_daemonset_status_desired_number_scheduled{namespace="shop",daemonset="agent"}`: "0x600", `kube_daemonset_status_number_available{namespace="shop",daemonset="agent"}`: "0x600"},
	},
	{
		"SystemAppNotHealthy", "web",
		series{
			`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web",health="Degraded"}`:    "1x593 _x7",
			`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web",health="Progressing"}`: "_x593 1x7",
		},
		series{
			`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web",health="Suspended"}`:    "1x600",
			`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web",health="Progressing"}`:  "_x595 1x5",
			`sysop_regulate_app_health{system_namespace="test",system="shop",app="web",health="Degraded"}`:     "1x600",
			`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web-api",health="Degraded"}`: "1x600",
		},
	},
	{
		"SystemAppHeld", "web",
		series{`sysop_regulate_held{system_namespace="shop",system="shop",app="web",signal="Stop"}`: "1x600"},
		series{
			`sysop_regulate_held{system_namespace="shop",system="shop",app="web",signal="Stop"}`:   "1x580 _x20",
			`sysop_regulate_held{system_namespace="shop",system="shop-2",app="web",signal="Stop"}`: "1x600",
		},
	},
	{
		"SystemReplicasMissing", "web",
		series{`kube_deployment_spec_replicas{namespace="shop",deployment="web"}`: "2x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web"}`: "1x600"},
		series{
			`kube_deployment_spec_replicas{namespace="shop",deployment="web"}`: "2x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web"}`: "2x580 1x5 2x15",
			`kube_deployment_spec_replicas{namespace="shop",deployment="web-api"}`: "2x600", `kube_deployment_status_replicas_available{namespace="shop",deployment="web-api"}`: "1x600",
		},
	},
	{
		"SystemReplicasMissing", "db",
		series{`kube_statefulset_replicas{namespace="shop",statefulset="db"}`: "2x600", `kube_statefulset_status_replicas_ready{namespace="shop",statefulset="db"}`: "1x600"},
		series{`kube_statefulset_replicas{namespace="shop",statefulset="db-2"}`: "2x600", `kube_statefulset_status_replicas_ready{namespace="shop",statefulset="db-2"}`: "1x600"},
	},
	{
		"SystemReplicasMissing", "agent",
		series{`kube_daemonset_status_desired_number_scheduled{namespace="shop",daemonset="agent"}`: "3x600", `kube_daemonset_status_number_available{namespace="shop",daemonset="agent"}`: "2x600"},
		series{`kube_daemonset_status_desired_number_scheduled{namespace="shop",daemonset="agent"}`: "3x600", `kube_daemonset_status_number_available{namespace="shop",daemonset="agent"}`: "3x600"},
	},
	{
		"SystemContainerRestarts", "web",
		series{`kube_pod_container_status_restarts_total{namespace="shop",pod="web-5d9-abcde",container="web"}`: "0+1x600"},
		series{
			`kube_pod_container_status_restarts_total{namespace="shop",pod="web-5d9-abcde",container="web"}`:     "0x580 2x20",
			`kube_pod_container_status_restarts_total{namespace="shop",pod="web-api-7c4-abcde",container="web"}`: "0+1x600",
		},
	},
	{
		"SystemContainerRestarts", "db",
		series{`kube_pod_container_status_waiting_reason{namespace="shop",pod="db-0",container="db",reason="CrashLoopBackOff"}`: "1x600"},
		series{`kube_pod_container_status_waiting_reason{namespace="shop",pod="db-0",container="db",reason="ContainerCreating"}`: "1x600"},
	},
	{
		"SystemCPUThrottled", "web",
		series{
			`container_cpu_cfs_throttled_periods_total{namespace="shop",pod="web-5d9-abcde",container="web"}`: "0+50x600",
			`container_cpu_cfs_periods_total{namespace="shop",pod="web-5d9-abcde",container="web"}`:           "0+100x600",
		},
		series{
			`container_cpu_cfs_throttled_periods_total{namespace="shop",pod="web-5d9-abcde",container="web"}`:     "0+10x600",
			`container_cpu_cfs_periods_total{namespace="shop",pod="web-5d9-abcde",container="web"}`:               "0+100x600",
			`container_cpu_cfs_throttled_periods_total{namespace="shop",pod="web-api-7c4-abcde",container="web"}`: "0+50x600",
			`container_cpu_cfs_periods_total{namespace="shop",pod="web-api-7c4-abcde",container="web"}`:           "0+100x600",
		},
	},
	{
		"SystemMemoryNearLimit", "db",
		series{
			`container_memory_working_set_bytes{namespace="shop",pod="db-0",container="db",id="/a"}`:           "95x600",
			`container_memory_working_set_bytes{namespace="shop",pod="db-0",container="",id="/"}`:              "99x600",
			`kube_pod_container_resource_limits{namespace="shop",pod="db-0",container="db",resource="memory"}`: "100x600",
		},
		series{
			`container_memory_working_set_bytes{namespace="shop",pod="db-0",container="db",id="/a"}`:           "80x600",
			`container_memory_working_set_bytes{namespace="shop",pod="db-0",container="",id="/"}`:              "99x600",
			`kube_pod_container_resource_limits{namespace="shop",pod="db-0",container="db",resource="memory"}`: "100x600",
			`kube_pod_container_resource_limits{namespace="shop",pod="db-0",container="db",resource="cpu"}`:    "1x600",
		},
	},
	{
		"SystemJobFailed", "worker",
		series{`kube_job_failed{namespace="shop",job_name="report-1",condition="true"}`: "1x600"},
		series{`kube_job_failed{namespace="shop",job_name="report-1",condition="true"}`: "0x600", `kube_job_failed{namespace="shop",job_name="report-all-1",condition="true"}`: "1x600"},
	},
	{
		"SystemJobFailed", "worker",
		series{`kube_job_failed{namespace="shop",job_name="migrate",condition="true"}`: "1x600"},
		series{`kube_job_failed{namespace="shop",job_name="migrate",condition="false"}`: "1x600", `kube_job_failed{namespace="shop",job_name="migrate-2",condition="true"}`: "1x600"},
	},
	{
		"SystemClaimFilling", "db",
		series{
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-1"}`: "700-1x600",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-1"}`:  "1000x600",
		},
		series{
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`:   "100x600",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`:    "1000x600",
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-1"}`:   "999-1x600",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-1"}`:    "1000x600",
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-2-0"}`: "700-1x600",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-2-0"}`:  "1000x600",
		},
	},
	{ // full since long: it does not get fuller
		"SystemClaimFilling", "db",
		series{
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`: "0x600",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`:  "1000x600",
		},
		series{
			`kubelet_volume_stats_available_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`: "900-1x100 800x500",
			`kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="data-db-0"}`:  "1000x600",
		},
	},
	{ // at 36000 s, with 5 h as the limit
		"SystemBackupTooOld", "db",
		series{`kube_cronjob_status_last_successful_time{namespace="shop",cronjob="db-dump"}`: "10x600"},
		series{
			`kube_cronjob_status_last_successful_time{namespace="shop",cronjob="db-dump"}`: "30000x600",
			`kube_cronjob_created{namespace="shop",cronjob="db-dump"}`:                     "10x600",
			`kube_cronjob_status_last_successful_time{namespace="shop",cronjob="report"}`:  "10x600",
			`kube_cronjob_status_last_successful_time{namespace="test",cronjob="db-dump"}`: "10x600",
		},
	},
	{ // it never succeeded
		"SystemBackupTooOld", "db",
		series{`kube_cronjob_created{namespace="shop",cronjob="db-dump"}`: "10x600"},
		series{`kube_cronjob_created{namespace="shop",cronjob="db-dump"}`: "30000x600"},
	},
	{
		"SystemBackupTooOld", "db",
		series{`cnpg_collector_last_available_backup_timestamp{namespace="shop",pod="ledger-1"}`: "1x600", `barman_cloud_cloudnative_pg_io_last_available_backup_timestamp{namespace="shop",pod="ledger-2"}`: "0x600"},
		series{
			`cnpg_collector_last_available_backup_timestamp{namespace="shop",pod="ledger-1"}`:                 "0x600", // it has no backup of this kind
			`barman_cloud_cloudnative_pg_io_last_available_backup_timestamp{namespace="shop",pod="ledger-2"}`: "30000x600",
			`cnpg_collector_last_available_backup_timestamp{namespace="shop",pod="ledger-audit-1"}`:           "1x600",
		},
	},
	{
		"SystemAutoscalerAtMaximum", "web",
		series{
			`kube_horizontalpodautoscaler_status_desired_replicas{namespace="shop",horizontalpodautoscaler="web"}`: "4x600",
			`kube_horizontalpodautoscaler_spec_max_replicas{namespace="shop",horizontalpodautoscaler="web"}`:       "4x600",
		},
		series{
			`kube_horizontalpodautoscaler_status_desired_replicas{namespace="shop",horizontalpodautoscaler="web"}`: "3x600",
			`kube_horizontalpodautoscaler_spec_max_replicas{namespace="shop",horizontalpodautoscaler="web"}`:       "4x600",
		},
	},
	{
		"SystemCertificateExpires", "web",
		series{`certmanager_certificate_expiration_timestamp_seconds{namespace="shop",name="web"}`: "360000x600"},
		series{
			`certmanager_certificate_expiration_timestamp_seconds{namespace="shop",name="web"}`:   "3600000x600",
			`certmanager_certificate_expiration_timestamp_seconds{namespace="shop",name="other"}`: "360000x600",
		},
	},
	{
		"SystemCertificateExpires", "web",
		series{`certmanager_certificate_expiration_timestamp_seconds{namespace="cert-manager",exported_namespace="shop",name="web"}`: "360000x600"},
		series{`certmanager_certificate_expiration_timestamp_seconds{namespace="cert-manager",exported_namespace="test",name="web"}`: "360000x600"},
	},
	{ // lives for two days: at 36000 s it is due to be renewed, or not yet
		"SystemCertificateExpires", "web",
		series{
			`certmanager_certificate_expiration_timestamp_seconds{namespace="shop",name="web"}`: "172800x600",
			`certmanager_certificate_renewal_timestamp_seconds{namespace="shop",name="web"}`:    "30000x600",
		},
		series{
			`certmanager_certificate_expiration_timestamp_seconds{namespace="shop",name="web"}`: "172800x600",
			`certmanager_certificate_renewal_timestamp_seconds{namespace="shop",name="web"}`:    "115200x600",
		},
	},
	{
		"SystemCertificateExpires", "web",
		series{
			`certmanager_certificate_expiration_timestamp_seconds{namespace="cert-manager",exported_namespace="shop",name="web"}`: "172800x600",
			`certmanager_certificate_renewal_timestamp_seconds{namespace="cert-manager",exported_namespace="test",name="web"}`:    "115200x600",
		},
		series{
			`certmanager_certificate_expiration_timestamp_seconds{namespace="cert-manager",exported_namespace="shop",name="web"}`: "172800x600",
			`certmanager_certificate_renewal_timestamp_seconds{namespace="cert-manager",exported_namespace="shop",name="web"}`:    "115200x600",
		},
	},
	{
		"SystemTargetDown", "web",
		series{`up{sysop_namespace="shop",sysop_system="shop",sysop_app="web",namespace="shop",pod="web-5d9-abcde",job="web"}`: "0x600"},
		series{
			`up{sysop_namespace="shop",sysop_system="shop",sysop_app="web",namespace="shop",pod="web-5d9-abcde",job="web"}`: "1x600",
			`up{namespace="shop",pod="web-api-7c4-abcde",job="web-api"}`:                                                    "0x600",
			`up{sysop_namespace="test",sysop_system="shop",sysop_app="web",namespace="test",pod="web-5d9-abcde",job="web"}`: "0x600",
		},
	},
}

// shopPlan is the plan of the shop of the tests of package monitor.
func shopPlan(t *testing.T) *monitor.Plan {
	t.Helper()
	text, err := os.ReadFile("../../internal/monitor/testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	appOf := map[string]string{"db": "db", "db-dump": "db", "ledger": "db", "web": "web", "worker": "worker", "report": "worker", "agent": "agent", "migrate": "worker", "quiet": "quiet"}
	s := monitor.Scope{Name: "shop", Namespace: "shop", System: true, Prices: &monitor.Prices{CPU: "0.03", Memory: "0.004", Currency: "USD"}, Settings: system.Monitoring{Thresholds: map[string]float64{"backupHours": 5}}, Cluster: monitor.Cluster{Serves: func(kind string) bool { return !strings.HasPrefix(kind, "Grafana") }}}
	apps := map[string]*monitor.App{}
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		o := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			err = o.UnmarshalJSON(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Cluster.Objects = append(s.Cluster.Objects, o)
		if name := appOf[o.GetName()]; name != "" && o.GetNamespace() == "shop" {
			if apps[name] == nil {
				apps[name] = &monitor.App{Name: name}
			}
			apps[name].Objects = append(apps[name].Objects, o)
		}
	}
	for _, name := range []string{"agent", "db", "quiet", "web", "worker"} {
		s.Apps = append(s.Apps, *apps[name])
	}
	return monitor.Make(s)
}

// promtool runs promtool on files in a directory.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs promtool: left out by -short")
	}
	bin, err := cluster.BuildPrometheus(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin.Path(build.Promtool), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// writeFile writes a value as YAML.
func writeFile(t *testing.T, dir, name string, value any) {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ruleTest is a test of promtool: after ten hours, the alerts that fire, by name and app.
func ruleTest(name string, in series, firing string) map[string]any {
	var input []any
	for _, from := range []series{owners, in} {
		for s, values := range from {
			input = append(input, map[string]any{"series": s, "values": values})
		}
	}
	samples := []any{}
	if firing != "" {
		samples = append(samples, map[string]any{"labels": firing, "value": 1})
	}
	return map[string]any{
		"name": name, "interval": "1m", "input_series": input,
		"promql_expr_test": []any{map[string]any{"expr": `max by (alertname, sysop_app) (ALERTS{alertstate="firing"})`, "eval_time": "10h", "exp_samples": samples}},
	}
}

// TestAlerts: each alert of a System fires on the series that are bad for it, it alone, and on no
// others; and the rules are valid.
func TestAlerts(t *testing.T) {
	dir, plan := t.TempDir(), shopPlan(t)
	for _, o := range plan.Objects {
		if o["kind"] == "PrometheusRule" {
			writeFile(t, dir, "rules.yaml", o["spec"])
		}
	}
	promtool(t, dir, "check", "rules", "rules.yaml")
	var tests []any
	for i, c := range alertCases {
		bad := fmt.Sprintf(`{alertname=%q,sysop_app=%q}`, c.name, c.app)
		samples := ruleTest(fmt.Sprintf("%d bad for %s", i, c.name), c.bad, bad)
		if c.name == "SystemAppUnavailable" { // its replicas are missing as well
			expr := samples["promql_expr_test"].([]any)[0].(map[string]any)
			expr["expr"] = `max by (alertname, sysop_app) (ALERTS{alertstate="firing",alertname!="SystemReplicasMissing"})`
		}
		tests = append(tests, samples, ruleTest(fmt.Sprintf("%d good for %s", i, c.name), c.good, ""))
	}
	writeFile(t, dir, "tests.yaml", map[string]any{"rule_files": []any{"rules.yaml"}, "evaluation_interval": "1m", "tests": tests})
	promtool(t, dir, "test", "rules", "tests.yaml")
	for _, a := range plan.Alerts {
		if !slices.ContainsFunc(alertCases, func(c struct {
			name, app string
			bad, good series
		},
		) bool {
			return c.name == a.Name
		}) {
			t.Errorf("%s of %s has no case", a.Name, a.App)
		}
	}
}

// queries are those of the panels of the dashboard of a plan whose titles begin so.
func queries(t *testing.T, plan *monitor.Plan, title string) []string {
	t.Helper()
	var out []string
	for _, o := range plan.Objects {
		if o["kind"] != "ConfigMap" {
			continue
		}
		text, _, _ := unstructured.NestedString(o, "data", "shop.json")
		var board struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal([]byte(text), &board); err != nil {
			t.Fatal(err)
		}
		for _, p := range board.Panels {
			for _, target := range p.Targets {
				if strings.HasPrefix(p.Title, title) {
					out = append(out, target.Expr)
				}
			}
		}
	}
	return out
}

// TestDashboardQueries: every query of the dashboard is valid PromQL; the panel of costs charges the larger
// of request and usage at the prices of the book, and that of health counts apps.
func TestDashboardQueries(t *testing.T) {
	dir, plan := t.TempDir(), shopPlan(t)
	var rules []any
	for i, expr := range queries(t, plan, "") {
		rules = append(rules, map[string]any{"record": fmt.Sprintf("q%d", i), "expr": expr})
	}
	if len(rules) < 20 {
		t.Errorf("%d queries", len(rules))
	}
	groups := []any{map[string]any{"name": "queries", "rules": rules}}
	for _, o := range plan.Objects {
		if o["kind"] == "PrometheusRule" {
			groups = append(groups, o["spec"].(map[string]any)["groups"].([]any)...)
		}
	}
	writeFile(t, dir, "rules.yaml", map[string]any{"groups": groups})
	promtool(t, dir, "check", "rules", "rules.yaml")
	test := ruleTest("panels", series{
		`container_cpu_usage_seconds_total{namespace="shop",pod="web-5d9-abcde",container="web"}`:                   "0+12x600",
		`kube_pod_container_resource_requests{namespace="shop",pod="web-5d9-abcde",container="web",resource="cpu"}`: "0.5x600",
		`container_memory_working_set_bytes{namespace="shop",pod="web-5d9-abcde",container="web"}`:                  "2147483648x600",
		`sysop_regulate_app_health{system_namespace="shop",system="shop",app="web",health="Degraded"}`:              "1x600",
		`sysop_regulate_app_health{system_namespace="shop",system="shop",app="db",health="Healthy"}`:                "1x600",
	}, "")
	test["promql_expr_test"] = []any{
		map[string]any{
			"expr": "round(" + queries(t, plan, "Cost by app, USD a month")[0] + ", 0.01)", "eval_time": "10h",
			"exp_samples": []any{map[string]any{"labels": `{sysop_app="web"}`, "value": 16.79}}, // 730 * (0.5 * 0.03 + 2 * 0.004)
		},
		map[string]any{"expr": queries(t, plan, "Apps not Healthy")[0], "eval_time": "10h", "exp_samples": []any{map[string]any{"labels": "{}", "value": 1}}},
	}
	writeFile(t, dir, "tests.yaml", map[string]any{"rule_files": []any{"rules.yaml"}, "evaluation_interval": "1m", "tests": []any{test}})
	promtool(t, dir, "test", "rules", "tests.yaml")
}
