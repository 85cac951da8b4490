package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// graphOfText returns the graph of a dump, whose kinds are complete in each namespace that has one
// of them.
func graphOfText(t *testing.T, text string) *graph.Graph {
	t.Helper()
	docs, err := source.Parse("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := source.SnapshotOptions{}.New("test", docs)
	if err != nil {
		t.Fatal(err)
	}
	return graphOfSnapshot(t, snapshot)
}

func idOf(t *testing.T, g *graph.Graph, ref string) graph.ID {
	t.Helper()
	r, err := object.ParseRef(ref)
	if err != nil {
		t.Fatal(err)
	}
	id, ok := g.Find(r)
	if !ok {
		t.Fatalf("no node %s", ref)
	}
	return id
}

const gatewayWithCertificate = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec: {listeners: [{name: https, tls: {certificateRefs: [{name: shop-tls, namespace: shop}]}}]}
---
apiVersion: v1
kind: Secret
metadata: {name: shop-tls, namespace: shop}
---
`

func grantOf(from, to string) string {
	return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: grant, namespace: shop}\nspec: {from: [" + from + "], to: [" + to + "]}\n"
}

func TestReferenceGrant(t *testing.T) {
	const (
		gateway = "Gateway.gateway.networking.k8s.io/infra/public"
		byUs    = "{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}"
		byThem  = "{group: gateway.networking.k8s.io, kind: Gateway, namespace: other}"
	)
	for name, c := range map[string]struct {
		grant           string
		edges, problems string
		wanted          bool
	}{
		"of all":            {grantOf(byUs, `{group: "", kind: Secret}`), "needs Secret/shop/shop-tls; needs ReferenceGrant.gateway.networking.k8s.io/shop/grant", "", false},
		"of this one":       {grantOf(byUs, `{group: "", kind: Secret, name: shop-tls}`), "needs Secret/shop/shop-tls; needs ReferenceGrant.gateway.networking.k8s.io/shop/grant", "", false},
		"of another":        {grantOf(byUs, `{group: "", kind: Secret, name: other-tls}`), "", graph.NotGranted, false},
		"of another kind":   {grantOf(byUs, `{group: "", kind: Service}`), "", graph.NotGranted, false},
		"to others":         {grantOf(byThem, `{group: "", kind: Secret}`), "", graph.NotGranted, false},
		"nobody knows":      {"", "needs Secret/shop/shop-tls inferred", "", true},
		"of another group":  {grantOf(byUs, `{group: certs.example.com, kind: Secret}`), "", graph.NotGranted, false},
		"says nothing":      {grantOf("", ""), "", graph.NotGranted, false},
		"is something else": {grantOf("shop", "{kind: 1}"), "", graph.NotGranted, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOfText(t, gatewayWithCertificate+c.grant)
			id := idOf(t, g, gateway)
			var edges []string
			for e := range g.Out(id) {
				text := fmt.Sprintf("%s %s", e.Relation, g.Ref(e.To))
				if e.Inferred {
					text += " inferred"
				}
				edges = append(edges, text)
				if e.Field != "spec.listeners[0].tls.certificateRefs[0].name" || e.Value != "shop-tls" {
					t.Errorf("evidence %s", e.Why())
				}
			}
			if got := strings.Join(edges, "; "); got != c.edges {
				t.Errorf("edges %q, want %q", got, c.edges)
			}
			var reasons []string
			for _, p := range g.Problems() {
				reasons = append(reasons, p.Reason)
				if p.Object != g.Ref(id) || !strings.Contains(p.Message, "Secret/shop/shop-tls") {
					t.Errorf("problem %+v", p)
				}
			}
			if got := strings.Join(reasons, " "); got != c.problems {
				t.Errorf("problems %q, want %q", got, c.problems)
			}
			s := g.Stack([]graph.ID{id}, graph.StackOptions{})
			if wanted := slices.Contains(s.WantedKinds(), relation.ReferenceGrant); wanted != c.wanted {
				t.Errorf("grants are wanted: %v, want %v", wanted, c.wanted)
			}
			if got := s.Namespaces(); !slices.Equal(got, []string{"infra"}) {
				t.Errorf("namespaces %q: neither a Secret nor a grant leads further", got)
			}
		})
	}
}

const bindings = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: Group, name: "system:authenticated"}
- {kind: Group, name: "system:serviceaccounts"}
- {kind: User, name: alice}
- {kind: ServiceAccount, name: a, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: other, namespace: other}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: Group, name: "system:authenticated"}
- {kind: Group, name: "system:serviceaccounts"}
- {kind: ServiceAccount, name: b, namespace: other}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: a, namespace: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: b, namespace: other}
`

// Users and groups are virtual: neither missing nor wanted, and they connect nothing.
func TestVirtual(t *testing.T) {
	g := graphOfText(t, bindings)
	const group = "Group.rbac.authorization.k8s.io/system:serviceaccounts"
	for _, ref := range []string{group, "User.rbac.authorization.k8s.io/alice"} {
		if n := g.Node(idOf(t, g, ref)); n.State != graph.Virtual || !n.Boundary || n.State.String() != "virtual" {
			t.Errorf("%+v", n)
		}
	}
	binding := idOf(t, g, "ClusterRoleBinding.rbac.authorization.k8s.io/everybody")
	s := g.Stack([]graph.ID{binding}, graph.StackOptions{})
	if !s.Has(idOf(t, g, group)) || s.Has(idOf(t, g, "ServiceAccount/other/b")) {
		t.Error("a binding that was asked for stands for its group, and not for all others who are bound with that")
	}
	for _, r := range s.Wanted() {
		if relation.IsVirtual(r.GroupKind()) {
			t.Errorf("%s is wanted", r)
		}
	}
	for _, o := range []graph.StackOptions{{}, {Connected: true}} {
		if s := g.Stack([]graph.ID{idOf(t, g, "ServiceAccount/shop/a")}, o); s.Has(idOf(t, g, "ServiceAccount/other/b")) {
			t.Errorf("%+v: a group joins two stacks", o)
		}
	}
	if _, found := g.Path(idOf(t, g, "ServiceAccount/shop/a"), idOf(t, g, "ServiceAccount/other/b"), graph.StackOptions{}); found {
		t.Error("a path leads through a group")
	}
}

// The peers of a policy are shown, and are no part of its stack, nor it of theirs.
func TestAside(t *testing.T) {
	g := graphOfText(t, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: db, namespace: shop}
spec:
  podSelector: {matchLabels: {app: db}}
  ingress: [{from: [{podSelector: {matchLabels: {app: web}}}, {namespaceSelector: {matchLabels: {team: a}}, podSelector: {matchLabels: {app: web}}}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: shop, labels: {app: db}}
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: team, labels: {app: web}}
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: far, labels: {app: web}}
spec: {containers: []}
---
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {team: a}}
---
apiVersion: v1
kind: Namespace
metadata: {name: far, labels: {team: b}}
`)
	policy, web := idOf(t, g, "NetworkPolicy.networking.k8s.io/shop/db"), idOf(t, g, "Pod/shop/web")
	var got []string
	for e := range g.Out(policy) {
		got = append(got, fmt.Sprintf("%s %s", e.Relation, g.Ref(e.To)))
	}
	slices.Sort(got)
	if want := []string{"needs Pod/shop/web", "needs Pod/team/web", "serves Pod/shop/db"}; !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
	for _, root := range []graph.ID{web, policy, idOf(t, g, "Pod/shop/db")} {
		s := g.Stack([]graph.ID{root}, graph.StackOptions{})
		if s.Has(web) && s.Has(policy) {
			t.Errorf("the stack of %s has both the policy and whom it lets in", g.Ref(root))
		}
	}
	if steps, found := g.Path(web, policy, graph.StackOptions{}); !found || len(steps) != 1 {
		t.Errorf("path of %d steps", len(steps))
	}
}

// An event that two groups serve is one node, in the newer group.
func TestEventTwins(t *testing.T) {
	w := newWorld(t, "pod:p\nev:e\nevs:e")
	w.object("evs:e").UID = uidOf("ev:e")
	for _, e := range []string{"ev:e", "evs:e"} {
		w.link(e, "serves", relation.Link{Target: pointing("pod:p"), Field: "regarding.name", Value: "p"})
	}
	g := w.build(nil)
	if got := names(g, []graph.ID{node(t, g, "ev:e")}); got != "evs:e" {
		t.Errorf("the event is %s", got)
	}
	if got := len(slices.Collect(g.In(node(t, g, "pod:p")))); got != 1 {
		t.Errorf("%d edges", got)
	}
}

// What a role may name is a node if it exists; nothing is read for it.
func TestRoleResourceNames(t *testing.T) {
	g := graphOfText(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: caller}
rules:
- {apiGroups: [admissionregistration.k8s.io, ""], resources: [validatingwebhookconfigurations, configmaps, nothings], resourceNames: [hook, settings], verbs: [get]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
`)
	role := idOf(t, g, "ClusterRole.rbac.authorization.k8s.io/caller")
	for e := range g.Out(role) {
		t.Errorf("edge to %s", g.Ref(e.To))
	}
	if wanted := g.Stack([]graph.ID{role}, graph.StackOptions{}).Wanted(); len(wanted) > 0 {
		t.Errorf("wanted %v", wanted)
	}
}

