package cost

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func mustRef(t *testing.T, text string) object.Ref {
	t.Helper()
	ref, err := object.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// outline writes rows as their levels, names, pods, CPU and costs.
func outline(rows []*Row) string {
	var b strings.Builder
	var write func(rows []*Row, indent string)
	write = func(rows []*Row, indent string) {
		for _, r := range rows {
			name := r.Name
			if r.Ref != (object.Ref{}) {
				name = r.Ref.String()
			}
			b.WriteString(indent + string(r.Level) + " " + name)
			if r.Pods > 0 {
				b.WriteString(" pods " + decimal.NewFromInt(int64(r.Pods)).String())
			}
			if cpu, ok := r.Used.Lookup(metrics.CPU); ok {
				b.WriteString(" cpu " + cpu.String())
			}
			if claimed, ok := r.Claimed.Lookup(metrics.Storage); ok {
				b.WriteString(" claimed " + claimed.String())
			}
			if !r.Cost.IsZero() {
				b.WriteString(" cost " + r.Cost.String())
			}
			if r.Of != 1 || !r.Share.Equal(decimal.NewFromInt(1)) {
				b.WriteString(" share " + r.Share.String())
			}
			b.WriteString("\n")
			write(r.Children, indent+"  ")
		}
	}
	write(rows, "")
	return b.String()
}

// moodles is a small cluster: two Moodles that share a MySQL cluster, a bare pod that
// is a stack, a pod that is gone, and what belongs to nobody.
func moodles(t *testing.T) world {
	ref := func(text string) object.Ref { return mustRef(t, text) }
	a, b := ref("Moodle.edu.example.com/x/a"), ref("Moodle.edu.example.com/x/b")
	mysql := ref("Cluster.mysql.example.com/x/db")
	bare := ref("Pod/x/bare")
	pod := func(name, cpu string) metrics.Pod {
		return metrics.Pod{Ref: ref("Pod/" + name), Node: "n1", Used: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec(cpu)})}
	}
	gone := pod("x/gone", "0.5")
	gone.Gone = true
	gone.Owners = []object.Ref{ref("ReplicaSet.apps/x/old-1"), ref("Deployment.apps/x/old")}
	data := ref("PersistentVolumeClaim/x/data-db-0")
	p := &metrics.Attribution{
		Stacks: []object.Ref{b, a, bare},
		Of: map[object.Ref]metrics.Path{
			ref("Pod/x/a-1"):  {Stacks: []object.Ref{a}, Path: []object.Ref{a, ref("Deployment.apps/x/a")}},
			ref("Pod/x/b-1"):  {Stacks: []object.Ref{b}, Path: []object.Ref{ref("Fleet.edu.example.com/x/all"), b, ref("Deployment.apps/x/b")}},
			ref("Pod/x/db-0"): {Stacks: []object.Ref{a, b}, Path: []object.Ref{mysql, ref("StatefulSet.apps/x/db")}},
			ref("Service/x/a"): {
				Stacks: []object.Ref{a}, Path: []object.Ref{a},
			},
			bare: {Stacks: []object.Ref{bare}},
		},
	}
	r := &metrics.UsageReport{
		Hours:  dec("1"),
		Pods:   []metrics.Pod{pod("x/a-1", "1"), pod("x/b-1", "2"), pod("x/db-0", "4"), pod("x/bare", "0.25"), gone, pod("y/lost", "3")},
		Claims: []metrics.Claim{{Ref: data, Claimed: dec("100")}, {Ref: ref("PersistentVolumeClaim/z/old"), Claimed: dec("7"), Unmounted: dec("1")}},
	}
	quarter, rest := dec("0.25"), dec("0.75")
	charge := func(kind ChargeKind, item string, stack object.Ref, share decimal.Decimal, resource metrics.Resource, cost string) Charge {
		c := Charge{Kind: kind, Stack: stack, Share: share, Of: 1, Node: "n1", Resource: resource, Quantity: dec(cost), Price: dec("1"), Cost: dec(cost)}
		if item != "" {
			c.Item = ref(item)
			c.Namespace = c.Item.Namespace
		}
		if share.LessThan(dec("1")) {
			c.Of = 2
		}
		return c
	}
	one, nobody := dec("1"), object.Ref{}
	l := &Ledger{Currency: "EUR", Hours: dec("1"), Charges: []Charge{
		charge(Used, "Pod/x/a-1", a, one, metrics.CPU, "10"),
		charge(Used, "Service/x/a", a, one, LoadBalancer, "5"),
		charge(Used, "Pod/x/b-1", b, one, metrics.CPU, "20"),
		charge(Used, "Pod/x/db-0", a, quarter, metrics.CPU, "10"),
		charge(Used, "Pod/x/db-0", b, rest, metrics.CPU, "30"),
		charge(Used, "PersistentVolumeClaim/x/data-db-0", a, quarter, metrics.Storage, "1"),
		charge(Used, "PersistentVolumeClaim/x/data-db-0", b, rest, metrics.Storage, "3"),
		charge(Used, "Pod/x/bare", bare, one, metrics.CPU, "2"),
		charge(Used, "Pod/x/gone", nobody, one, metrics.CPU, "0.5"),
		charge(Used, "Pod/y/lost", nobody, one, metrics.CPU, "3"),
		charge(Unmounted, "PersistentVolumeClaim/z/old", nobody, one, metrics.Storage, "0.7"),
		charge(Idle, "Node/n1", nobody, one, metrics.CPU, "1.5"),
		charge(Overhead, "", a, dec("0.5"), "", "0.1"),
		charge(Overhead, "", b, dec("0.5"), "", "0.1"),
	}}
	return world{r, p, l}
}

