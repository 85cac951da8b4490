package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// defaultsOf returns names of objects of a kind that the control plane creates in every cluster:
// the Namespaces, the roles and bindings of Kubernetes' own policy, the priority classes and the
// initial flow control. A complete list of the kind has them, so a dump without any is a selection.
// more reports further names: those of system:, and any Namespace, which exists if it contains
// something.
func defaultsOf(gk schema.GroupKind, namespace string) (names []string, isDefault func(name string) bool) {
	none := func(string) bool { return false }
	system := func(name string) bool { return strings.HasPrefix(name, "system:") }
	switch gk.String() + "/" + namespace {
	case "Namespace/":
		return []string{"default", "kube-system", "kube-public", "kube-node-lease"}, func(string) bool { return true }
	case "ClusterRole.rbac.authorization.k8s.io/":
		return []string{"cluster-admin", "admin", "edit", "view"}, system
	case "ClusterRoleBinding.rbac.authorization.k8s.io/":
		return []string{"cluster-admin", "system:basic-user", "system:discovery"}, system
	case "Role.rbac.authorization.k8s.io/kube-system":
		return []string{"extension-apiserver-authentication-reader", "system::leader-locking-kube-scheduler"}, system
	case "PriorityClass.scheduling.k8s.io/":
		return []string{"system-cluster-critical", "system-node-critical"}, none
	case "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io/":
		return []string{"exempt", "catch-all", "system", "node-high", "leader-election", "workload-high", "workload-low", "global-default"}, none
	}
	return nil, none
}

// missing reports whether the object of a row is known not to exist. A complete list is no proof
// for an object that every cluster has if the list has none of those: then it came from a partial
// dump.
func missing(inv *inventory.Inventory, row inventory.ID) bool {
	if !inv.Missing(row) {
		return false
	}
	r := inv.Ref(row)
	return !inv.Covered(r.GroupKind(), r.Namespace) || !leftOut(inv, r)
}

// leftOut reports whether every cluster has the object and none of its group was read.
func leftOut(inv *inventory.Inventory, r object.Ref) bool {
	names, isDefault := defaultsOf(r.GroupKind(), r.Namespace)
	if !slices.Contains(names, r.Name) && !isDefault(r.Name) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		like := r
		like.Name = name
		row, named := inv.Find(like)
		return named && inv.Present(row)
	})
}
