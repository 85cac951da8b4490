package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

const manifests = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: front}}, spec: {containers: []}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchExpressions: [{key: tier, operator: In, values: [front, edge]}]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: all, namespace: shop}
spec: {podSelector: {}}
---
# Pods have labels that their template lacks: nobody knows whether this is for them.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: no-jobs, namespace: shop}
spec: {podSelector: {matchExpressions: [{key: job-name, operator: DoesNotExist}]}}
---
apiVersion: v1
kind: Service
metadata: {name: back, namespace: shop}
spec: {selector: {app: web, tier: back}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: other}
spec: {selector: {app: web}}
---
`

const deploymentPods = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: "", controller: true}]}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web, tier: front}}, spec: {containers: []}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-a, namespace: shop, labels: {app: web, tier: front}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}
spec: {containers: []}
`

// serving formats what serves a node, and why.
func serving(g *graph.Graph, id graph.ID) string {
	var lines []string
	for e := range g.In(id) {
		if from := g.Ref(e.From); e.Relation.String() == "serves" {
			lines = append(lines, from.Kind+"/"+from.Name+" "+e.Why())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// What would serve the pods of a workload without pods serves the workload.
func TestTemplate(t *testing.T) {
	g := graphOfText(t, manifests)
	web := idOf(t, g, "Deployment.apps/shop/web")
	if got, want := serving(g, web), `NetworkPolicy/all spec.podSelector = "<everything>" in its pod template
PodDisruptionBudget/web spec.selector = "tier in (front,edge)" in its pod template
Service/web spec.selector = "app=web" in its pod template`; got != want {
		t.Errorf("who serves it:\n%s", got)
	}
	ingress := idOf(t, g, "Ingress.networking.k8s.io/shop/web")
	if steps, ok := g.Path(ingress, web, graph.StackOptions{}); !ok || len(steps) != 2 || !steps[1].Edge.Template {
		t.Errorf("path %v", steps)
	}
	s := g.Stack([]graph.ID{web}, graph.StackOptions{})
	for _, ref := range []string{"Service/shop/web", "Ingress.networking.k8s.io/shop/web", "PodDisruptionBudget.policy/shop/web"} {
		if !s.Has(idOf(t, g, ref)) {
			t.Errorf("%s is not in the stack", ref)
		}
	}
	for _, ref := range []string{"Service/shop/back", "Service/other/web"} {
		if s.Has(idOf(t, g, ref)) {
			t.Errorf("%s is in the stack", ref)
		}
	}
	if !g.Stack([]graph.ID{ingress}, graph.StackOptions{}).Has(web) {
		t.Error("the Ingress does not lead to the Deployment")
	}
}

// A workload with pods is served through them.
func TestTemplateWithPods(t *testing.T) {
	g := graphOfText(t, manifests+deploymentPods)
	if got := serving(g, idOf(t, g, "Deployment.apps/shop/web")); got != "" {
		t.Errorf("who serves it: %s", got)
	}
	if got := serving(g, idOf(t, g, "ReplicaSet.apps/shop/web-1")); got != "" {
		t.Errorf("who serves the ReplicaSet: %s", got)
	}
	if got := serving(g, idOf(t, g, "Pod/shop/web-1-a")); !strings.Contains(got, `Service/web spec.selector = "app=web"`) || strings.Contains(got, "template") {
		t.Errorf("who serves the pod: %s", got)
	}
}

// With a Service for two workloads, one with pods and one without, the latter matches by its
// template.
func TestTemplateBesidePods(t *testing.T) {
	green := strings.Replace(strings.Split(manifests, "---")[0], "name: web,", "name: green,", 1) + "---\n"
	g := graphOfText(t, green+manifests+deploymentPods)
	if got := serving(g, idOf(t, g, "Deployment.apps/shop/green")); !strings.Contains(got, `Service/web spec.selector = "app=web" in its pod template`) {
		t.Errorf("who serves it: %s", got)
	}
	// The stack of one of them does not include the other.
	s := g.Stack([]graph.ID{idOf(t, g, "Deployment.apps/shop/web")}, graph.StackOptions{})
	if s.Has(idOf(t, g, "Deployment.apps/shop/green")) {
		t.Error("the stack of one holds the other")
	}
}

// The stacks of a directory of manifests are those of the resulting objects.
func TestTemplateStacks(t *testing.T) {
	g := graphOfText(t, manifests)
	f := g.FindStacks("", graph.StackOptions{})
	if len(f.Stacks) != 1 {
		t.Fatalf("stacks: %s", found(g, f))
	}
	s := g.Stack(f.Stacks[0].Roots, graph.StackOptions{})
	for _, ref := range []string{"Deployment.apps/shop/web", "Service/shop/web", "Ingress.networking.k8s.io/shop/web", "PodDisruptionBudget.policy/shop/web"} {
		if !s.Has(idOf(t, g, ref)) {
			t.Errorf("%s is not in the stack", ref)
		}
	}
}
