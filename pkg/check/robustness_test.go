package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// robustCase is a small world, a rule, and what the rule says of one stack of it.
type robustCase struct {
	name, yaml string
	// root is Deployment.apps/ns/web where it is empty.
	root, rule string
	unread     []string
	// wrong are the findings, "severity object field = value"; right and open the objects.
	wrong, right, open []string
	// says are parts of the messages.
	says []string
}

func (c *robustCase) run(t *testing.T, rules []Rule, find func(*ClusterState) []*Operator) {
	t.Helper()
	root := c.root
	if root == "" {
		root = "Deployment.apps/ns/web"
	}
	w := readWorld(t, find, c.yaml, c.unread...)
	r := only(t, rules, c.rule, w.stack(root).Check)
	var wrong, right, open, said []string
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %s", f.Severity, f.Object)
		if f.Field != "" {
			line += " " + f.Field
		}
		if f.Value != "" {
			line += " = " + f.Value
		}
		wrong = append(wrong, line)
		said = append(said, f.Message)
		if f.Message == "" || strings.HasSuffix(f.Message, ".") {
			t.Errorf("message %q", f.Message)
		}
	}
	for _, ref := range r.Passed {
		right = append(right, ref.String())
	}
	for _, u := range r.Unknowns {
		open = append(open, u.Object.String())
		said = append(said, u.Reason)
	}
	for _, x := range []struct {
		what      string
		got, want []string
	}{{"wrong", wrong, c.wrong}, {"right", right, c.right}, {"open", open, c.open}} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s: got\n  %s\nwant\n  %s", x.what, strings.Join(x.got, "\n  "), strings.Join(x.want, "\n  "))
		}
	}
	all := strings.Join(said, "\n")
	for _, part := range c.says {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not said in:\n%s", part, all)
		}
	}
}

// runRobust runs cases of a rule, or of others that they name.
func runRobust(t *testing.T, rules []Rule, find func(*ClusterState) []*Operator, rule string, cases []robustCase) {
	t.Helper()
	for _, c := range cases {
		if c.rule == "" {
			c.rule = rule
		}
		t.Run(c.rule+"/"+c.name, func(t *testing.T) { c.run(t, rules, find) })
	}
}

const robustWeb = "Deployment.apps/ns/web"

func TestRobustResources(t *testing.T) {
	full := "containers: [{name: c, image: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]"
	at := "spec.template.spec.containers[c].resources"
	limits := func(set string) string {
		return "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: ns}\nspec: {limits: [{type: Container, " + set + "}]}\n"
	}
	runRobust(t, Rules(), findOperators, "pod-requests", []robustCase{
		{name: "all set", yaml: robustApp("web", 1, full, "n1"), right: []string{robustWeb}},
		{name: "best effort", yaml: robustApp("web", 1, robustC, "n1"), wrong: []string{"warning " + robustWeb + " spec.template.spec.containers[*].resources"}, says: []string{"BestEffort"}},
		{
			name: "no memory", yaml: robustApp("web", 2, "containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]", "n1", "n2"),
			wrong: []string{"warning " + robustWeb + " " + at + ".requests"}, says: []string{"requests no memory"},
		},
		{name: "a request of nothing is none", yaml: robustApp("web", 1, "containers: [{name: c, image: c, resources: {requests: {cpu: 1, memory: 0}}}]", "n1"), wrong: []string{"warning " + robustWeb + " " + at + ".requests"}},
		{name: "limits are requests", yaml: robustApp("web", 1, "containers: [{name: c, image: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]", "n1"), right: []string{robustWeb}},
		{name: "of the pod as a whole", yaml: robustApp("web", 1, robustC+", resources: {requests: {cpu: 1, memory: 1Gi}}", "n1"), right: []string{robustWeb}},
		{
			name: "init containers matter less, side-cars as much", wrong: []string{"warning " + robustWeb + " spec.template.spec.initContainers[side].resources.requests", "info " + robustWeb + " spec.template.spec.initContainers[once].resources.requests"},
			yaml: robustApp("web", 1, full+", initContainers: [{name: once, image: i}, {name: side, image: s, restartPolicy: Always}]", "n1"),
		},
		{name: "no pod, and a LimitRange that fills in", yaml: robustApp("web", 0, robustC) + limits("defaultRequest: {cpu: 1, memory: 1Gi}"), right: []string{robustWeb}},
		{name: "no pod, and a LimitRange that fills in one", yaml: robustApp("web", 0, robustC) + limits("default: {cpu: 1}"), wrong: []string{"warning " + robustWeb + " " + at + ".requests"}},
		{name: "pods that are there have what was filled in", yaml: robustApp("web", 1, robustC, "n1") + limits("default: {cpu: 1, memory: 1Gi}"), wrong: []string{"warning " + robustWeb + " spec.template.spec.containers[*].resources"}},
		{name: "no pod, and LimitRanges unread", yaml: robustApp("web", 0, robustC), unread: []string{"LimitRange"}, open: []string{robustWeb}},
		{name: "static pods", root: "Pod/ns/etcd", yaml: strings.Replace(robustPod("etcd", "a: b", "", robustC, "n1"), "labels:", "annotations: {kubernetes.io/config.mirror: x}, labels:", 1)},
		{
			name: "an injected container", yaml: strings.Replace(robustApp("web", 1, full, "n1"), "limits: {cpu: 1, memory: 1Gi}}}], nodeName", "limits: {cpu: 1, memory: 1Gi}}}, {name: proxy, image: p}], nodeName", 1),
			wrong: []string{"warning Pod/ns/web-0 spec.containers[proxy].resources.requests"}, says: []string{"which was injected"},
		},
	})
	runRobust(t, Rules(), findOperators, "pod-memory-limit", []robustCase{
		{name: "set", yaml: robustApp("web", 1, full, "n1"), right: []string{robustWeb}},
		{name: "not set", yaml: robustApp("web", 1, robustC, "n1"), wrong: []string{"warning " + robustWeb + " " + at + ".limits.memory"}},
	})
	runRobust(t, Rules(), findOperators, "pod-cpu-limit", []robustCase{
		{name: "set", yaml: robustApp("web", 1, full, "n1"), right: []string{robustWeb}},
		{name: "two without are one finding", yaml: robustApp("web", 1, "containers: [{name: a, image: a}, {name: b, image: b}]", "n1"), wrong: []string{"info " + robustWeb + " spec.template.spec.containers[a].resources.limits.cpu"}, says: []string{"containers a and b have"}},
	})
}

