package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
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
			gk := declare.GroupKind(k.Kind)
			all = append(all, object.Resource{Group: gk.Group, Version: k.Versions[0], Kind: gk.Kind, Plural: strings.ToLower(gk.Kind), Namespaced: !k.ClusterScoped, Custom: true})
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
