package view_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

var (
	shopClaim = object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	shopDB    = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	shopRoot  = object.Ref{Group: "example.com", Kind: "Shop", Namespace: "shop", Name: "one"}
	shopAsked = object.Ref{Kind: "Service", Namespace: "shop", Name: "db"}
)

// colocations are a stack in which all is told, and one on a node that was not read.
func colocations() []*colocation.Placement {
	return []*colocation.Placement{{
		Stack: shopRoot,
		Workloads: []colocation.Workload{
			{Ref: shopStack, Replicas: 3, Pods: 3, On: []colocation.NodePods{{Node: "n1", Pods: 2}}, Zones: []string{"a"}},
			{Ref: shopDB, Replicas: 1, Pods: 1, On: []colocation.NodePods{{Node: "n2", Pods: 1}}, Zones: []string{"b"}},
			{Ref: otherStack, Replicas: 2},
		},
		Nodes: []colocation.Node{
			{Name: "n1", Read: true, Zone: "a", Region: "r", Workloads: []colocation.WorkloadPods{{Ref: shopStack, Pods: 2}}},
			{Name: "n2", Read: true, Zone: "b", Region: "r", Workloads: []colocation.WorkloadPods{{Ref: shopDB, Pods: 1}}},
		},
		Zones: []string{"a", "b"}, Regions: []string{"r"}, ZonesThere: []string{"a", "b", "c"},
		Pending:   []object.Ref{pod("web-2")},
		Claims:    []colocation.Claim{{Claim: shopClaim, Workload: shopDB, Zones: []string{"b"}}},
		Crossings: []colocation.Crossing{{From: shopStack, To: shopDB, Service: shopAsked, Zones: []string{"a"}}},
		Together: colocation.SingleNode{
			Nodes:     []string{"n2"},
			Obstacles: []string{"Deployment.apps/shop/web must run apart from its own replicas: its podAntiAffinity over kubernetes.io/hostname requires it"},
			Selectors: []colocation.PodSelector{{Workload: shopStack, Field: "spec.template.spec.nodeSelector[disk]", Value: "ssd"}},
			Settable:  []colocation.Settable{{Resource: shopRoot, Read: true, Paths: []string{"spec.nodeSelector", "spec.affinity", "spec.a.tolerations", "spec.b.tolerations", "spec.c.tolerations", "spec.d.tolerations", "spec.e.tolerations"}}},
		},
	}, {
		Stack:     shopStack,
		Workloads: []colocation.Workload{{Ref: shopStack, Replicas: 1, Pods: 1, On: []colocation.NodePods{{Node: "n9", Pods: 1}}}},
		Nodes:     []colocation.Node{{Name: "n9", Workloads: []colocation.WorkloadPods{{Ref: shopStack, Pods: 1}}}}, NodesUnread: true,
		Together: colocation.SingleNode{Settable: []colocation.Settable{{Resource: shopRoot}, {Resource: shopRoot, Read: true, Open: "spec.podTemplate"}, {Resource: shopRoot, Read: true}}},
	}}
}