func TestRollByStack(t *testing.T) {
	w := moodles(t)
	const want = `stack Moodle.edu.example.com/x/b pods 2 cpu 5 claimed 75 cost 53.1
  resource Cluster.mysql.example.com/x/db pods 1 cpu 3 cost 30 share 0.75
    workload StatefulSet.apps/x/db pods 1 cpu 3 cost 30 share 0.75
      pod Pod/x/db-0 pods 1 cpu 3 cost 30 share 0.75
  workload Deployment.apps/x/b pods 1 cpu 2 cost 20
    pod Pod/x/b-1 pods 1 cpu 2 cost 20
  pod PersistentVolumeClaim/x/data-db-0 claimed 75 cost 3 share 0.75
  rest overhead cost 0.1
stack Moodle.edu.example.com/x/a pods 2 cpu 2 claimed 25 cost 26.1
  resource Cluster.mysql.example.com/x/db pods 1 cpu 1 cost 10 share 0.25
    workload StatefulSet.apps/x/db pods 1 cpu 1 cost 10 share 0.25
      pod Pod/x/db-0 pods 1 cpu 1 cost 10 share 0.25
  workload Deployment.apps/x/a pods 1 cpu 1 cost 10
    pod Pod/x/a-1 pods 1 cpu 1 cost 10
  pod PersistentVolumeClaim/x/data-db-0 claimed 25 cost 1 share 0.25
  pod Service/x/a cost 5
  rest overhead cost 0.1
stack Pod/x/bare pods 1 cpu 0.25 cost 2
rest unattributed pods 2 cpu 3.5 cost 3.5
  workload Deployment.apps/x/old pods 1 cpu 0.5 cost 0.5
    pod Pod/x/gone pods 1 cpu 0.5 cost 0.5
  pod Pod/y/lost pods 1 cpu 3 cost 3
rest unmounted claimed 7 cost 0.7
  rest z claimed 7 cost 0.7
    pod PersistentVolumeClaim/z/old claimed 7 cost 0.7
rest idle cost 1.5
  rest n1 cost 1.5
`
	r := NewReport(w.reading, w.placement, w.ledger, Grouping{Keys: []Key{{By: ByStack}}})
	if got := outline(r.Rows); got != want {
		t.Errorf("rows:\n%swant:\n%s", got, want)
	}
	if r.Total.Pods != 6 || !r.Total.Used.Value(metrics.CPU).Equal(dec("10.75")) || !r.Total.Cost.Equal(dec("86.9")) || r.Currency != "EUR" {
		t.Errorf("total:\n%s", outline([]*Row{&r.Total}))
	}
}

func TestRollByGroup(t *testing.T) {
	w := moodles(t)
	depthOne := func(g Grouping) string {
		return outline(Limit(NewReport(w.reading, w.placement, w.ledger, g), 0, 1).Rows)
	}
	for by, want := range map[string]string{
		ByNamespace: `group x pods 5 cpu 7.75 claimed 100 cost 81.7
group y pods 1 cpu 3 cost 3
group z claimed 7 cost 0.7
rest idle cost 1.5
`,
		ByNode: `group n1 pods 6 cpu 10.75 cost 77.2
group (none) claimed 107 cost 9.7
`,
		ByResource: `group PersistentVolumeClaim/x/data-db-0 claimed 100 cost 4
group PersistentVolumeClaim/z/old claimed 7 cost 0.7
group Pod/x/bare pods 1 cpu 0.25 cost 2
group Pod/y/lost pods 1 cpu 3 cost 3
group Deployment.apps/x/old pods 1 cpu 0.5 cost 0.5
group Fleet.edu.example.com/x/all pods 1 cpu 2 cost 20
group Moodle.edu.example.com/x/a pods 1 cpu 1 cost 15.1
group Moodle.edu.example.com/x/b cost 0.1
group Cluster.mysql.example.com/x/db pods 1 cpu 4 cost 40
rest idle cost 1.5
`,
	} {
		if got := depthOne(Grouping{Keys: []Key{{By: by}}}); got != want {
			t.Errorf("by %s:\n%swant:\n%s", by, got, want)
		}
	}
	creator := func(_ Key, item object.Ref, place metrics.Path) string {
		for _, owner := range append([]object.Ref{item}, place.Path...) {
			if owner.Kind == "Moodle" {
				return "anna"
			}
		}
		return ""
	}
	const want = `group anna pods 2 cpu 3 cost 35.2
group (none) pods 4 cpu 7.75 claimed 107 cost 50.2
rest idle cost 1.5
`
	if got := depthOne(Grouping{Keys: []Key{{By: ByCreator}}, Value: creator}); got != want {
		t.Errorf("by creator:\n%swant:\n%s", got, want)
	}
}

// Idle capacity is by node, which a limit leaves alone; what was spread over
// things of no stack is theirs.
func TestRollIdle(t *testing.T) {
	l := &Ledger{}
	for i, node := range []string{"n1", "n2", "n3"} {
		l.Charges = append(l.Charges, Charge{Kind: Idle, Item: object.Ref{Kind: "Node", Name: node}, Node: node, Cost: decimal.NewFromInt(int64(i + 1))})
	}
	spread := l.Charges[0]
	spread.Namespace = "x"
	l.Charges = append(l.Charges, spread)
	r := NewReport(&metrics.UsageReport{}, &metrics.Attribution{}, l, Grouping{})
	if err := Sort(r, "cost"); err != nil {
		t.Fatal(err)
	}
	const want = `rest unattributed cost 1
  rest idle cost 1
rest idle cost 6
  rest n3 cost 3
  rest n2 cost 2
  rest n1 cost 1
`
	if got := outline(Limit(r, 1, 0).Rows); got != want {
		t.Errorf("rows:\n%swant:\n%s", got, want)
	}
}
