package catalog_test

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestExposed: what a route leads to from outside has users of its own, and is a stack
// although another one needs it; what is only called from inside is not.
func TestExposed(t *testing.T) {
	const apps = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: w}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, env: [{name: API_URL, value: "http://api"}]}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: shop, uid: a}, spec: {selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: []}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: api-1, namespace: shop, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: api, uid: a, controller: true}]}, spec: {}}
---
{apiVersion: v1, kind: Pod, metadata: {name: api-1-x, namespace: shop, labels: {app: api}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api-1, uid: r, controller: true}]}, spec: {containers: []}}
---
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {selector: {app: api}}}
`
	for name, c := range map[string]struct {
		entry, route string
		exposed      bool
	}{
		"no route":                     {"traefik", "", false},
		"an Ingress":                   {"traefik", `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: r, namespace: shop}, spec: {defaultBackend: {service: {name: api}}}}`, true},
		"an HTTPRoute":                 {"gateway-api", `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, namespace: shop}, spec: {rules: [{backendRefs: [{name: api}]}]}}`, true},
		"an IngressRoute":              {"traefik", `{apiVersion: traefik.io/v1alpha1, kind: IngressRoute, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: api}]}]}}`, true},
		"an IngressRoute of version 2": {"traefik", `{apiVersion: traefik.containo.us/v1alpha1, kind: IngressRoute, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: api}]}]}}`, true},
		"an IngressRouteTCP":           {"traefik", `{apiVersion: traefik.io/v1alpha1, kind: IngressRouteTCP, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: api}]}]}}`, true},
		"an IngressRouteUDP":           {"traefik", `{apiVersion: traefik.io/v1alpha1, kind: IngressRouteUDP, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: api}]}]}}`, true},
		"through a TraefikService": {"traefik", `{apiVersion: traefik.io/v1alpha1, kind: IngressRoute, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: split, kind: TraefikService}]}]}}
---
{apiVersion: traefik.io/v1alpha1, kind: TraefikService, metadata: {name: split, namespace: shop}, spec: {weighted: {services: [{name: api}]}}}`, true},
		"a TraefikService that no route names": {"traefik", `{apiVersion: traefik.io/v1alpha1, kind: TraefikService, metadata: {name: split, namespace: shop}, spec: {weighted: {services: [{name: api}]}}}`, false},
		"an HTTPProxy":                         {"contour", `{apiVersion: projectcontour.io/v1, kind: HTTPProxy, metadata: {name: r, namespace: shop}, spec: {routes: [{services: [{name: api}]}]}}`, true},
		"a Route":                              {"openshift", `{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: r, namespace: shop}, spec: {to: {kind: Service, name: api}}}`, true},
		"a Route to another":                   {"openshift", `{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: r, namespace: other}, spec: {to: {kind: Service, name: api}}}`, false},
		"a VirtualService":                     {"istio", `{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: r, namespace: shop}, spec: {hosts: [api], http: [{route: [{destination: {host: api}}]}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			entries := written(t)
			e := entries[slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == c.entry })]
			g, _, _, _ := read(t, e, apps+"---\n"+c.route)
			var tops []graph.ID
			for _, name := range []string{"web", "api"} {
				id, ok := g.Find(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name})
				if !ok {
					t.Fatal(name)
				}
				tops = append(tops, id)
			}
			if got := slices.Contains(g.TopOwners(tops, graph.StackOptions{}), tops[1]); got != c.exposed {
				t.Errorf("api is a stack of its own: %v, want %v", got, c.exposed)
			}
		})
	}
}
