package relation

import "k8s.io/apimachinery/pkg/runtime/schema"

// Subjects that are no objects: the authenticators of the API server invent users and groups.
var (
	user  = kind("rbac.authorization.k8s.io", "User")
	group = kind("rbac.authorization.k8s.io", "Group")
)

// IsVirtual reports whether a kind consists of names without objects, which can be neither read nor
// missing.
func IsVirtual(gk schema.GroupKind) bool { return gk == user || gk == group }
