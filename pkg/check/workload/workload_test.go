package workload

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func TestResources(t *testing.T) {
	full := "containers: [{name: c, image: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]"
	at := "spec.template.spec.containers[c].resources"
	limits := func(set string) string {
		return "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: ns}\nspec: {limits: [{type: Container, " + set + "}]}\n"
	}
	checktest.Run(t, Rules(), operator.Find, "pod-requests", []checktest.Case{
		{Name: "all set", YAML: checktest.App("web", 1, full, "n1"), Right: []string{checktest.Web}},
		{Name: "best effort", YAML: checktest.App("web", 1, checktest.OneContainer, "n1"), Wrong: []string{"warning " + checktest.Web + " spec.template.spec.containers[*].resources"}, Says: []string{"BestEffort"}},
		{
			Name: "no memory", YAML: checktest.App("web", 2, "containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]", "n1", "n2"),
			Wrong: []string{"warning " + checktest.Web + " " + at + ".requests"}, Says: []string{"requests no memory"},
		},
		{Name: "a request of nothing is none", YAML: checktest.App("web", 1, "containers: [{name: c, image: c, resources: {requests: {cpu: 1, memory: 0}}}]", "n1"), Wrong: []string{"warning " + checktest.Web + " " + at + ".requests"}},
		{Name: "limits are requests", YAML: checktest.App("web", 1, "containers: [{name: c, image: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]", "n1"), Right: []string{checktest.Web}},
		{Name: "of the pod as a whole", YAML: checktest.App("web", 1, checktest.OneContainer+", resources: {requests: {cpu: 1, memory: 1Gi}}", "n1"), Right: []string{checktest.Web}},
		{
			Name: "init containers matter less, side-cars as much", Wrong: []string{"warning " + checktest.Web + " spec.template.spec.initContainers[side].resources.requests", "info " + checktest.Web + " spec.template.spec.initContainers[once].resources.requests"},
			YAML: checktest.App("web", 1, full+", initContainers: [{name: once, image: i}, {name: side, image: s, restartPolicy: Always}]", "n1"),
		},
		{Name: "no pod, and a LimitRange that fills in", YAML: checktest.App("web", 0, checktest.OneContainer) + limits("defaultRequest: {cpu: 1, memory: 1Gi}"), Right: []string{checktest.Web}},
		{Name: "no pod, and a LimitRange that fills in one", YAML: checktest.App("web", 0, checktest.OneContainer) + limits("default: {cpu: 1}"), Wrong: []string{"warning " + checktest.Web + " " + at + ".requests"}},
		{Name: "pods that are there have what was filled in", YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + limits("default: {cpu: 1, memory: 1Gi}"), Wrong: []string{"warning " + checktest.Web + " spec.template.spec.containers[*].resources"}},
		{Name: "no pod, and LimitRanges unread", YAML: checktest.App("web", 0, checktest.OneContainer), Unread: []string{"LimitRange"}, Open: []string{checktest.Web}},
		{Name: "static pods", Root: "Pod/ns/etcd", YAML: strings.Replace(checktest.Pod("etcd", "a: b", "", checktest.OneContainer, "n1"), "labels:", "annotations: {kubernetes.io/config.mirror: x}, labels:", 1)},
		{
			Name: "an injected container", YAML: strings.Replace(checktest.App("web", 1, full, "n1"), "limits: {cpu: 1, memory: 1Gi}}}], nodeName", "limits: {cpu: 1, memory: 1Gi}}}, {name: proxy, image: p}], nodeName", 1),
			Wrong: []string{"warning Pod/ns/web-0 spec.containers[proxy].resources.requests"}, Says: []string{"which was injected"},
		},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-memory-limit", []checktest.Case{
		{Name: "set", YAML: checktest.App("web", 1, full, "n1"), Right: []string{checktest.Web}},
		{Name: "not set", YAML: checktest.App("web", 1, checktest.OneContainer, "n1"), Wrong: []string{"warning " + checktest.Web + " " + at + ".limits.memory"}},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-cpu-limit", []checktest.Case{
		{Name: "set", YAML: checktest.App("web", 1, full, "n1"), Right: []string{checktest.Web}},
		{Name: "two without are one finding", YAML: checktest.App("web", 1, "containers: [{name: a, image: a}, {name: b, image: b}]", "n1"), Wrong: []string{"info " + checktest.Web + " spec.template.spec.containers[a].resources.limits.cpu"}, Says: []string{"containers a and b have"}},
	})
}

