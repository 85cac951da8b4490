package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

const monitoredSystem = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NAMESPACE}
spec:
  apps:
  - {name: web, roots: [deployment/web]}
  - {name: worker, roots: [deployment/worker]}
  - {name: quiet, roots: [deployment/quiet]}
  monitoring: {interval: 5s}
`

// TestMonitor: the operator of Prometheus makes a configuration of our monitors and rules, by which
// a real Prometheus finds exactly the pods of the apps that serve metrics; and when the monitors
// are removed, nothing of them is left.
func TestMonitor(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applyText(t, c, inNamespace(t, ns, "monitored.yaml"))
	file := filepath.Join(t.TempDir(), "system.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(monitoredSystem, "NAMESPACE", ns)), 0o600); err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Apps []struct {
			Name    string
			Targets []struct{ How, Prometheus string }
		}
	}
	if err := json.Unmarshal([]byte(sysop(t, c.Kubeconfig, "monitor", "plan", "-f", file, "-o", "json").succeeds(t).stdout), &plan); err != nil {
		t.Fatal(err)
	}
	hows := map[string]string{}
	for _, a := range plan.Apps {
		hows[a.Name] = a.Targets[0].How + " " + a.Targets[0].Prometheus
	}
	by := " Prometheus.monitoring.coreos.com/" + ns + "/main"
	if want := map[string]string{"web": "servicemonitor" + by, "worker": "podmonitor" + by, "quiet": "unknown "}; !maps.Equal(hows, want) {
		t.Errorf("planned %v, want %v", hows, want)
	}
	sysop(t, c.Kubeconfig, "monitor", "apply", "-f", file, "--yes").succeeds(t)
	again := sysop(t, c.Kubeconfig, "monitor", "apply", "-f", file, "--yes").succeeds(t)
	if !strings.Contains(again.stderr, "shop-monitoring is up to date") {
		t.Errorf("applied again: %s", again.stderr)
	}

	server := c.OperatePrometheus(t, ns, "main")
	cluster.Eventually(t, limit, func() error {
		rules, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "prometheus-main-rulefiles-0", metav1.GetOptions{})
		if err == nil && !strings.Contains(fmt.Sprint(rules.Data), "SystemAppUnavailable") {
			err = fmt.Errorf("the operator took no alerts: %v", rules.Data)
		}
		return err
	})
	cluster.Eventually(t, limit, func() error {
		pods, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app in (web, worker)"})
		if err != nil {
			return err
		}
		var want []string
		for i := range pods.Items {
			want = append(want, pods.Items[i].Labels["app"]+" "+pods.Items[i].Name)
		}
		slices.Sort(want)
		if got, err := activeTargets(server.URL); err != nil || len(want) != 3 || !slices.Equal(got, want) {
			return fmt.Errorf("targets %v, want %v (%w)", got, want, err)
		}
		return nil
	})

	// The pods with metrics answer; of quiet nothing is known.
	cluster.Eventually(t, limit, func() error {
		seen := sysop(t, c.Kubeconfig, "monitor", "status", "-f", file, "--exit-code", "-o", "name")
		if seen.code != 2 || seen.stdout != "quiet\n" {
			return fmt.Errorf("status: exit code %d, apps that are not seen: %q; stderr:\n%s", seen.code, seen.stdout, seen.stderr)
		}
		return nil
	})

	sysop(t, c.Kubeconfig, "monitor", "remove", "-f", file, "--yes").succeeds(t)
	if left := monitoringObjects(t, c, ns); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// activeTargets are the targets of a Prometheus, as APP POD.
func activeTargets(server string) ([]string, error) {
	resp, err := asking.Get(server + "/api/v1/targets?state=active")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Data struct {
			ActiveTargets []struct{ Labels map[string]string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, err
	}
	var out []string
	for _, a := range answer.Data.ActiveTargets {
		out = append(out, a.Labels["sysop_app"]+" "+a.Labels["pod"])
	}
	slices.Sort(out)
	return out, nil
}

// monitoringObjects are the objects of a namespace that monitor apply made.
func monitoringObjects(t *testing.T, c *cluster.Cluster, ns string) []string {
	t.Helper()
	client := dynamic.NewForConfigOrDie(c.Config())
	var out []string
	for _, r := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "podmonitors"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"},
	} {
		list, err := client.Resource(r).Namespace(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/monitoring"})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			out = append(out, o.GetKind()+"/"+o.GetName())
		}
	}
	return out
}
