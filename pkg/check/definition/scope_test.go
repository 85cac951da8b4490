package definition

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func TestScopeOfDefinitions(t *testing.T) {
	const world = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.example.org}
spec: {group: example.org, scope: SCOPE, names: {plural: boats, singular: boat, kind: Boat}, versions: [{name: v1, served: true, storage: true}]}
`
	const boat = `---
apiVersion: example.org/v1
kind: Boat
metadata: {name: one, uid: 00000000-0000-0000-0000-000000000001}
`
	const workload = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: one, namespace: sea, ownerReferences: [{apiVersion: example.org/v1, kind: Boat, name: one, uid: 00000000-0000-0000-0000-000000000001}]}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "x:1"}]}}}
`
	for name, c := range map[string]struct {
		text, scope string
		wrong, fine int
	}{
		"namespaced":                 {world, "Namespaced", 0, 1},
		"cluster, no objects":        {world, "Cluster", 0, 0},
		"cluster, configuration":     {world + boat, "Cluster", 0, 1},
		"cluster, owns pods in some": {world + boat + workload, "Cluster", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.Replace(c.text, "SCOPE", c.scope, 1))
			r := checktest.Only(t, Rules(), "crd-namespaced", w.Definition("boats.example.org").Check)
			if len(r.Findings) != c.wrong || len(r.Passed) != c.fine {
				t.Errorf("wrong %v, right %v", r.Findings, r.Passed)
			}
		})
	}
}