func TestProbes(t *testing.T) {
	probe := func(kind, more string) string { return kind + "Probe: {httpGet: {path: /, port: 8080}" + more + "}" }
	c := func(probes string) string {
		return "containers: [{name: c, image: c, ports: [{name: http, containerPort: 8080}], " + probes + "}]"
	}
	at := "spec.template.spec.containers[c]."
	svc := checktest.Service("web", "web", "")
	checktest.Run(t, Rules(), operator.Find, "pod-readiness", []checktest.Case{
		{Name: "has one", YAML: checktest.App("web", 1, c(probe("readiness", "")), "n1") + svc, Right: []string{checktest.Web}},
		{Name: "has none", YAML: checktest.App("web", 1, c(probe("liveness", "")), "n1") + svc, Wrong: []string{"warning " + checktest.Web + " " + at + "readinessProbe"}, Says: []string{"Service/web sends it requests"}},
		{Name: "no Service asks it", YAML: checktest.App("web", 1, c(probe("liveness", "")), "n1")},
		{Name: "a Service that asks all pods, ready or not", YAML: checktest.App("web", 1, c(""), "n1") + checktest.Service("web", "web", ", publishNotReadyAddresses: true")},
		{Name: "somebody else says when it is ready", YAML: checktest.App("web", 1, c("")+", readinessGates: [{conditionType: x/y}]", "n1") + svc},
		{
			Name: "the container with the port counts", Wrong: []string{"warning " + checktest.Web + " " + at + "readinessProbe"},
			YAML: checktest.App("web", 1, "containers: [{name: c, image: c, ports: [{containerPort: 8080}]}, {name: d, image: d, readinessProbe: {tcpSocket: {port: 1}}}]", "n1") + svc,
		},
		{
			Name: "where no container has the port, any probe counts", Right: []string{checktest.Web},
			YAML: checktest.App("web", 1, "containers: [{name: c, image: c}, {name: d, image: d, readinessProbe: {tcpSocket: {port: 1}}}]", "n1") + svc,
		},
		{
			Name: "a second port without a probe matters less", Wrong: []string{"info " + checktest.Web + " spec.template.spec.containers[d].readinessProbe"},
			YAML: checktest.App("web", 1, "containers: [{name: c, image: c, ports: [{containerPort: 8080}], readinessProbe: {tcpSocket: {port: 8080}}}, {name: d, image: d, ports: [{name: m, containerPort: 9}]}]", "n1") +
				strings.Replace(svc, "ports: [", "ports: [{name: m, port: 9, targetPort: m}, ", 1),
		},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-liveness", []checktest.Case{
		{Name: "has one", YAML: checktest.App("web", 1, c(probe("liveness", "")), "n1"), Right: []string{checktest.Web}},
		{Name: "has none", YAML: checktest.App("web", 1, checktest.OneContainer, "n1"), Wrong: []string{"info " + checktest.Web + " " + at + "livenessProbe"}},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-liveness-patient", []checktest.Case{
		{Name: "the same", YAML: checktest.App("web", 1, c(probe("liveness", "")+", "+probe("readiness", "")), "n1"), Wrong: []string{"info " + checktest.Web + " " + at + "livenessProbe.failureThreshold = 3"}, Says: []string{"after 30 s"}},
		{Name: "fails later", YAML: checktest.App("web", 1, c(probe("liveness", ", failureThreshold: 6")+", "+probe("readiness", "")), "n1"), Right: []string{checktest.Web}},
		{Name: "asks something else", YAML: checktest.App("web", 1, c("livenessProbe: {tcpSocket: {port: 8080}}, "+probe("readiness", "")), "n1"), Right: []string{checktest.Web}},
		{Name: "the same port by its name", YAML: checktest.App("web", 1, c("livenessProbe: {httpGet: {path: /, port: http}}, "+probe("readiness", "")), "n1"), Wrong: []string{"info " + checktest.Web + " " + at + "livenessProbe.failureThreshold = 3"}},
		{Name: "one alone", YAML: checktest.App("web", 1, c(probe("liveness", "")), "n1")},
	})
}