func TestRobustProbes(t *testing.T) {
	probe := func(kind, more string) string { return kind + "Probe: {httpGet: {path: /, port: 8080}" + more + "}" }
	c := func(probes string) string {
		return "containers: [{name: c, image: c, ports: [{name: http, containerPort: 8080}], " + probes + "}]"
	}
	at := "spec.template.spec.containers[c]."
	svc := robustService("web", "web", "")
	runRobust(t, Rules(), findOperators, "pod-readiness", []robustCase{
		{name: "has one", yaml: robustApp("web", 1, c(probe("readiness", "")), "n1") + svc, right: []string{robustWeb}},
		{name: "has none", yaml: robustApp("web", 1, c(probe("liveness", "")), "n1") + svc, wrong: []string{"warning " + robustWeb + " " + at + "readinessProbe"}, says: []string{"Service/web sends it requests"}},
		{name: "no Service asks it", yaml: robustApp("web", 1, c(probe("liveness", "")), "n1")},
		{name: "a Service that asks all pods, ready or not", yaml: robustApp("web", 1, c(""), "n1") + robustService("web", "web", ", publishNotReadyAddresses: true")},
		{name: "somebody else says when it is ready", yaml: robustApp("web", 1, c("")+", readinessGates: [{conditionType: x/y}]", "n1") + svc},
		{
			name: "the container with the port counts", wrong: []string{"warning " + robustWeb + " " + at + "readinessProbe"},
			yaml: robustApp("web", 1, "containers: [{name: c, image: c, ports: [{containerPort: 8080}]}, {name: d, image: d, readinessProbe: {tcpSocket: {port: 1}}}]", "n1") + svc,
		},
		{
			name: "where no container has the port, any probe counts", right: []string{robustWeb},
			yaml: robustApp("web", 1, "containers: [{name: c, image: c}, {name: d, image: d, readinessProbe: {tcpSocket: {port: 1}}}]", "n1") + svc,
		},
		{
			name: "a second port without a probe matters less", wrong: []string{"info " + robustWeb + " spec.template.spec.containers[d].readinessProbe"},
			yaml: robustApp("web", 1, "containers: [{name: c, image: c, ports: [{containerPort: 8080}], readinessProbe: {tcpSocket: {port: 8080}}}, {name: d, image: d, ports: [{name: m, containerPort: 9}]}]", "n1") +
				strings.Replace(svc, "ports: [", "ports: [{name: m, port: 9, targetPort: m}, ", 1),
		},
	})
	runRobust(t, Rules(), findOperators, "pod-liveness", []robustCase{
		{name: "has one", yaml: robustApp("web", 1, c(probe("liveness", "")), "n1"), right: []string{robustWeb}},
		{name: "has none", yaml: robustApp("web", 1, robustC, "n1"), wrong: []string{"info " + robustWeb + " " + at + "livenessProbe"}},
	})
	runRobust(t, Rules(), findOperators, "pod-liveness-patient", []robustCase{
		{name: "the same", yaml: robustApp("web", 1, c(probe("liveness", "")+", "+probe("readiness", "")), "n1"), wrong: []string{"info " + robustWeb + " " + at + "livenessProbe.failureThreshold = 3"}, says: []string{"after 30 s"}},
		{name: "fails later", yaml: robustApp("web", 1, c(probe("liveness", ", failureThreshold: 6")+", "+probe("readiness", "")), "n1"), right: []string{robustWeb}},
		{name: "asks something else", yaml: robustApp("web", 1, c("livenessProbe: {tcpSocket: {port: 8080}}, "+probe("readiness", "")), "n1"), right: []string{robustWeb}},
		{name: "the same port by its name", yaml: robustApp("web", 1, c("livenessProbe: {httpGet: {path: /, port: http}}, "+probe("readiness", "")), "n1"), wrong: []string{"info " + robustWeb + " " + at + "livenessProbe.failureThreshold = 3"}},
		{name: "one alone", yaml: robustApp("web", 1, c(probe("liveness", "")), "n1")},
	})
}

