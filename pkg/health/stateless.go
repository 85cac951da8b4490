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

// Stateless says of a built-in kind that its objects have no state of their own: all
// that can be said of one is that it exists.
func Stateless(gk schema.GroupKind) bool { return statelessIndex()[gk] }