func TestSpread(t *testing.T) {
	spread := func(app string) string {
		return checktest.OneContainer + ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: " + app + "}}}]"
	}
	anti := checktest.OneContainer + ", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}}]}}"
	checktest.Run(t, Rules(), operator.Find, "pod-spread", []checktest.Case{
		{Name: "by constraint", YAML: checktest.App("web", 2, spread("web"), "n1", "n2"), Right: []string{checktest.Web}},
		{Name: "by anti-affinity", YAML: checktest.App("web", 2, anti, "n1", "n2"), Right: []string{checktest.Web}},
		{Name: "from others only", YAML: checktest.App("web", 2, spread("other"), "n1", "n2"), Wrong: []string{"info " + checktest.Web + " spec.template.spec.topologySpreadConstraints"}, Says: []string{"none that selects its own pods"}},
		{Name: "not at all", YAML: checktest.App("web", 2, checktest.OneContainer, "n1", "n2"), Wrong: []string{"info " + checktest.Web + " spec.template.spec.topologySpreadConstraints"}},
		{Name: "one replica", YAML: checktest.App("web", 1, checktest.OneContainer, "n1")},
		{Name: "pods of an operator", Root: "Database.db.example/ns/pg", YAML: checktest.ClusterPods("n1", "n2"), Wrong: []string{"info Database.db.example/ns/pg"}},
	})
	tainted := checktest.Node("n1", "a", "") + checktest.Node("n2", "a", "taints: [{key: k, effect: NoSchedule}]")
	checktest.Run(t, Rules(), operator.Find, "pod-nodes", []checktest.Case{
		{Name: "apart", YAML: checktest.ThreeNodes + checktest.App("web", 2, checktest.OneContainer, "n1", "n3"), Right: []string{checktest.Web}},
		{Name: "on one node of three", YAML: checktest.ThreeNodes + checktest.App("web", 3, checktest.OneContainer, "n2", "n2", "n2"), Wrong: []string{"warning " + checktest.Web + " spec.nodeName = n2"}, Says: []string{"all 3 pods are on n2, and 3 nodes would take them"}},
		{Name: "in one zone of two", YAML: checktest.ThreeNodes + checktest.App("web", 2, checktest.OneContainer, "n1", "n2"), Wrong: []string{"info " + checktest.Web + " metadata.labels[topology.kubernetes.io/zone] = a"}},
		{Name: "a cluster of one node", YAML: checktest.Node("n1", "a", "") + checktest.App("web", 2, checktest.OneContainer, "n1", "n1")},
		{Name: "the other node has a taint", YAML: tainted + checktest.App("web", 2, checktest.OneContainer, "n1", "n1")},
		{Name: "the other node has a taint that is borne", YAML: tainted + checktest.App("web", 2, checktest.OneContainer+", tolerations: [{key: k, operator: Exists}]", "n1", "n1"), Wrong: []string{"warning " + checktest.Web + " spec.nodeName = n1"}},
		{Name: "they choose the node", YAML: checktest.ThreeNodes + checktest.App("web", 2, checktest.OneContainer+", nodeSelector: {kubernetes.io/hostname: n1}", "n1", "n1")},
		{Name: "the other nodes are unread", YAML: checktest.ThreeNodes + checktest.App("web", 2, checktest.OneContainer, "n1", "n1"), Unread: []string{"Node"}, Open: []string{checktest.Web}},
		{Name: "one of two waits", YAML: checktest.ThreeNodes + checktest.App("web", 2, checktest.OneContainer, "n1", "")},
	})
}

