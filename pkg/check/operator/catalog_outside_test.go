package operator_test

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var _ = checktest.SetCatalogued(func(gk schema.GroupKind) (string, bool) {
	e, _, ok := catalog.KindOf(object.Resource{Group: gk.Group, Kind: gk.Kind})
	return e.Name, ok
})
