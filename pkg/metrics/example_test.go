package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Two pods of a workload of which the metrics server knows one.
const measured = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop, uid: a}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: shop, uid: b, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: a, controller: true}]}
spec: {nodeName: one, containers: [{name: db, resources: {requests: {cpu: 500m}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: db-1, namespace: shop, uid: c, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: a, controller: true}]}
spec: {nodeName: one, containers: [{name: db, resources: {requests: {cpu: 500m}}}]}
status: {phase: Running}
---
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: db-0, namespace: shop}
timestamp: "2026-11-01T12:00:00Z"
window: 15s
containers: [{name: db, usage: {cpu: 700m, memory: 256Mi}}]
`

// What a stack uses, by the metrics API of a snapshot. A pod that is not measured has no
// usage, which is not a usage of 0; it is charged for what it requests.
func Example() {
	ctx := context.Background()
	snapshot, err := source.Open("-", strings.NewReader(measured), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	kinds, err := snapshot.Kinds(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	facts := &metrics.Collector{}
	links := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, links.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	})
	if err := snapshot.Read(ctx, source.Query{All: true}, inv); err != nil {
		fmt.Println(err)
		return
	}
	g := links.Build(inv)

	reading := facts.Report(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), metrics.ReportOptions{Whole: true})
	if err := metrics.NewAPI(snapshot.Get, true).Measure(ctx, reading); err != nil {
		fmt.Println(err)
		return
	}
	metrics.Settle(reading)

	db := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	root, _ := g.Find(db)
	placed := metrics.NewPlacement(g, []metrics.Stack{{Ref: db, Roots: []graph.ID{root}}}, reading, graph.StackOptions{})
	for _, p := range reading.Pods {
		fmt.Println(p.Ref, "of", placed.Of[p.Ref].Stacks)
		if used, known := p.Used.Lookup(metrics.CPU); known {
			fmt.Print("  used ", used)
		} else {
			fmt.Print("  used: ", p.Unmeasured, ";")
		}
		fmt.Println(" requested", p.Requested.Value(metrics.CPU))
	}
	// Output:
	// Pod/shop/db-0 of [StatefulSet.apps/shop/db]
	//   used 0.7 requested 0.5
	// Pod/shop/db-1 of [StatefulSet.apps/shop/db]
	//   used: no sample yet; requested 0.5
}
