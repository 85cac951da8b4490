package system_test

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// A manifest is read whole, or all that is wrong with it is told, with its place.
func ExampleParse() {
	sys, problems := system.Parse("shop.yaml", []byte(`
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - {name: db, roots: [statefulset/db]}
  - {name: web, roots: [deployment/web], on: {Stop: [{scale: {replicas: 0}}]}}
  dependencies:
  - {from: web, to: db, reason: it keeps its orders there}
`))
	fmt.Println(len(problems), sys.Name, sys.AppNames())

	_, problems = system.Parse("wrong.yaml", []byte(`
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop}
spec:
  apps:
  - {name: db, root: [statefulset/db]}
`))
	for _, p := range problems {
		fmt.Printf("%d:%d: %s\n", p.Line, p.Column, p.Message)
	}
	// Output:
	// 0 shop [db web]
	// 7:5: spec.apps[0]: the app is empty: expected roots, or resources
	// 7:16: spec.apps[0]: unknown key "root" (did you mean roots?)
}
