package e2e

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

const (
	kettles = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kettles.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {kind: Kettle, plural: kettles, singular: kettle, listKind: KettleList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
	fullKettles = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE-other}
---
apiVersion: NAMESPACE.example.com/v1
kind: Kettle
metadata: {name: a, namespace: NAMESPACE, uid: 00000000-0000-4000-8000-000000000001}
---
apiVersion: NAMESPACE.example.com/v1
kind: Kettle
metadata: {name: b, namespace: NAMESPACE-other, uid: 00000000-0000-4000-8000-000000000002}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: of-a
  namespace: NAMESPACE
  ownerReferences: [{apiVersion: NAMESPACE.example.com/v1, kind: Kettle, name: a, uid: 00000000-0000-4000-8000-000000000001}]
---
apiVersion: v1
kind: Secret
metadata:
  name: of-b
  namespace: NAMESPACE-other
  ownerReferences: [{apiVersion: NAMESPACE.example.com/v1, kind: Kettle, name: b, uid: 00000000-0000-4000-8000-000000000002}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: NAMESPACE, uid: 00000000-0000-4000-8000-000000000003}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: NAMESPACE
  ownerReferences:
  - {apiVersion: NAMESPACE.example.com/v1, kind: Kettle, name: a, uid: 00000000-0000-4000-8000-000000000001}
  - {apiVersion: v1, kind: ConfigMap, name: other, uid: 00000000-0000-4000-8000-000000000003}
`
)

// What happens to APIs. It runs by itself: others ask for all kinds.
func TestImpactOfAPIs(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	in := func(s string) string { return strings.ReplaceAll(s, "NAMESPACE", ns) }
	definitions, err := apply.Parse([]byte(in(kettles)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, definitionsOf(c).Delete(context.Background(), definitions[0].GetName(), metav1.DeleteOptions{}))
		deleted(t, admin(c).CoreV1().Namespaces().Delete(context.Background(), ns+"-other", metav1.DeleteOptions{}))
	})
	applyText(t, c, in(kettles)) // first: the garbage collector takes its time to know them
	cluster.Eventually(t, limit, func() error { return served(c, definitions, true) })
	t.Run("aggregated", func(t *testing.T) { impactOfAggregation(t, c, c.Namespace(t)) })
	t.Run("converted", func(t *testing.T) { impactOfConversion(t, c, c.Namespace(t)) })
	t.Run("defined", func(t *testing.T) {
		impactOfDefinition(t, c, ns)
		cluster.Eventually(t, limit, func() error { return served(c, definitions, false) })
	})
}

// A definition takes along every object of its kind, wherever it is, and what they own.
func impactOfDefinition(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	in := func(s string) string { return strings.ReplaceAll(s, "NAMESPACE", ns) }
	collectsKind(t, c, ns, in("{apiVersion: NAMESPACE.example.com/v1, kind: Kettle}"))
	applyText(t, c, in(fullKettles))
	r := newRealm(t, c, ns, ns+"-other")
	im := r.asks("CustomResourceDefinition.apiextensions.k8s.io/kettles.NAMESPACE.example.com", []string{
		"deleted Kettle.NAMESPACE.example.com/NAMESPACE/a by definition", "deleted Kettle.NAMESPACE.example.com/NAMESPACE-other/b by definition",
		"deleted ConfigMap/NAMESPACE/of-a by owner", "deleted Secret/NAMESPACE-other/of-b by owner", "kept ConfigMap/NAMESPACE/shared: another owner",
	}, "-A")
	// By an APIService the API server notes for itself that it serves the group.
	r.deletes(im, "APIService.apiregistration.k8s.io/v1.NAMESPACE.example.com")
}
