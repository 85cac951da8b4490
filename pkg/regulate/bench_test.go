package regulate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// many is a system of n apps, each of which needs the one before, of ten objects and more.
func many(n, pods int) (manifest, objects string) {
	var m, b strings.Builder
	m.WriteString("apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: many, namespace: shop}\nspec:\n  apps:\n")
	for i := range n {
		fmt.Fprintf(&m, "  - {name: a%d, roots: [deployment/a%d]}\n", i, i)
		fmt.Fprintf(&b, `apiVersion: v1
kind: Service
metadata: {name: a%[1]d, namespace: shop, uid: s%[1]d}
spec: {selector: {app: a%[1]d}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a%[1]d, namespace: shop, uid: d%[1]d}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: a%[1]d}}
  template: {metadata: {labels: {app: a%[1]d}}, spec: {containers: [{name: c, image: "x:1", env: [{name: UP_HOST, value: a%[2]d}]}]}}
---
`, i, max(0, i-1), pods)
		for p := range pods {
			fmt.Fprintf(&b, `apiVersion: v1
kind: Pod
metadata: {name: a%[1]d-%[2]d, namespace: shop, uid: p%[1]d-%[2]d, labels: {app: a%[1]d}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: a%[1]d, uid: d%[1]d, controller: true}]}
spec: {containers: [{name: c, image: "x:1", env: [{name: UP_HOST, value: a%[3]d}]}]}
status: {phase: Running}
---
`, i, p, max(0, i-1))
		}
	}
	return m.String(), b.String()
}

// BenchmarkObserve makes a world of 200 apps over 10,000 objects.
func BenchmarkObserve(b *testing.B) {
	s := look(b, first(many(200, 48)), second(many(200, 48)))
	b.ReportAllocs()
	for b.Loop() {
		if w := regulate.Observe(s.in); len(w.Apps[199].Needs) != 1 {
			b.Fatal(w.Apps[199].Needs)
		}
	}
}

// BenchmarkNeighbours follows a chain of 200 apps.
func BenchmarkNeighbours(b *testing.B) {
	w := regulate.Observe(look(b, first(many(200, 0)), second(many(200, 0))).in)
	for b.Loop() {
		if n := regulate.Neighbours(w, "a0", true); len(n) != 199 {
			b.Fatal(len(n))
		}
	}
}

func first(a, _ string) string  { return a }
func second(_, b string) string { return b }
