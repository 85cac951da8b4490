package catalog_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// BenchmarkRules is what the catalogue costs each question: of a cluster that
// serves none of its kinds, and of one that serves all of them, each beside 300
// custom kinds of others.
func BenchmarkRules(b *testing.B) {
	var others, all []object.Resource
	for i := range 300 {
		others = append(others, object.Resource{Group: "example.com", Version: "v1", Kind: fmt.Sprint("Kind", i), Plural: fmt.Sprint("kinds", i), Namespaced: true, Custom: true})
	}
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			all = append(all, k.Resource())
		}
	}
	for name, kinds := range map[string]*object.Kinds{"none": object.NewKinds(others), "all": object.NewKinds(append(all, others...))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				catalog.Rules(kinds)
			}
		})
	}
}
