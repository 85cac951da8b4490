package crd_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/crd"
)

const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: %s}%s}}}}}
`

// A definition that takes a field away and gives another one a new type is held against
// the one before it, and against the objects that are there.
func ExampleCheckUpgrade() {
	former := read(fmt.Sprintf(gadgets, "integer", ", color: {type: string}"))
	next := read(fmt.Sprintf(gadgets, "string", ""))
	one := read(`{apiVersion: example.com/v1, kind: Gadget, metadata: {name: one, namespace: shop}, spec: {size: 3}}`)
	verdict, err := crd.CheckUpgrade(former, next, []*unstructured.Unstructured{one})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range verdict.Changes {
		fmt.Println(c.Severity, c.Rule, c.Field)
	}
	for _, b := range verdict.Broken {
		fmt.Println(b.Object, b.Field)
	}
	fmt.Println(len(verdict.Refused) > 0, "even with force")
	// Output:
	// unsafe field-removed spec.color
	// unsafe type-changed spec.size
	// Gadget.example.com/shop/one spec.size
	// true even with force
}

func read(text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		panic(err)
	}
	return u
}
