package netpolicy

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

func policies(t *testing.T, specs ...string) []*networkingv1.NetworkPolicy {
	t.Helper()
	var out []*networkingv1.NetworkPolicy
	for _, spec := range specs {
		p := &networkingv1.NetworkPolicy{}
		p.Namespace = "shop"
		if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

var (
	web   = Pod{Namespace: "shop", NamespaceLabels: map[string]string{"kubernetes.io/metadata.name": "shop", "team": "shop"}, Labels: map[string]string{"app": "web", "tier": "front"}}
	db    = Pod{Namespace: "shop", NamespaceLabels: web.NamespaceLabels, Labels: map[string]string{"app": "db"}}
	far   = Pod{Namespace: "far", NamespaceLabels: map[string]string{"kubernetes.io/metadata.name": "far"}, Labels: web.Labels}
	dark  = Pod{Namespace: "far", Labels: web.Labels}
	host  = Pod{Namespace: "shop", Labels: web.Labels, HostNetwork: true}
	mysql = Port{Number: 3306, Names: []string{"mysql"}}
)

func TestIngress(t *testing.T) {
	const deny = "{podSelector: {}, policyTypes: [Ingress]}"
	from := func(peer string) string {
		return "{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{" + peer + "}]}]}"
	}
	ports := func(port string) string {
		return "{podSelector: {matchLabels: {app: db}}, ingress: [{ports: [{" + port + "}]}]}"
	}
	for _, c := range []struct {
		name     string
		from, to Pod
		specs    []string
		want     Verdict
		selected int
	}{
		{"no policy", web, db, nil, Allowed, 0},
		{"one of other pods", web, db, []string{"{podSelector: {matchLabels: {app: mail}}, policyTypes: [Ingress]}"}, Allowed, 0},
		{"one of other pods by an expression", web, db, []string{"{podSelector: {matchExpressions: [{key: app, operator: NotIn, values: [db]}]}}"}, Allowed, 0},
		{"one for egress", web, db, []string{"{podSelector: {}, policyTypes: [Egress]}"}, Allowed, 0},
		{"all denied", web, db, []string{deny}, Denied, 1},
		{"without types it is for ingress", web, db, []string{"{podSelector: {}}"}, Denied, 1},
		{"an empty rule lets all in", web, db, []string{"{podSelector: {}, ingress: [{}]}"}, Allowed, 1},
		{"policies add up", web, db, []string{deny, from("podSelector: {matchLabels: {app: web}}")}, Allowed, 2},
		{"pods of the namespace", web, db, []string{from("podSelector: {}")}, Allowed, 1},
		{"pods of the namespace, and another one connects", far, db, []string{from("podSelector: {}")}, Denied, 1},
		{"other pods", web, db, []string{from("podSelector: {matchLabels: {app: mail}}")}, Denied, 1},
		{"an expression", web, db, []string{from("podSelector: {matchExpressions: [{key: tier, operator: Exists}]}")}, Allowed, 1},
		{"all namespaces", far, db, []string{from("namespaceSelector: {}")}, Allowed, 1},
		{"the namespace by its name", far, db, []string{from("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: far}}")}, Allowed, 1},
		{"the namespace by its name, labels unread", dark, db, []string{from("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: far}}")}, Allowed, 1},
		{"another namespace, labels unread", dark, db, []string{from("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}")}, Denied, 1},
		{"a label of the namespace", far, db, []string{from("namespaceSelector: {matchLabels: {team: shop}}")}, Denied, 1},
		{"a label of the namespace, unread", dark, db, []string{from("namespaceSelector: {matchLabels: {team: shop}}")}, Unknown, 1},
		{"not a label of the namespace, unread", dark, db, []string{from("namespaceSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}")}, Unknown, 1},
		{"both, and the pod differs", far, db, []string{from("namespaceSelector: {}, podSelector: {matchLabels: {app: mail}}")}, Denied, 1},
		{"both", far, db, []string{from("namespaceSelector: {}, podSelector: {matchLabels: {app: web}}")}, Allowed, 1},
		{"addresses", web, db, []string{from("ipBlock: {cidr: 10.0.0.0/8}")}, Unknown, 1},
		{"addresses or the pod", web, db, []string{from("ipBlock: {cidr: 10.0.0.0/8}}, {podSelector: {}")}, Allowed, 1},
		{"a pod of the host's network connects", host, db, []string{from("podSelector: {}")}, Unknown, 1},
		{"to a pod of the host's network", web, host, []string{deny}, Allowed, 0},
		{"the number", web, db, []string{ports("port: 3306")}, Allowed, 1},
		{"another number", web, db, []string{ports("port: 3307")}, Denied, 1},
		{"the name", web, db, []string{ports("port: mysql")}, Allowed, 1},
		{"another name", web, db, []string{ports("port: http")}, Denied, 1},
		{"a range", web, db, []string{ports("port: 3000, endPort: 3306")}, Allowed, 1},
		{"beside a range", web, db, []string{ports("port: 3000, endPort: 3305")}, Denied, 1},
		{"the protocol alone", web, db, []string{ports("protocol: TCP")}, Allowed, 1},
		{"another protocol", web, db, []string{ports("protocol: UDP, port: 3306")}, Denied, 1},
		{"one of several ports", web, db, []string{ports("port: 1}, {port: 3306")}, Allowed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Ingress(policies(t, c.specs...), c.from, c.to, mysql)
			if got.Verdict != c.want || len(got.Policies) != c.selected {
				t.Errorf("%s by %d policies, want %s by %d", got.Verdict, len(got.Policies), c.want, c.selected)
			}
		})
	}
}

func TestEgress(t *testing.T) {
	to := "{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{port: 3306}]}]}"
	for _, c := range []struct {
		name string
		spec string
		port int32
		want Verdict
	}{
		{"for ingress", "{podSelector: {}, policyTypes: [Ingress]}", 3306, Allowed},
		{"none", "{podSelector: {}, policyTypes: [Ingress, Egress]}", 3306, Denied},
		{"without types, with rules", "{podSelector: {}, egress: [{to: [{podSelector: {matchLabels: {app: mail}}}]}]}", 3306, Denied},
		{"to it", to, 3306, Allowed},
		{"to another port", to, 3307, Denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Egress(policies(t, c.spec), web, db, Port{Number: c.port}); got.Verdict != c.want {
				t.Errorf("%s, want %s", got.Verdict, c.want)
			}
		})
	}
}
