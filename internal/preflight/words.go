package preflight

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// near writes an object in a sentence about one of a namespace.
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

// unread says that a kind could not be read.
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
	volumeKind: "PersistentVolumes", namespaceKind: "Namespaces", check.PodKind: "Pods", check.NodeKind: "Nodes", secretKind: "Secrets",
	configMapKind: "ConfigMaps", accountKind: "ServiceAccounts", priorityKind: "PriorityClasses", runtimeKind: "RuntimeClasses",
}
