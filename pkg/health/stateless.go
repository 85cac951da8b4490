package health

import "k8s.io/apimachinery/pkg/runtime/schema"

// Stateless says of a built-in kind that its objects have no state of their own: all
// that can be said of one is that it exists.
func Stateless(gk schema.GroupKind) bool { return false }
