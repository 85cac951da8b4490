package health

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var statelessIndex = sync.OnceValue(func() map[schema.GroupKind]bool {
	index := map[schema.GroupKind]bool{}
	for _, r := range statelessKinds() {
		index[schema.GroupKind{Group: r.group, Kind: r.kind}] = true
	}
	return index
})

// Stateless reports built-in kinds whose objects have no state: they exist, and that is all.
func Stateless(gk schema.GroupKind) bool { return statelessIndex()[gk] }
