package cost

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// oneStack is a report of pods in one stack, by a Deployment each: its row, and those of
// the pods.
func oneStack(t *testing.T, containers bool, pods ...metrics.Pod) (*Report, []*Row) {
	t.Helper()
	root := object.Ref{Group: "example.com", Kind: "Shop", Namespace: "x", Name: "s"}
	p := &metrics.Attribution{Stacks: []object.Ref{root}, Of: map[object.Ref]metrics.Path{}}
	for i := range pods {
		pods[i].Ref.Kind, pods[i].Ref.Namespace = "Pod", "x"
		owner := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "x", Name: pods[i].Ref.Name}
		p.Of[pods[i].Ref] = metrics.Path{Stacks: []object.Ref{root}, Path: []object.Ref{root, owner}}
	}
	r := NewReport(&metrics.UsageReport{Pods: pods}, p, &Ledger{}, Grouping{Containers: containers})
	var rows []*Row
	walk(&r.Total, r.Rows, func(_ *Row, below []*Row) {
		for _, row := range below {
			if row.Level == LevelPod {
				rows = append(rows, row)
			}
		}
	})
	return r, rows
}

func named(name string, uid types.UID) metrics.Pod {
	return metrics.Pod{Ref: object.Ref{Name: name}, UID: uid}
}

// A sum of limits is one only where every pod is limited; of pieces one has none where
// nothing is said.
func TestRollLimits(t *testing.T) {
	gpu := metrics.Resource("nvidia.com/gpu")
	a, b, c := named("a", ""), named("b", ""), named("c", "")
	a.Limited = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1"), metrics.Memory: dec("10"), gpu: dec("2")})
	b.Limited = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("3"), metrics.Ephemeral: dec("5")})
	c.Limited = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.5"), metrics.Memory: dec("20"), metrics.Ephemeral: dec("5")})
	r, rows := oneStack(t, false, a, b, c)
	const want = "[{cpu 4.5} {nvidia.com/gpu 2}]"
	if got := fmt.Sprint(r.Rows[0].Limited); got != want || fmt.Sprint(r.Total.Limited) != want {
		t.Errorf("limits %s, in total %v, want %s", got, r.Total.Limited, want)
	}
	if got := fmt.Sprint(rows[0].Limited); got != "[{cpu 1} {memory 10} {nvidia.com/gpu 2}]" {
		t.Errorf("limits of a pod: %s", got)
	}
	if len(a.Limited) != 3 || len(c.Limited) != 3 {
		t.Errorf("the reading is not what it was: %v %v", a.Limited, c.Limited)
	}
}

// Pods on the network of their host see that of the node: on their rows, apart, and in
// no sum.
func TestRollHostNetwork(t *testing.T) {
	host, other, plain := named("host", ""), named("other", ""), named("plain", "")
	host.HostNetwork, other.HostNetwork = true, true
	host.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1"), metrics.Sent: dec("1000")})
	other.Counters = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Received: dec("2000")})
	plain.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Sent: dec("7")})
	plain.Counters = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Received: dec("3")})
	r, rows := oneStack(t, false, host, other, plain)
	stack := r.Rows[0]
	if got := fmt.Sprint(stack.Used, stack.Counters, stack.HostTraffic, stack.HostNetwork); got != "[{cpu 1} {network-transmit 7}] [{network-receive 3}] [] false" {
		t.Errorf("stack: %s", got)
	}
	if got := fmt.Sprint(rows[0].Used, rows[0].Counters, rows[0].HostTraffic, rows[0].HostNetwork); got != "[{cpu 1}] [] [{network-transmit 1000}] true" {
		t.Errorf("pod with traffic of a window: %s", got)
	}
	if got := fmt.Sprint(rows[1].Used, rows[1].Counters, rows[1].HostTraffic, stack.Children[1].HostNetwork); got != "[] [] [{network-receive 2000}] true" {
		t.Errorf("pod with counters: %s", got)
	}
	if _, ok := host.Used.Lookup(metrics.Sent); !ok {
		t.Error("the reading is not what it was")
	}
}

// What is not measured is absent from sums, and counted.
func TestRollUnmeasured(t *testing.T) {
	a, b := named("a", ""), named("b", "")
	a.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("2")})
	b.Requested, b.Unmeasured = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")}), "no sample yet"
	r, rows := oneStack(t, false, a, b)
	stack := r.Rows[0]
	if got := fmt.Sprint(stack.Measured, stack.Pods, stack.Used, stack.Requested, stack.Unmeasured); got != "1 2 [{cpu 2}] [{cpu 1}]" {
		t.Errorf("stack: %s", got)
	}
	if _, known := rows[1].Used.Lookup(metrics.CPU); known || rows[1].Unmeasured != "no sample yet" || rows[1].Measured != 0 {
		t.Errorf("pod: %+v", rows[1])
	}
}

// A name that was used again is one row that counts two pods.
func TestRollNameUsedAgain(t *testing.T) {
	first, second := named("db-0", "1"), named("db-0", "2")
	first.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")})
	second.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("2"), metrics.Memory: dec("5")})
	r, rows := oneStack(t, false, first, second)
	if len(rows) != 1 || rows[0].Pods != 2 || r.Total.Pods != 2 || fmt.Sprint(rows[0].Used) != "[{cpu 3} {memory 5}]" {
		t.Errorf("%s", fullText(r.Rows))
	}
	if fmt.Sprint(first.Used) != "[{cpu 1}]" {
		t.Errorf("the reading is not what it was: %v", first.Used)
	}
}

// Containers stand below their pods, cost nothing, and are not added up: the overhead of
// a pod is in none.
func TestRollContainers(t *testing.T) {
	pod := named("a", "")
	pod.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("1")})
	pod.Containers = []metrics.Container{{Name: "web", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.6")})}, {Name: "log"}}
	_, rows := oneStack(t, true, pod)
	const want = "pod Pod/x/a pods 1 cpu 1\n  container log\n  container web cpu 0.6\n"
	if got := outline(rows); got != want {
		t.Errorf("rows:\n%swant:\n%s", got, want)
	}
	if _, rows = oneStack(t, false, pod); len(rows[0].Children) != 0 {
		t.Errorf("containers that nobody asked for: %v", rows[0].Children)
	}
}
