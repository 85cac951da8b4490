package stack

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const connected = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns, uid: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: w, env: [{name: DB_HOST, value: db.ns.svc}, {name: CACHE, value: "redis://cache.ns.svc:6379"}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ns, uid: db}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: d, ports: [{name: sql, containerPort: 5432}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: ns, uid: db-0, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}
spec: {containers: [{name: db, image: d, ports: [{name: sql, containerPort: 5432}]}]}
status: {phase: Running}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: ns, uid: s-db}
spec: {selector: {app: db}, ports: [{name: front, port: 1, targetPort: sql}]}
---
apiVersion: v1
kind: Service
metadata: {name: cache, namespace: ns, uid: s-cache}
spec: {selector: {app: cache}, ports: [{port: 6379}]}
---
`

func policy(name, spec string) string {
	return "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: " + name + ", namespace: ns, uid: p-" + name + "}\nspec: {" + spec + "}\n---\n"
}

// outcome checks a rule of the stack of web in a System of the apps web, db and cache.
func outcome(t *testing.T, rule, yaml string, connections []check.SystemConnection, unread ...string) *check.Result {
	t.Helper()
	w := checktest.Read(t, operator.Find, yaml, unread...)
	w.System = &check.System{Connections: connections, Apps: []check.SystemApp{
		{Name: "web", Roots: []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}}},
		{Name: "db", Roots: []object.Ref{{Group: "apps", Kind: "StatefulSet", Namespace: "ns", Name: "db"}}},
		{Name: "cache", Roots: []object.Ref{{Kind: "Service", Namespace: "ns", Name: "cache"}}},
	}}
	return checktest.Only(t, Rules(), rule, w.Stack("Deployment.apps/ns/web").Check)
}

func TestConnectionsAllowed(t *testing.T) {
	deny, egress := policy("deny", "podSelector: {matchLabels: {app: db}}"), policy("stay", "podSelector: {matchLabels: {app: web}}, policyTypes: [Egress]")
	let := policy("let", "podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: sql}]}]")
	for _, c := range []struct {
		name, yaml, port string
		unread           []string
		finding, unknown string // parts of their texts; empty for a pass
	}{
		{name: "no policy", yaml: connected, port: "sql"},
		{name: "denied", yaml: connected + deny, port: "sql", finding: "NetworkPolicy ns/deny lets no pod of Deployment ns/web connect to port sql of StatefulSet ns/db"},
		{name: "denied, by a port of the Service", yaml: connected + deny, port: "front", finding: "lets no pod"},
		{name: "let in", yaml: connected + deny + let, port: "5432"},
		{name: "kept in", yaml: connected + egress, port: "sql", finding: "NetworkPolicy ns/stay keeps the pods of Deployment ns/web from leaving for port sql of StatefulSet ns/db"},
		{name: "addresses", yaml: connected + policy("range", "podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]"), port: "sql", unknown: "only an address range"},
		{name: "policies unread", yaml: connected, port: "sql", unread: []string{"NetworkPolicy"}, unknown: "were not read"},
		{name: "those of Cilium", yaml: connected + "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: ns, uid: c}\n", port: "sql", unknown: "CiliumNetworkPolicy ns/c may limit who connects"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := outcome(t, "stack-connection-allowed", c.yaml, []check.SystemConnection{{From: "db", To: "web", Port: c.port}}, c.unread...)
			var finding, unknown string
			if len(r.Findings) == 1 {
				finding = r.Findings[0].Message
			}
			if len(r.Unknowns) == 1 {
				unknown = r.Unknowns[0].Reason
			}
			passed := c.finding == "" && c.unknown == ""
			if (finding == "") != (c.finding == "") || !strings.Contains(finding, c.finding) || (unknown == "") != (c.unknown == "") || !strings.Contains(unknown, c.unknown) || passed != (len(r.Passed) == 1) {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := outcome(t, "stack-connection-allowed", connected+deny, []check.SystemConnection{{From: "db", To: "web"}, {From: "web", To: "db", Port: "x"}}); r.Applies() {
		t.Errorf("values and connections of others: %+v", r)
	}
}

// Only the workload whose variable is set needs to be let in.
func TestConnectionConsumer(t *testing.T) {
	deny := policy("deny", "podSelector: {matchLabels: {app: db}}") + policy("too", "podSelector: {matchLabels: {app: db}}")
	web, worker := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "worker"}
	c := check.SystemConnection{From: "db", To: "web", Port: "sql", Consumer: worker}
	if r := outcome(t, "stack-connection-allowed", connected+deny, []check.SystemConnection{c}); r.Applies() {
		t.Errorf("another workload uses it: %+v", r)
	}
	c.Consumer = web
	r := outcome(t, "stack-connection-allowed", connected+deny, []check.SystemConnection{c})
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "too let no pod of Deployment ns/web connect") {
		t.Errorf("two policies keep it out: %+v", r)
	}
}

func TestConnectionsDeclared(t *testing.T) {
	db, cache := check.SystemConnection{From: "db", To: "web", Port: "sql"}, check.SystemConnection{From: "cache", To: "web", Port: "6379"}
	r := outcome(t, "stack-connection-declared", connected, []check.SystemConnection{{From: "x", To: "y"}})
	if len(r.Findings) != 2 || r.Findings[0].Field != "spec.template.spec.containers[0].env[0].value" || !strings.Contains(r.Findings[0].Message, "web uses Service ns/db of db, and no connection of the System declares it") {
		t.Errorf("none is declared: %+v", r.Findings)
	}
	if r = outcome(t, "stack-connection-declared", connected, []check.SystemConnection{db}); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "web uses Service ns/cache of cache") {
		t.Errorf("db is declared: %+v", r.Findings)
	}
	if r = outcome(t, "stack-connection-declared", connected, []check.SystemConnection{db, cache}); len(r.Findings) != 0 || len(r.Passed) != 1 {
		t.Errorf("both are declared: %+v", r)
	}
	if r = outcome(t, "stack-connection-declared", connected, nil); r.Applies() {
		t.Errorf("a System without connections: %+v", r)
	}
}