func TestRobustSpread(t *testing.T) {
	spread := func(app string) string {
		return robustC + ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: " + app + "}}}]"
	}
	anti := robustC + ", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}}]}}"
	runRobust(t, Rules(), findOperators, "pod-spread", []robustCase{
		{name: "by constraint", yaml: robustApp("web", 2, spread("web"), "n1", "n2"), right: []string{robustWeb}},
		{name: "by anti-affinity", yaml: robustApp("web", 2, anti, "n1", "n2"), right: []string{robustWeb}},
		{name: "from others only", yaml: robustApp("web", 2, spread("other"), "n1", "n2"), wrong: []string{"info " + robustWeb + " spec.template.spec.topologySpreadConstraints"}, says: []string{"none that selects its own pods"}},
		{name: "not at all", yaml: robustApp("web", 2, robustC, "n1", "n2"), wrong: []string{"info " + robustWeb + " spec.template.spec.topologySpreadConstraints"}},
		{name: "one replica", yaml: robustApp("web", 1, robustC, "n1")},
		{name: "pods of an operator", root: "Database.db.example/ns/pg", yaml: robustClusterPods("n1", "n2"), wrong: []string{"info Database.db.example/ns/pg"}},
	})
	tainted := robustNode("n1", "a", "") + robustNode("n2", "a", "taints: [{key: k, effect: NoSchedule}]")
	runRobust(t, Rules(), findOperators, "pod-nodes", []robustCase{
		{name: "apart", yaml: robustNodes3 + robustApp("web", 2, robustC, "n1", "n3"), right: []string{robustWeb}},
		{name: "on one node of three", yaml: robustNodes3 + robustApp("web", 3, robustC, "n2", "n2", "n2"), wrong: []string{"warning " + robustWeb + " spec.nodeName = n2"}, says: []string{"all 3 pods are on n2, and 3 nodes would take them"}},
		{name: "in one zone of two", yaml: robustNodes3 + robustApp("web", 2, robustC, "n1", "n2"), wrong: []string{"info " + robustWeb + " metadata.labels[topology.kubernetes.io/zone] = a"}},
		{name: "a cluster of one node", yaml: robustNode("n1", "a", "") + robustApp("web", 2, robustC, "n1", "n1")},
		{name: "the other node has a taint", yaml: tainted + robustApp("web", 2, robustC, "n1", "n1")},
		{name: "the other node has a taint that is borne", yaml: tainted + robustApp("web", 2, robustC+", tolerations: [{key: k, operator: Exists}]", "n1", "n1"), wrong: []string{"warning " + robustWeb + " spec.nodeName = n1"}},
		{name: "they choose the node", yaml: robustNodes3 + robustApp("web", 2, robustC+", nodeSelector: {kubernetes.io/hostname: n1}", "n1", "n1")},
		{name: "the other nodes are unread", yaml: robustNodes3 + robustApp("web", 2, robustC, "n1", "n1"), unread: []string{"Node"}, open: []string{robustWeb}},
		{name: "one of two waits", yaml: robustNodes3 + robustApp("web", 2, robustC, "n1", "")},
	})
}

