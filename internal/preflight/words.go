package preflight

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// countText writes a number of things: 1 pod, 3 pods.
func countText(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"), strings.HasSuffix(what, "x"):
		return fmt.Sprintf("%d %ses", n, what)
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// near writes an object for people who look at one of a namespace.
func near(r object.Ref, namespace string) string {
	if r.Namespace == namespace {
		r.Namespace = ""
	}
	return plain(r)
}

// plain writes an object without its group, as people call it: Deployment/shop/web.
func plain(r object.Ref) string {
	r.Group = ""
	return r.String()
}

// unread is the word for a kind that may not be looked at.
func unread(gk schema.GroupKind, namespace string) string {
	in := "of the cluster"
	if namespace != "" {
		in = "of namespace " + namespace
	}
	return fmt.Sprintf("the %s %s could not be read", cmp.Or(plurals[gk], gk.String()+" objects"), in)
}

// plurals are for people.
var plurals = map[schema.GroupKind]string{
	quotaKind: "ResourceQuotas", limitKind: "LimitRanges", claimKind: "PersistentVolumeClaims", classKind: "StorageClasses",
	volumeKind: "PersistentVolumes", namespaceKind: "Namespaces", podKind: "Pods", nodeKind: "Nodes", secretKind: "Secrets",
	configMapKind: "ConfigMaps", accountKind: "ServiceAccounts", priorityKind: "PriorityClasses", runtimeKind: "RuntimeClasses",
}