func TestColocationLooks(t *testing.T) {
	a := view.Colocation(colocations(), view.ColocationOptions{Namespace: "shop"})
	for _, c := range []struct {
		format string
		want   string
	}{
		{"tree", `
OBJECT                          PODS  ZONE
stack Shop/one                     4
│  on 2 nodes in 2 of 3 zones
├─ Node/n1                         2  a
│  └─ Deployment/web               2
├─ Node/n2                         1  b
│  └─ StatefulSet/db               1
├─ StatefulSet/db/pg               0
│     ! none of 2 pods exists
├─ Pod/web-2
│     ! waits for a node
├─ PersistentVolumeClaim/data
│     binds StatefulSet/db to zone b
├─ Deployment/web
│     ! calls Service/db, and no pod of StatefulSet/db is in its zone a:
│     requests leave the zone
└─ one node
   │  ✖ as declared, it cannot run on one node
   ├─ obstacle
   │     Deployment.apps/shop/web must run apart from its own replicas: its
   │     podAntiAffinity over kubernetes.io/hostname requires it
   ├─ set of Deployment/web
   │     spec.template.spec.nodeSelector[disk] = ssd
   └─ configurable in Shop/one
         spec.nodeSelector, spec.affinity, spec.a.tolerations,
         spec.b.tolerations, spec.c.tolerations and 2 more (-o json has all)
stack Deployment/web               1
│  on 1 node; zones unknown: the nodes were not read
├─ Node/n9                         1
│  │  ? the node was not read
│  └─ Deployment/web               1
└─ one node
   │  ✔ all of it runs on node n9
   ├─ configurable in Shop/one
   │     ? its CRD was not read
   ├─ configurable in Shop/one
   │     ? spec.podTemplate accepts any field, so it may be set there
   └─ configurable in Shop/one
         no field of it controls where its pods run
`},
		{"table", `
STACK            NODE   ZONE   WORKLOAD         PODS
Shop/one         n1     a      Deployment/web      2
Shop/one         n2     b      StatefulSet/db      1
Shop/one         -             Pod/web-2           1
Deployment/web   n9            Deployment/web      1
`},
		{"name", `
Shop.example.com/shop/one
Deployment.apps/shop/web
`},
	} {
		if got := lay(t, c.format, 80, a); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s", c.format, got)
		}
	}
}

// Where all could go, and what would take it, is one of five answers.
func TestColocationVerdicts(t *testing.T) {
	one := []colocation.Node{{Name: "n1"}}
	for _, c := range []struct {
		name string
		of   colocation.Placement
		want []string
	}{
		{"on one", colocation.Placement{Nodes: one, Together: colocation.SingleNode{Nodes: []string{"n1", "n2"}}}, []string{"verdict: is", "summary: all of it runs on node n1", "'on': n1"}},
		{"on one, and some wait", colocation.Placement{Nodes: one, Pending: []object.Ref{pod("a")}, Together: colocation.SingleNode{Nodes: []string{"n1"}}}, []string{"verdict: could", "one node: n1 (free room"}},
		{"on one by chance", colocation.Placement{Nodes: one, Together: colocation.SingleNode{Obstacles: []string{"x"}}}, []string{"verdict: cannot", "'on': n1"}},
		{"many nodes", colocation.Placement{Together: colocation.SingleNode{Nodes: []string{"a", "b", "c", "d", "e", "f", "g"}}}, []string{"verdict: could", "a, b, c, d and 3 more"}},
		{"unread", colocation.Placement{NodesUnread: true}, []string{"verdict: unknown", "nodesUnread: true"}},
		{"only Jobs", colocation.Placement{}, []string{"verdict: nothing to place"}},
	} {
		got := strings.ReplaceAll(lay(t, "yaml", 0, view.Colocation([]*colocation.Placement{&c.of}, view.ColocationOptions{})), `"`, "'")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, got)
			}
		}
	}
}