func TestBudgets(t *testing.T) {
	two := checktest.App("web", 2, checktest.OneContainer, "n1", "n2")
	pdb := "PodDisruptionBudget.policy/ns/web"
	checktest.Run(t, Rules(), operator.Find, "budget-present", []checktest.Case{
		{Name: "there", YAML: two + checktest.Budget("web", "web", "maxUnavailable: 1"), Right: []string{checktest.Web}},
		{Name: "not there", YAML: two, Wrong: []string{"warning " + checktest.Web}},
		{Name: "unread", YAML: two, Unread: []string{"PodDisruptionBudget"}, Open: []string{checktest.Web}},
		{Name: "one replica", YAML: checktest.App("web", 1, checktest.OneContainer, "n1")},
		{Name: "pods of an operator", Root: "Database.db.example/ns/pg", YAML: checktest.ClusterPods("n1", "n2"), Wrong: []string{"warning Database.db.example/ns/pg"}},
		{
			Name: "of some pods", Root: "Database.db.example/ns/pg", Wrong: []string{"info Database.db.example/ns/pg"}, Says: []string{"1 pod of 2", "pg-1"},
			YAML: strings.Replace(checktest.ClusterPods("n1", "n2"), "uid: p-pg-0, labels: {", "uid: p-pg-0, labels: {role: primary, ", 1) + strings.Replace(checktest.Budget("pg", "pg", "minAvailable: 1", 0, 1, 1, 1), "{app: pg}", "{role: primary}", 1),
		},
	})
	checktest.Run(t, Rules(), operator.Find, "budget-allows", []checktest.Case{
		{Name: "one", YAML: two + checktest.Budget("web", "web", "maxUnavailable: 1", 1, 2, 1, 2), Right: []string{pdb}},
		{Name: "none", YAML: two + checktest.Budget("web", "web", "minAvailable: 2", 0, 2, 2, 2), Wrong: []string{"warning " + pdb + " spec.minAvailable = 2"}, Says: []string{"although 2 of 2 pods are healthy"}},
		{Name: "none, since a pod is not healthy", YAML: two + checktest.Budget("web", "web", "maxUnavailable: 1", 0, 1, 1, 2), Right: []string{pdb}},
		{Name: "nothing said yet: a half of two", YAML: two + checktest.Budget("web", "web", "minAvailable: 50%"), Right: []string{pdb}},
		{Name: "nothing said yet: a half of one, rounded up", YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + checktest.Budget("web", "web", "minAvailable: 50%"), Wrong: []string{"warning " + pdb + " spec.minAvailable = 50%"}, Says: []string{"1 of 1 pods are"}},
		{Name: "nothing said yet: no field", YAML: two + checktest.Budget("web", "web", "unhealthyPodEvictionPolicy: AlwaysAllow"), Wrong: []string{"warning " + pdb + " spec"}},
		{
			Name: "it cannot be worked out", Says: []string{"no scale"}, Wrong: []string{"warning " + pdb + " status.conditions[DisruptionAllowed].reason = SyncFailed"},
			YAML: two + strings.Replace(checktest.Budget("web", "web", "maxUnavailable: 1", 0, 0, 0, 0), "status: {", "status: {conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: no scale, lastTransitionTime: '2026-01-01T00:00:00Z'}], ", 1),
		},
		{
			Name: "an operator guards its primary", Root: "Database.db.example/ns/pg", Says: []string{"until the operator of Database.db.example/pg moves the pod"},
			YAML:  checktest.ClusterPods("n1") + strings.Replace(checktest.Budget("pg", "pg", "minAvailable: 1", 0, 1, 1, 1), "uid: b-pg", "uid: b-pg, ownerReferences: [{apiVersion: db.example/v1, kind: Database, name: pg, uid: pg, controller: true}]", 1),
			Wrong: []string{"info PodDisruptionBudget.policy/ns/pg spec.minAvailable = 1"},
		},
	})
	checktest.Run(t, Rules(), operator.Find, "budget-one-per-pod", []checktest.Case{
		{Name: "one", YAML: two + checktest.Budget("web", "web", "maxUnavailable: 1"), Right: []string{checktest.Web}},
		{Name: "two", YAML: two + checktest.Budget("a", "web", "maxUnavailable: 1") + checktest.Budget("b", "web", "maxUnavailable: 1"), Wrong: []string{"error " + checktest.Web + " spec.selector"}, Says: []string{"2 pods are selected by several budgets (a and b)"}},
		{Name: "none", YAML: two},
	})
}

