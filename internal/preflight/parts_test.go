package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

func of[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func list(r corev1.ResourceList) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		q := r[name]
		out = append(out, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return strings.Join(out, " ")
}

// TestUsage holds what things count for against the evaluators of Kubernetes 1.36
// (pkg/quota/v1/evaluator/core), read and reckoned by hand.
func TestUsage(t *testing.T) {
	pod := of[corev1.Pod](t, `
spec:
  overhead: {cpu: 10m}
  initContainers:
  - {name: first, resources: {requests: {cpu: 2}}}
  - {name: side, restartPolicy: Always, resources: {requests: {cpu: 100m, memory: 1Mi}, limits: {memory: 2Mi}}}
  containers:
  - {name: a, resources: {requests: {cpu: 500m, nvidia.com/gpu: 1, hugepages-2Mi: 2Mi}, limits: {nvidia.com/gpu: 1, hugepages-2Mi: 2Mi, ephemeral-storage: 1Gi}}}
  - {name: b, resources: {requests: {cpu: 500m}}}
`)
	want := "count/pods=1 cpu=2010m hugepages-2Mi=2Mi limits.ephemeral-storage=1Gi limits.memory=2Mi memory=1Mi pods=1 requests.cpu=2010m requests.hugepages-2Mi=2Mi requests.memory=1Mi requests.nvidia.com/gpu=1"
	if got := list(podUsage(pod)); got != want {
		t.Errorf("the pod counts for\n%s\nwant\n%s", got, want)
	}
	claim := of[corev1.PersistentVolumeClaim](t, `{spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}}`)
	want = "count/persistentvolumeclaims=1 fast.storageclass.storage.k8s.io/persistentvolumeclaims=1 fast.storageclass.storage.k8s.io/requests.storage=1Gi persistentvolumeclaims=1 requests.storage=1Gi"
	if got := list(claimUsage(claim)); got != want {
		t.Errorf("the claim counts for\n%s\nwant\n%s", got, want)
	}
	for text, want := range map[string]string{
		`{spec: {ports: [{port: 1}]}}`:                                                                                       "count/services=1 services=1",
		`{spec: {type: NodePort, ports: [{port: 1}, {port: 2}]}}`:                                                            "count/services=1 services=1 services.nodeports=2",
		`{spec: {type: LoadBalancer, ports: [{port: 1}, {port: 2}]}}`:                                                        "count/services=1 services=1 services.loadbalancers=1 services.nodeports=2",
		`{spec: {type: LoadBalancer, allocateLoadBalancerNodePorts: false, ports: [{port: 1}, {port: 2, nodePort: 30000}]}}`: "count/services=1 services=1 services.loadbalancers=1 services.nodeports=1",
	} {
		if got := list(serviceUsage(of[corev1.Service](t, text))); got != want {
			t.Errorf("%s counts for %s, want %s", text, got, want)
		}
	}
}

func TestScopes(t *testing.T) {
	pods := map[string]string{
		"bare":   `{spec: {containers: [{name: a}]}}`,
		"asks":   `{spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}`,
		"ends":   `{spec: {activeDeadlineSeconds: 5, containers: [{name: a}]}}`,
		"high":   `{spec: {priorityClassName: high, containers: [{name: a}]}}`,
		"across": `{spec: {containers: [{name: a}], affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: k, namespaceSelector: {}}}]}}}}`,
	}
	for text, want := range map[string]string{
		`{}`:                                     "across asks bare ends high",
		`{scopes: [Terminating]}`:                "ends",
		`{scopes: [NotTerminating]}`:             "across asks bare high",
		`{scopes: [BestEffort]}`:                 "across bare ends high",
		`{scopes: [NotBestEffort]}`:              "asks",
		`{scopes: [PriorityClass]}`:              "high",
		`{scopes: [CrossNamespacePodAffinity]}`:  "across",
		`{scopes: [BestEffort, NotTerminating]}`: "across bare high",
		`{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high, low]}]}}`: "high",
		`{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [high]}]}}`:   "across asks bare ends",
		`{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}}`:            "across asks bare ends",
	} {
		q := &corev1.ResourceQuota{Spec: *of[corev1.ResourceQuotaSpec](t, text)}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(pods)) {
			if covers(q, of[corev1.Pod](t, pods[name])) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s counts %v, want %s", text, got, want)
		}
		if s := unknownScope(q); s != "" {
			t.Errorf("%s: scope %s is not known", text, s)
		}
	}
	if unknownScope(&corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{"New"}}}) != "New" {
		t.Error("a new scope is taken for one that is known")
	}
}

