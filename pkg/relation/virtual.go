package relation

import "k8s.io/apimachinery/pkg/runtime/schema"

// Who may do something and is no object: the authenticator of the API server
// makes users and groups up.
var (
	user  = kind("rbac.authorization.k8s.io", "User")
	group = kind("rbac.authorization.k8s.io", "Group")
)

// IsVirtual says that a kind is one of names for which no object stands, so that
// none can be read or be missing.
func IsVirtual(gk schema.GroupKind) bool { return gk == user || gk == group }
