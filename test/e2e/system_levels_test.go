package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const wholeSystem = `
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NAMESPACE}
spec:
  apps:
  - name: db
    autoscaling: false
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: db}
      spec:
        selector: {matchLabels: {app: db}}
        template:
          metadata: {labels: {app: db}}
          spec: {containers: [{name: db, image: "registry.example.com/db:1", ports: [{name: sql, containerPort: 3306}]}]}
  - name: web
    autoscaling: {min: 1, max: 3, cpu: 70}
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "registry.example.com/web:1", ports: [{name: metrics, containerPort: 9113}], resources: {requests: {cpu: 100m}}}]}
  connections:
  - {from: {app: db, port: sql}, to: {app: web, env: DB_HOST}}
  labels: {team: till}
  monitoring: {interval: 30s}
`

// The level of an installed System is said with what is lacking. Its export carries monitoring,
// autoscaling, labels and connections, so that upgrading to it changes nothing; labels that objects lost
// are said, and set again, and no selector is changed.
func TestLevelsOfSystem(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	s := newInstaller(t, c, unraced(t), "")
	file := filepath.Join(s.home, "shop.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(wholeSystem, "NAMESPACE", ns)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("install", "-f", file, "--yes", "--wait=false").succeeds(t)

	var shown struct {
		Level struct {
			Level  int
			Levels []struct {
				Status string
				Rules  []struct {
					Rule, Status, Command string
					Violations            []struct{ Apps []string }
				}
			}
		}
		LabelDrift []struct{ App, Object, Label, Want string }
	}
	show := func() {
		t.Helper()
		shown.LabelDrift = nil
		if err := json.Unmarshal([]byte(s.run("system", "show", "shop", "-n", ns, "-o", "json").succeeds(t).stdout), &shown); err != nil {
			t.Fatal(err)
		}
	}
	show()
	status := map[string]string{}
	for _, l := range shown.Level.Levels {
		for _, r := range l.Rules {
			status[r.Rule] = r.Status
			for _, k := range r.Violations {
				status[r.Rule] += " " + strings.Join(k.Apps, " ")
			}
		}
	}
	for rule, want := range map[string]string{
		"stack-built": "reached", "stack-alerts": "reached", "stack-scaled": "reached", "stack-backup": "reached", "stack-backup-age": "reached",
	} {
		if status[rule] != want {
			t.Errorf("%s is %q, want %q", rule, status[rule], want)
		}
	}
	if !strings.HasPrefix(status["stack-metrics"], "violated db") || shown.Level.Level != 1 || len(shown.LabelDrift) > 0 {
		t.Errorf("the level is %+v, of labels drift %v", shown.Level, shown.LabelDrift)
	}

	exported := filepath.Join(s.home, "exported.yaml")
	s.run("system", "export", "system/shop", "-n", ns, "-O", exported).succeeds(t)
	text, err := os.ReadFile(exported)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"monitoring:", "interval: 30s", "max: 3", "team: till", "port: sql", "autoscaling: false"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the export has no %s:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "kind: HorizontalPodAutoscaler") || strings.Contains(string(text), "kind: PodMonitor") {
		t.Errorf("the export has what its own fields create:\n%s", text)
	}
	if r := s.run("diff", "-f", exported); r.code != 0 || r.stdout != "" {
		t.Errorf("the export differs from what is installed (exit code %d):\n%s\n%s", r.code, r.stdout, r.stderr)
	}

	deployments := admin(c).AppsV1().Deployments(ns)
	before, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"metadata": {"labels": {"team": "lost"}}, "spec": {"template": {"metadata": {"labels": {"team": null}}}}}`)
	if _, err := deployments.Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if show(); len(shown.LabelDrift) != 2 || shown.LabelDrift[0].App != "web" || shown.LabelDrift[0].Label != "team" || shown.LabelDrift[0].Want != "till" {
		t.Errorf("of labels drift %v", shown.LabelDrift)
	}
	s.run("upgrade", "-f", file, "--yes", "--wait=false", "--take-ownership").succeeds(t)
	if show(); len(shown.LabelDrift) != 0 {
		t.Errorf("after the upgrade, of labels drift %v", shown.LabelDrift)
	}
	after, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := after.Spec.Selector.String(), before.Spec.Selector.String(); a != b {
		t.Errorf("the selector is %s, and was %s", a, b)
	}
	s.run("uninstall", "shop", "-n", ns, "--yes").succeeds(t)
}