func TestRobustBudgets(t *testing.T) {
	two := robustApp("web", 2, robustC, "n1", "n2")
	pdb := "PodDisruptionBudget.policy/ns/web"
	runRobust(t, Rules(), findOperators, "budget-present", []robustCase{
		{name: "there", yaml: two + robustBudget("web", "web", "maxUnavailable: 1"), right: []string{robustWeb}},
		{name: "not there", yaml: two, wrong: []string{"warning " + robustWeb}},
		{name: "unread", yaml: two, unread: []string{"PodDisruptionBudget"}, open: []string{robustWeb}},
		{name: "one replica", yaml: robustApp("web", 1, robustC, "n1")},
		{name: "pods of an operator", root: "Database.db.example/ns/pg", yaml: robustClusterPods("n1", "n2"), wrong: []string{"warning Database.db.example/ns/pg"}},
		{
			name: "of some pods", root: "Database.db.example/ns/pg", wrong: []string{"info Database.db.example/ns/pg"}, says: []string{"1 pod of 2", "pg-1"},
			yaml: strings.Replace(robustClusterPods("n1", "n2"), "uid: p-pg-0, labels: {", "uid: p-pg-0, labels: {role: primary, ", 1) + strings.Replace(robustBudget("pg", "pg", "minAvailable: 1", 0, 1, 1, 1), "{app: pg}", "{role: primary}", 1),
		},
	})
	runRobust(t, Rules(), findOperators, "budget-allows", []robustCase{
		{name: "one", yaml: two + robustBudget("web", "web", "maxUnavailable: 1", 1, 2, 1, 2), right: []string{pdb}},
		{name: "none", yaml: two + robustBudget("web", "web", "minAvailable: 2", 0, 2, 2, 2), wrong: []string{"warning " + pdb + " spec.minAvailable = 2"}, says: []string{"although 2 of 2 pods are healthy"}},
		{name: "none, since a pod is not healthy", yaml: two + robustBudget("web", "web", "maxUnavailable: 1", 0, 1, 1, 2), right: []string{pdb}},
		{name: "nothing said yet: a half of two", yaml: two + robustBudget("web", "web", "minAvailable: 50%"), right: []string{pdb}},
		{name: "nothing said yet: a half of one, rounded up", yaml: robustApp("web", 1, robustC, "n1") + robustBudget("web", "web", "minAvailable: 50%"), wrong: []string{"warning " + pdb + " spec.minAvailable = 50%"}, says: []string{"1 of 1 pods are"}},
		{name: "nothing said yet: no field", yaml: two + robustBudget("web", "web", "unhealthyPodEvictionPolicy: AlwaysAllow"), wrong: []string{"warning " + pdb + " spec"}},
		{
			name: "it cannot be worked out", says: []string{"no scale"}, wrong: []string{"warning " + pdb + " status.conditions[DisruptionAllowed].reason = SyncFailed"},
			yaml: two + strings.Replace(robustBudget("web", "web", "maxUnavailable: 1", 0, 0, 0, 0), "status: {", "status: {conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: no scale, lastTransitionTime: '2026-01-01T00:00:00Z'}], ", 1),
		},
		{
			name: "an operator guards its primary", root: "Database.db.example/ns/pg", says: []string{"until the operator of Database.db.example/pg moves the pod"},
			yaml:  robustClusterPods("n1") + strings.Replace(robustBudget("pg", "pg", "minAvailable: 1", 0, 1, 1, 1), "uid: b-pg", "uid: b-pg, ownerReferences: [{apiVersion: db.example/v1, kind: Database, name: pg, uid: pg, controller: true}]", 1),
			wrong: []string{"info PodDisruptionBudget.policy/ns/pg spec.minAvailable = 1"},
		},
	})
	runRobust(t, Rules(), findOperators, "budget-one-per-pod", []robustCase{
		{name: "one", yaml: two + robustBudget("web", "web", "maxUnavailable: 1"), right: []string{robustWeb}},
		{name: "two", yaml: two + robustBudget("a", "web", "maxUnavailable: 1") + robustBudget("b", "web", "maxUnavailable: 1"), wrong: []string{"error " + robustWeb + " spec.selector"}, says: []string{"2 pods are selected by several budgets (a and b)"}},
		{name: "none", yaml: two},
	})
}

