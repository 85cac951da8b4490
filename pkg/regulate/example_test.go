package regulate_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const shop = `
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - {name: db, roots: [deployment/db]}
  - name: web
    roots: [deployment/web]
    on:
      Stop: [{scale: {replicas: 0}}]
  regulation:
    rules:
    - {name: trouble, when: {app: db, health: [Degraded], for: 0s}, signal: Stop, to: neighbours}
`

// The database has not come up in time, and web has its address in an environment variable.
const shopObjects = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, namespace: shop, uid: a, generation: 1}
spec:
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: postgres}]}}
status:
  observedGeneration: 1
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop, uid: b}
spec: {selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: c, generation: 1}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: DB, value: "db:5432"}]}]}
status:
  observedGeneration: 1
  replicas: 3
  updatedReplicas: 3
  readyReplicas: 3
  availableReplicas: 3
  conditions: [{type: Available, status: "True"}]
`

// A system is observed, and what is to be done about it is planned: nothing is written.
func Example() {
	sys, problems := system.Parse("shop.yaml", []byte(shop))
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	in, err := observation(sys, shopObjects, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	world := regulate.Observe(in)
	for _, app := range world.Apps {
		fmt.Println(app.Name, app.Health)
		for _, need := range app.Needs {
			fmt.Printf("  needs %s: %s\n", need.App, need.Edge.Why())
		}
	}
	plan := regulate.NewPlan(world, sys, &regulate.Journal{System: sys.Name, Namespace: sys.Namespace}, now)
	for _, step := range plan.Steps {
		fmt.Println(step.Verb, step.App, step.Signal+":", step.Why)
	}
	// Output:
	// db Degraded
	// web Healthy
	//   needs db: spec.template.spec.containers[0].env[0].value = "db:5432"
	// Send web Stop: db is Degraded for 0 s (rule trouble, for 0 s): Deployment/db: 0/1 replicas available; the rollout made no progress
}

// observation reads objects as a cluster would show them at a moment.
func observation(sys *system.System, objects string, now time.Time) (regulate.Observation, error) {
	ctx := context.Background()
	snapshot, err := source.Open("-", strings.NewReader(objects), nil)
	if err != nil {
		return regulate.Observation{}, err
	}
	kinds, err := snapshot.Kinds(ctx, nil)
	if err != nil {
		return regulate.Observation{}, err
	}
	known := signals.NewSet(nil, nil)
	links := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	verdicts := health.NewCollector(health.NewEvaluator(now))
	facts := regulate.NewCollector(sys, known)
	inv := inventory.New(nil, links.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		verdicts.Add(o)
		facts.Add(o)
		return nil
	})
	if err := snapshot.Reading(readAs).Read(ctx, source.Query{All: true}, inv); err != nil {
		return regulate.Observation{}, err
	}
	g := links.Build(inv)
	return regulate.Observation{
		System: sys, Graph: g, Kinds: kinds, Facts: facts, Signals: known,
		Health: health.Assess(g, func(id graph.ID) (health.Health, bool) { return verdicts.Health(g.Ref(id)) }),
	}, nil
}
