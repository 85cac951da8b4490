package health_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// A custom resource that says nothing of itself, and the Deployment that its operator made.
const quiet = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: shop, uid: a}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: one, namespace: shop, uid: b, generation: 1, ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: one, uid: a, controller: true}]}
spec: {selector: {matchLabels: {app: one}}}
status:
  observedGeneration: 1
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]
`

// The health of a stack is the worst of what its roots own and need, and names the part
// that makes it so: not the root, which has its health from there.
func ExampleAssess() {
	ctx := context.Background()
	snapshot, err := source.Open("-", strings.NewReader(quiet), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	kinds, err := snapshot.Kinds(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdicts := health.NewCollector(health.NewEvaluator(time.Now()))
	links := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, links.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		verdicts.Add(o)
		return nil
	})
	if err := snapshot.Read(ctx, source.Query{All: true}, inv); err != nil {
		fmt.Println(err)
		return
	}
	g := links.Build(inv)

	fares := health.Assess(g, func(id graph.ID) (health.Health, bool) { return verdicts.Health(g.Ref(id)) })
	root, _ := g.Find(object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "one"})
	stack := fares.Stack(g.Stack([]graph.ID{root}, graph.StackOptions{}))
	fmt.Println("the stack is", stack.Status)
	for _, c := range stack.Causes {
		fmt.Println("because of", g.Ref(c.ID).String()+":", c.Health.Message)
	}
	// Output:
	// the stack is Degraded
	// because of Deployment.apps/shop/one: 0/1 replicas available; the rollout made no progress
}

// A rule in CEL of somebody's own, refused with its place where it is wrong.
func ExampleParseRules() {
	rules, problems := health.ParseRules("rules.yaml", []byte(`
- kind: Widget.example.com
  healthy: status.?phase.orValue("") == "Up"
`))
	fmt.Println(len(rules), len(problems))
	_, problems = health.ParseRules("rules.yaml", []byte(`
- kind: Widget.example.com
  healthy: status.phase = "Up"
`))
	for _, p := range problems {
		fmt.Println("line", p.Line)
	}
	// Output:
	// 1 0
	// line 3
}