func TestIsWordOf(t *testing.T) {
	for _, c := range []struct {
		name, of string
		want     bool
	}{
		{"main", "main-app", true},
		{"main", "postgres.main.credentials", true},
		{"main", "prometheus-main", true},
		{"main", "main", true},
		{"main", "domain-main2", false},
		{"main", "domain", false},
		{"db", "db-app", true},
		{"db", "dbase", false},
		{"db", "old-db", false},
		{"", "x", false},
		{"db", "db", true},
	} {
		if got := isWordOf(c.name, c.of); got != c.want {
			t.Errorf("%s lends its name to %s: %v, want %v", c.name, c.of, got, c.want)
		}
	}
}

// TestFirstOf holds to the arithmetic of rolling updates: the default is a quarter, of
// which the surge is rounded up and the unavailable ones down.
func TestFirstOf(t *testing.T) {
	rolling := func(surge, away string) *appsv1.RollingUpdateDeployment {
		s, a := intstr.Parse(surge), intstr.Parse(away)
		return &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &a}
	}
	for _, c := range []struct {
		r      *appsv1.RollingUpdateDeployment
		wanted int
		want   int
	}{
		{nil, 1, 1},
		{nil, 3, 1},
		{nil, 4, 0},
		{nil, 8, 0},
		{rolling("2", "0"), 5, 2},
		{rolling("2", "0"), 1, 1},
		{rolling("50%", "0"), 5, 3},
		{rolling("0", "1"), 3, 0},
		{rolling("1", "1"), 3, 0},
		{rolling("0", "0"), 3, 0},
	} {
		if got := firstOf(c.r, c.wanted); got != c.want {
			t.Errorf("of %d with %+v: %d first, want %d", c.wanted, c.r, got, c.want)
		}
	}
}

// TestGrows says that proofs about nodes are about the nodes as they are, where the cluster
// may grow, and no others.
func TestGrows(t *testing.T) {
	refuse := func(*schedule.Cluster, []schedule.Pod) schedule.Result {
		return schedule.Result{Verdict: impossible, Proofs: []schedule.Reason{{
			Pods: []string{"Deployment/shop/web, pod 1 of 1"}, Reason: "InsufficientCPU", Message: "no node takes it",
			Nodes: []schedule.NodeReason{{Nodes: []string{"n1"}, Reason: "InsufficientCPU", Message: "cpu"}},
		}}}
	}
	batch := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}]}}}}`
	for said, want := range map[bool]string{false: "no node takes it", true: "with the current nodes: no node takes it"} {
		q := ask(t, "", batch)
		q.Autoscaler = said
		r := evaluate(q, refuse)
		if j := r.Findings[0]; j.Message != want || j.Remedy == "" || j.Origin != "batch.yaml:1" || (r.AutoscalerNote != "") != said || r.Verdict != impossible {
			t.Errorf("with an autoscaler %v: %+v, grows %q", said, j, r.AutoscalerNote)
		}
	}
}

// TestNothing says that an empty batch is no reason to worry.
func TestNothing(t *testing.T) {
	q := ask(t, "", "")
	if r := Evaluate(q); r.Verdict != fits || len(r.Findings) > 1 || r.Pods != 0 {
		t.Errorf("of nothing: %s", dump(r))
	}
}
