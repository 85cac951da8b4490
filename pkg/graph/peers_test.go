package graph_test

import (
	"fmt"
	"strings"
	"testing"
)

// A Peer selector with too many matches makes no edges, so that these do not grow with the square
// of the pods; a selector of what an object serves always does.
func TestPeersAreFew(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, topologyKey: zone}, {labelSelector: {}, namespaces: [few], topologyKey: zone}]}}}}}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: all, namespace: shop}, spec: {podSelector: {}}}
`)
	pod := func(namespace, app string, n int) {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Pod, metadata: {name: %s-%d, namespace: %s, labels: {app: %s}}, spec: {containers: []}}\n", app, n, namespace, app)
	}
	const most = 1000
	for n := range most + 1 {
		pod("shop", "other", n)
	}
	pod("shop", "web", 0)
	pod("few", "other", 0)
	pod("few", "web", 0)
	g := graphOfText(t, text.String())
	web, policy := idOf(t, g, "Deployment.apps/shop/web"), idOf(t, g, "NetworkPolicy.networking.k8s.io/shop/all")
	if got := len(out(g, web)); got != 3 { // its account and the pods of few, without its own
		t.Errorf("edges %q", out(g, web))
	}
	// And the Deployment itself, which has no pod.
	if got := len(out(g, policy)); got != most+3 {
		t.Errorf("the policy guards %d objects, want %d", got, most+3)
	}
}

// The pods of the workload itself are no peers of it, and a thousand of others are just within the
// limit.
func TestPeersAreOthers(t *testing.T) {
	g := graphOfText(t, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web, containers: [], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, namespaceSelector: {}, topologyKey: zone}]}}}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, labels: {app: web}}, spec: {containers: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db-1, namespace: shop, labels: {app: db}}, spec: {containers: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: other, labels: {app: web}}, spec: {containers: []}}
`)
	var got []string
	for e := range g.Out(idOf(t, g, "Deployment.apps/shop/web")) {
		if e.Rule == "pod-anti-affinity" {
			got = append(got, g.Ref(e.To).String()+" "+e.Value)
		}
	}
	if want := "Pod/other/web-1 <everything>, Pod/shop/db-1 <everything>"; strings.Join(got, ", ") != want {
		t.Errorf("beside %q, want %q", got, want)
	}
}
