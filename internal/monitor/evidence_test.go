package monitor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// answers are of a Prometheus as its API documents them: two pods of web of which one is down, one of a
// neighbour, and alerts of kube-prometheus.
const answers = `{"targets": {"activeTargets": [
  {"labels": {"namespace": "shop", "pod": "web-1", "job": "shop/web"}, "scrapeUrl": "http://10.0.0.1:9113/metrics", "lastError": "", "health": "up"},
  {"labels": {"namespace": "shop", "pod": "web-2", "job": "shop/web"}, "scrapeUrl": "http://10.0.0.2:9113/metrics", "lastError": "connection refused", "health": "down"},
  {"labels": {"namespace": "test", "pod": "web-2", "job": "test/web"}, "scrapeUrl": "http://10.0.0.3:9113/metrics", "lastError": "connection refused", "health": "down"},
  {"labels": {"instance": "10.0.0.4:9100", "job": "node"}, "scrapeUrl": "http://10.0.0.4:9100/metrics", "lastError": "timeout", "health": "down"}]},
 "alerts": {"alerts": [
  {"labels": {"alertname": "KubeDeploymentReplicasMismatch", "namespace": "shop", "deployment": "web", "severity": "warning"}, "annotations": {"summary": "Deployment has not matched the expected number of replicas."}, "state": "firing", "activeAt": "2026-09-14T09:00:00Z"},
  {"labels": {"alertname": "KubePodNotReady", "namespace": "shop", "pod": "web-2"}, "annotations": {}, "state": "pending", "activeAt": "2026-09-14T09:00:00Z"},
  {"labels": {"alertname": "KubeDeploymentReplicasMismatch", "namespace": "test", "deployment": "web"}, "annotations": {}, "state": "firing", "activeAt": "2026-09-14T09:00:00Z"},
  {"labels": {"alertname": "KubePodCrashLooping", "namespace": "monitoring", "pod": "ksm-1", "exported_namespace": "shop", "exported_pod": "cron-1"}, "annotations": {}, "state": "firing", "activeAt": "2026-09-14T09:00:00Z"},
  {"labels": {"alertname": "KubeJobFailed", "namespace": "monitoring", "pod": "ksm-1", "exported_namespace": "shop", "job_name": "bill"}, "annotations": {}, "state": "firing", "activeAt": "2026-09-14T09:00:00Z"},
  {"labels": {"alertname": "Watchdog"}, "annotations": {}, "state": "firing", "activeAt": "2026-09-14T09:00:00Z"}]}}`

func TestEvidence(t *testing.T) {
	var from struct {
		Targets monitor.Targets
		Alerts  monitor.Alerts
	}
	if err := json.Unmarshal([]byte(answers), &from); err != nil {
		t.Fatal(err)
	}
	const down = "Pod/shop/web-2: 1 of 2 targets of the job shop/web are not up: http://10.0.0.2:9113/metrics: connection refused"
	const fires = "Deployment.apps/shop/web: the alert KubeDeploymentReplicasMismatch fires: Deployment has not matched the expected number of replicas."
	for _, c := range []struct {
		members string
		pods    int
		want    []string
	}{
		{"Deployment.apps/shop/web Pod/shop/web-1 Pod/shop/web-2", 2, []string{down, fires}},
		{"Pod/shop/web-1", 1, nil},
		{"Pod/shop/web-2", 1, []string{strings.Replace(down, "1 of 2", "1 of 1", 1)}},
		{"Pod/shop/db-0", 1, []string{": blind: of 1 pod none is scraped"}},
		{"ConfigMap/shop/web", 0, nil},
		// Without honorLabels the labels of a series are exported_*, and pod is that of the exporter.
		{"Pod/shop/cron-1 Job.batch/shop/bill", 0, []string{"Job.batch/shop/bill: the alert KubeJobFailed fires", "Pod/shop/cron-1: the alert KubePodCrashLooping fires"}},
		{"Pod/monitoring/ksm-1 Pod/shop/ksm-1", 0, nil},
	} {
		var got []string
		for _, e := range monitor.Evidence(from.Targets, from.Alerts, c.pods, func(ref object.Ref) bool {
			return strings.Contains(" "+c.members+" ", " "+ref.String()+" ")
		}) {
			got = append(got, e.Object+": "+e.Message)
			if e.Source != "prometheus" || strings.Contains(e.Message, "alert") == e.Since.IsZero() {
				t.Errorf("evidence %+v", e)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", c.members, got, c.want)
		}
	}
}
