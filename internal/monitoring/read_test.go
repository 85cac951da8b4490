package monitoring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// operated are objects that say that prometheus-operator is served.
const operated = `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec: {serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}, podMonitorSelector: {}, podMonitorNamespaceSelector: {}, ruleSelector: {}, ruleNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: other, namespace: monitoring}
spec: {selector: {matchLabels: {app: other}}, endpoints: [{port: metrics}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: other, namespace: monitoring}
spec: {selector: {matchLabels: {app: other}}, podMetricsEndpoints: [{port: metrics}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: other, namespace: monitoring}
spec: {groups: []}
---
`

// workload is a Deployment whose pods mount a claim.
func workload(name, claim string) string {
	return strings.NewReplacer("NAME", name, "CLAIM", claim).Replace(`apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: shop}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: NAME, image: "example.com/NAME:1", ports: [{containerPort: 8080}], volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: CLAIM}}]
---
`)
}

func claim(name string) string {
	return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + ", namespace: shop}\nspec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n---\n"
}

// ingress leads to the app web with the certificate web.
const ingress = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {selector: {app: web}, ports: [{name: http, port: 8080}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  tls: [{hosts: [web.example.com], secretName: web-tls}]
  rules: [{host: web.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: shop}
spec: {secretName: web-tls, dnsNames: [web.example.com], issuerRef: {name: ca}}
---
apiVersion: v1
kind: Secret
metadata: {name: web-tls, namespace: shop, annotations: {cert-manager.io/certificate-name: web}}
type: kubernetes.io/tls
---
`

// snapshot is an input that reads objects and the kinds of prometheus-operator from a file.
func snapshot(t *testing.T, text string) *app.Input {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(operated+strings.TrimSuffix(text, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	config := genericclioptions.NewConfigFlags(true)
	namespace := "shop"
	config.Namespace = &namespace
	return (&app.Input{From: file, Now: time.Now, Config: config}).Another("")
}

// planned is the plan of a request on a snapshot of objects.
func planned(t *testing.T, text string, req monitoring.Request) *monitor.Plan {
	t.Helper()
	plan, _, _, err := monitoring.New(t.Context(), snapshot(t, text), req)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// parsed is a System with the apps, as lines of its manifest.
func parsed(t *testing.T, apps string) *system.System {
	t.Helper()
	sys, problems := system.Parse("shop", []byte("apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: shop, namespace: shop}\nspec:\n  apps:\n"+apps))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return sys
}

// exprs are the alerts of a plan of a name, as APP EXPR.
func exprs(p *monitor.Plan, name string) string {
	var out []string
	for _, a := range p.Alerts {
		if a.Name == name {
			out = append(out, a.App+" "+a.Expr)
		}
	}
	return strings.Join(out, "\n")
}

// TestNeededByOne: what one app alone needs is monitored as its own, and what two need as shared.
func TestNeededByOne(t *testing.T) {
	plan := planned(t, workload("web", "pages")+claim("pages")+ingress, monitoring.Request{Roots: []string{"deployment/web"}})
	if got := exprs(plan, "SystemClaimFilling"); !strings.HasPrefix(got, "web ") || !strings.Contains(got, `persistentvolumeclaim=~"pages"`) {
		t.Errorf("claim: %q", got)
	}
	if got := exprs(plan, "SystemCertificateExpires"); !strings.HasPrefix(got, "web ") || !strings.Contains(got, `name=~"web"`) {
		t.Errorf("certificate: %q", got)
	}
	sys := parsed(t, "  - {name: a, roots: [deployment/a]}\n  - {name: b, roots: [deployment/b]}\n  - {name: c, roots: [deployment/c]}\n")
	text := workload("a", "both") + workload("b", "both") + workload("c", "own") + claim("both") + claim("own")
	plan = planned(t, text, monitoring.Request{System: sys})
	if objects := fmt.Sprint(plan.Objects); !strings.Contains(objects, "| PersistentVolumeClaim/both | a, b |") || strings.Contains(objects, "PersistentVolumeClaim/own |") {
		t.Errorf("who uses what: %s", objects)
	}
	got := exprs(plan, "SystemClaimFilling")
	for _, want := range []string{"c (kubelet_volume_stats_available_bytes{namespace=\"shop\",persistentvolumeclaim=~\"own\"}", "shared (kubelet_volume_stats_available_bytes{namespace=\"shop\",persistentvolumeclaim=~\"both\"}"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestSharedName: what apps share has a name that no app has.
func TestSharedName(t *testing.T) {
	sys := parsed(t, "  - {name: shared, roots: [deployment/a]}\n  - {name: b, roots: [deployment/b]}\n")
	var names []string
	for _, a := range planned(t, workload("a", "both")+workload("b", "both")+claim("both"), monitoring.Request{System: sys}).Apps {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "shared b shared-2" {
		t.Errorf("apps %s", got)
	}
}

// TestDesired: the manifest says what a live object will be: a port that it names is scraped at once.
func TestDesired(t *testing.T) {
	sys := parsed(t, "  - {name: web, roots: [deployment/web]}\n")
	desired := &unstructured.Unstructured{}
	text := strings.TrimSuffix(strings.Replace(workload("web", "pages"), "{containerPort: 8080}", "{name: metrics, containerPort: 9000}", 1), "---\n")
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = desired.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan := planned(t, workload("web", "pages"), monitoring.Request{System: sys, Desired: map[string][]*unstructured.Unstructured{"web": {desired}}})
	if got := plan.Apps[0].Targets; len(plan.Apps) != 1 || len(got) != 1 || got[0].How != monitor.PodMonitor || got[0].Port != "metrics" {
		t.Errorf("apps %+v", plan.Apps)
	}
}

// TestNameOfRoot: a Deployment and a StatefulSet of one name have objects of their own, and each is
// removed by the root that it was made for.
func TestNameOfRoot(t *testing.T) {
	text := workload("web", "pages") + strings.ReplaceAll(workload("web", "pages"), "kind: Deployment", "kind: StatefulSet")
	seen := map[string]string{}
	for _, root := range []string{"deployment/web", "statefulset/web"} {
		plan := planned(t, text, monitoring.Request{Roots: []string{root}})
		for _, o := range plan.Objects {
			ref := object.RefOf(&unstructured.Unstructured{Object: o}).String()
			if seen[ref] != "" {
				t.Errorf("%s is made for %s and for %s", ref, seen[ref], root)
			}
			seen[ref] = root
		}
		in := snapshot(t, text)
		for _, written := range []string{root, strings.Replace(root, "/", "/shop/", 1), strings.Replace(root, "/", "s.apps/", 1)} {
			if got, err := monitoring.Installation(t.Context(), in, written); err != nil || got != plan.Installation {
				t.Errorf("%s: %s, %v, want %s", written, got, err, plan.Installation)
			}
		}
	}
	if got, err := monitoring.Installation(t.Context(), snapshot(t, text), "shop"); err != nil || got != "shop-monitoring" {
		t.Errorf("%s, %v", got, err)
	}
}