func TestRobustSingle(t *testing.T) {
	needsDB := "containers: [{name: c, image: c, env: [{name: DB_HOST, value: db.ns.svc}]}]"
	db := robustService("db", "db", "") + robustApp("db", 1, robustC, "n1")
	ingress := "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns, uid: i}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
	runRobust(t, Rules(), findOperators, "pod-single", []robustCase{
		{name: "a database of one", yaml: robustApp("web", 2, needsDB, "n1", "n2") + db, wrong: []string{"warning Deployment.apps/ns/db spec.replicas = 1"}, says: []string{"has the only pod behind Service/db, which Deployment.apps/web needs"}},
		{name: "of two", yaml: robustApp("web", 2, needsDB, "n1", "n2") + robustService("db", "db", "") + robustApp("db", 2, robustC, "n1", "n2"), right: []string{"Deployment.apps/ns/db"}},
		{name: "no dependents", root: "Deployment.apps/ns/db", yaml: db},
		{
			name: "its address is accounted for, and a role names it", root: "Deployment.apps/ns/db",
			yaml: db + "---\napiVersion: networking.k8s.io/v1\nkind: IPAddress\nmetadata: {name: 10.96.0.7, uid: ip}\nspec: {parentRef: {resource: services, namespace: ns, name: db}}\n" +
				"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: ns, uid: r}\nrules: [{apiGroups: [''], resources: [services], resourceNames: [db], verbs: [get]}]\n",
		},
		{name: "a bare pod", yaml: robustApp("web", 2, needsDB, "n1", "n2") + robustService("db", "db", "") + robustPod("db", "app: db", "", robustC, "n1"), wrong: []string{"warning Pod/ns/db"}, says: []string{"is the only pod behind"}},
		{name: "an Ingress leads to it", yaml: robustApp("web", 1, robustC, "n1") + robustService("web", "web", "") + ingress, wrong: []string{"warning " + robustWeb + " spec.replicas = 1"}, says: []string{"Ingress.networking.k8s.io/i needs"}},
		{
			name: "a primary of an operator's three", yaml: robustApp("web", 2, needsDB, "n1", "n2") +
				strings.Replace(robustService("db", "pg", ""), "{app: pg}", "{role: primary}", 1) +
				strings.Replace(robustClusterPods("n1", "n2", "n3"), "uid: p-pg-0, labels: {", "uid: p-pg-0, labels: {role: primary, ", 1),
			right: []string{"Database.db.example/ns/pg"},
		},
	})
	runRobust(t, Rules(), findOperators, "pod-recreate", []robustCase{
		{name: "rolling", yaml: robustApp("web", 2, robustC, "n1"), right: []string{robustWeb}},
		{name: "recreate", yaml: robustAppMore("web", 2, robustC, "strategy: {type: Recreate}", "n1"), wrong: []string{"info " + robustWeb + " spec.strategy.type = Recreate"}},
		{name: "recreate, with a volume of its own", yaml: robustAppMore("web", 1, robustMounts("d"), "strategy: {type: Recreate}", "n1") + robustClaim("d", "ReadWriteOnce", ""), right: []string{robustWeb}},
	})
}

func TestRobustOperatorReplicas(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		replicas   int
		wrong      int
		says       string
	}{
		{name: "two", spec: robustC, replicas: 2},
		{name: "one", spec: robustC, replicas: 1, wrong: 1, says: "has one replica: while"},
		{name: "one that elects", spec: "containers: [{name: c, image: c, args: [--leader-elect]}]", replicas: 1, wrong: 1, says: "elects a leader (--leader-elect)"},
		{name: "one that does not elect", spec: "containers: [{name: c, image: c, args: [--leader-elect=false]}]", replicas: 1, wrong: 1, says: "has one replica: while"},
		{name: "one that elects by environment", spec: "containers: [{name: c, image: c, env: [{name: ENABLE_LEADER_ELECTION, value: 'true'}]}]", replicas: 1, wrong: 1, says: "elects a leader"},
		{name: "stopped", spec: robustC},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := readWorld(t, findOperators, robustApp("op", tt.replicas, tt.spec, "n1"))
			o := &Operator{World: w.ClusterState, Name: "op", Workloads: w.Workloads()}
			r := only(t, Rules(), "operator-replicas", o.Check)
			if len(r.Findings) != tt.wrong || tt.wrong > 0 && !strings.Contains(r.Findings[0].Message, tt.says) {
				t.Errorf("got %+v", r.Findings)
			}
		})
	}
}