// A policy names a kind; discovery resolves it to a definition.
func TestDefinitionOfAKind(t *testing.T) {
	g := graphOfText(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec: {paramKind: {apiVersion: example.com/v1, kind: Limit}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: q}
spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limitz.example.com}
spec: {group: example.com, names: {kind: Limit, plural: limitz}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}
`)
	for policy, want := range map[string]string{"p": "CustomResourceDefinition.apiextensions.k8s.io/limitz.example.com", "q": ""} {
		got := ""
		for e := range g.Out(idOf(t, g, "ValidatingAdmissionPolicy.admissionregistration.k8s.io/"+policy)) {
			got += g.Ref(e.To).String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", policy, got, want)
		}
	}
}

// The slices of a pool are found by driver and pool.
func TestResourceSlices(t *testing.T) {
	slice := func(name, driver, pool string) string {
		return fmt.Sprintf("---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec: {driver: %s, pool: {name: %s, generation: 1, resourceSliceCount: 1}}\n", name, driver, pool)
	}
	g := graphOfText(t, `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: shop}
spec: {}
status: {allocation: {devices: {results: [{request: a, driver: gpu.example.com, pool: rack-1, device: gpu-0}]}}}
`+slice("a", "gpu.example.com", "rack-1")+slice("b", "gpu.example.com", "rack-2")+slice("c", "nic.example.com", "rack-1"))
	var got []graph.ID
	for e := range g.Out(idOf(t, g, "ResourceClaim.resource.k8s.io/shop/gpu")) {
		got = append(got, e.To)
	}
	if len(got) != 1 || g.Ref(got[0]).Name != "a" {
		t.Errorf("slices %v", got)
	}
	if labels := g.Labels(got[0]); len(labels) > 0 {
		t.Errorf("a key is no label: %v", labels)
	}
}