func TestSingle(t *testing.T) {
	needsDB := "containers: [{name: c, image: c, env: [{name: DB_HOST, value: db.ns.svc}]}]"
	db := checktest.Service("db", "db", "") + checktest.App("db", 1, checktest.OneContainer, "n1")
	ingress := "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns, uid: i}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
	checktest.Run(t, Rules(), operator.Find, "pod-single", []checktest.Case{
		{Name: "a database of one", YAML: checktest.App("web", 2, needsDB, "n1", "n2") + db, Wrong: []string{"warning Deployment.apps/ns/db spec.replicas = 1"}, Says: []string{"has the only pod behind Service/db, which Deployment.apps/web needs"}},
		{Name: "of two", YAML: checktest.App("web", 2, needsDB, "n1", "n2") + checktest.Service("db", "db", "") + checktest.App("db", 2, checktest.OneContainer, "n1", "n2"), Right: []string{"Deployment.apps/ns/db"}},
		{Name: "no dependents", Root: "Deployment.apps/ns/db", YAML: db},
		{
			Name: "its address is accounted for, and a role names it", Root: "Deployment.apps/ns/db",
			YAML: db + "---\napiVersion: networking.k8s.io/v1\nkind: IPAddress\nmetadata: {name: 10.96.0.7, uid: ip}\nspec: {parentRef: {resource: services, namespace: ns, name: db}}\n" +
				"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: ns, uid: r}\nrules: [{apiGroups: [''], resources: [services], resourceNames: [db], verbs: [get]}]\n",
		},
		{Name: "a bare pod", YAML: checktest.App("web", 2, needsDB, "n1", "n2") + checktest.Service("db", "db", "") + checktest.Pod("db", "app: db", "", checktest.OneContainer, "n1"), Wrong: []string{"warning Pod/ns/db"}, Says: []string{"is the only pod behind"}},
		{Name: "an Ingress leads to it", YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + checktest.Service("web", "web", "") + ingress, Wrong: []string{"warning " + checktest.Web + " spec.replicas = 1"}, Says: []string{"Ingress.networking.k8s.io/i needs"}},
		{
			Name: "a primary of an operator's three", YAML: checktest.App("web", 2, needsDB, "n1", "n2") +
				strings.Replace(checktest.Service("db", "pg", ""), "{app: pg}", "{role: primary}", 1) +
				strings.Replace(checktest.ClusterPods("n1", "n2", "n3"), "uid: p-pg-0, labels: {", "uid: p-pg-0, labels: {role: primary, ", 1),
			Right: []string{"Database.db.example/ns/pg"},
		},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-recreate", []checktest.Case{
		{Name: "rolling", YAML: checktest.App("web", 2, checktest.OneContainer, "n1"), Right: []string{checktest.Web}},
		{Name: "recreate", YAML: checktest.AppWith("web", 2, checktest.OneContainer, "strategy: {type: Recreate}", "n1"), Wrong: []string{"info " + checktest.Web + " spec.strategy.type = Recreate"}},
		{Name: "recreate, with a volume of its own", YAML: checktest.AppWith("web", 1, checktest.Mounts("d"), "strategy: {type: Recreate}", "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Right: []string{checktest.Web}},
	})
}
