package source_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

const dump = `
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: shop, labels: {app: web}}
- apiVersion: v1
  kind: Secret
  metadata: {name: tls, namespace: shop}
  data: {key: c2VjcmV0}
`

// A snapshot is read into an inventory: what is in it is there, and of its kinds
// what is not in it is missing.
func Example() {
	snapshot, err := source.Open("-", strings.NewReader(dump), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	inv := inventory.New(nil)
	if err := snapshot.Read(context.Background(), source.Query{All: true}, inv); err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range inv.Sorted(inv.Present) {
		fmt.Println(inv.Ref(id), inv.Labels(id))
	}
	other := object.Ref{Kind: "Secret", Namespace: "shop", Name: "other"}
	fmt.Println(other, "covered:", inv.Covered(other.GroupKind(), other.Namespace))
	// Output:
	// Pod/shop/web map[app:web]
	// Secret/shop/tls map[]
	// Secret/shop/other covered: true
}
