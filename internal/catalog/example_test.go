package catalog_test

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What is known of operators is asked by what a cluster serves: rules of kinds that are
// not there are left out.
func ExampleRules() {
	kinds := object.NewKinds([]object.Resource{
		{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster", Plural: "clusters", Namespaced: true, Custom: true},
	})
	for _, e := range catalog.Of(kinds) {
		fmt.Println(e.Name)
	}
	fmt.Println(len(catalog.Rules(kinds)) > 0, len(catalog.Rules(object.NewKinds(nil))))
	// Output:
	// cloudnative-pg
	// true 0
}