// drained is a drain by which one stack breaks, one is blocked, and one goes on.
func drained() *drain.Outcome {
	budget := object.Ref{Group: "policy", Kind: "PodDisruptionBudget", Namespace: "db", Name: "pg"}
	pg := object.Ref{Kind: "Pod", Namespace: "db", Name: "pg-0"}
	here := drain.Pod{Pod: pg, Ready: true, Budgets: []object.Ref{budget}, Pinned: []object.Ref{shopClaim}, Refused: "pg allows no eviction although its pod is healthy (spec.maxUnavailable: 0)"}
	bare := drain.Pod{Pod: pod("debug"), Lost: true, Volatile: []string{"tmp"}}
	web := drain.Pod{Pod: pod("web-0"), Ready: true}
	return &drain.Outcome{
		Node: object.Ref{Kind: "Node", Name: "n1"}, Read: true, Zone: "a", Cordoned: true,
		Stacks: []drain.Stack{
			{Ref: shopStack, Breaks: true, Workloads: []drain.Workload{{Ref: shopStack, Replicas: 1, Here: []drain.Pod{web}, Breaks: true}}},
			{Ref: otherStack, Blocked: true, Workloads: []drain.Workload{{Ref: otherStack, Replicas: 3, Here: []drain.Pod{here}, Left: 1, Waiting: 1}}},
			{Ref: shopDB, Workloads: []drain.Workload{{Ref: shopDB, Replicas: 3, Here: []drain.Pod{web}, Left: 2}}},
		},
		Evicted: []drain.Pod{here, bare, web}, NoStack: []drain.Pod{bare},
		LeftAlone: []drain.Pod{{Pod: pod("agent"), Why: "DaemonSet"}},
		Budgets:   []drain.Budget{{Ref: budget, Pods: 1, Blocks: true, Message: "allows no eviction although its pod is healthy (spec.maxUnavailable: 0)"}},
		Flags:     []string{"--delete-emptydir-data", "--force", "--ignore-daemonsets"},
		Elsewhere: &schedule.Result{Verdict: schedule.DoesNotFit, Proofs: []schedule.Reason{{Pods: []string{"web-0"}, Reason: "InsufficientCPU", Message: "needs 4 CPUs, and no other node has more than 2 left"}}},
		Open:      []string{"disruption budgets of shop could not be read: they may block"},
	}
}

func TestDrainLooks(t *testing.T) {
	if got, want := lay(t, "tree", 80, view.Drain(drained(), nil)), strings.TrimPrefix(`
OBJECT                        PODS  REMAINING
Node/n1                          3
│  zone a; already cordoned; 3 stacks have pods there: 1 breaks, 1 cannot be
│  drained; 1 pod is ignored (DaemonSets, static); kubectl drain requires
│  --delete-emptydir-data --force --ignore-daemonsets
├─ stack Deployment/shop/web
│  │  ✖ breaks
│  └─ Deployment/shop/web        1          0
│        ✖ no ready pod remains until one starts elsewhere
├─ stack StatefulSet/db/pg
│  │  ✖ blocked
│  └─ StatefulSet/db/pg          1          1
│     │  1 of 3 replicas remain, 1 is not ready
│     └─ Pod/db/pg-0
│           cannot be evicted: pg allows no eviction although its pod is healthy
│           (spec.maxUnavailable: 0); waits until the node is back: only this
│           one can mount PersistentVolumeClaim/shop/data
├─ stack StatefulSet/shop/db
│  │  stays available
│  └─ StatefulSet/shop/db        1          2
│        2 of 3 replicas remain
├─ in no stack                   1
│  └─ Pod/shop/debug
│        is lost: nothing recreates it; loses its data in tmp
├─ PodDisruptionBudget/db/pg     1
│     ✖ blocks: allows no eviction although its pod is healthy
│     (spec.maxUnavailable: 0)
├─ rescheduling
│  │  ✖ impossible: not all evicted pods find another node
│  └─ web-0
│        needs 4 CPUs, and no other node has more than 2 left
└─ ? unknown
      disruption budgets of shop could not be read: they may block
`, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDrainSumsUp(t *testing.T) {
	stack := drain.Stack{Ref: shopStack}
	breaks, blocked, both := stack, stack, stack
	breaks.Breaks, blocked.Blocked, both.Breaks, both.Blocked = true, true, true, true
	for want, d := range map[string]drain.Outcome{
		"no stack has pods there\n":                                {},
		"1 stack has pods there; it stays available\n":             {Stacks: []drain.Stack{stack}},
		"2 stacks have pods there; all stay available\n":           {Stacks: []drain.Stack{stack, stack}},
		"2 stacks have pods there: 1 breaks\n":                     {Stacks: []drain.Stack{breaks, stack}},
		"3 stacks have pods there: 2 break, 2 cannot be drained\n": {Stacks: []drain.Stack{both, breaks, blocked}},
		"there; 2 pods are ignored (DaemonSets, static)\n":         {LeftAlone: make([]drain.Pod, 2)},
	} {
		if got := lay(t, "tree", 0, view.Drain(&d, nil)); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
