package install

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// Recovering asks for the rights to what it writes, and to nothing that it leaves.
func TestRecoveryRights(t *testing.T) {
	kinds := object.NewKinds([]object.Resource{
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
		{Group: permission.RolesGroup, Version: "v1", Kind: "ClusterRole", Plural: "clusterroles"},
		{Group: permission.RolesGroup, Version: "v1", Kind: "ClusterRoleBinding", Plural: "clusterrolebindings"},
	})
	role := object.Ref{Group: permission.RolesGroup, Kind: "ClusterRole", Name: "view"}
	plan := RecoveryPlan{What: RecoveredUndone, Acts: []RecoveryAct{
		{Verb: RecoverRollback, Release: helm.ReleaseName{Name: "db", Namespace: "apps"}, Revision: 1, Objects: []object.Ref{role}},
		{Verb: RecoverDelete, Object: object.Ref{Kind: "ConfigMap", Namespace: "apps", Name: "hook"}},
		{Verb: RecoverLeave, Object: adminBinding},
		{Verb: RecoverDelete, Object: namespaceRef("made")},
	}}
	got := RecoveryRights(shopHere, plan, kinds)
	for _, want := range []permission.Permission{
		{Verb: "create", Group: permission.RolesGroup, Resource: "clusterroles"},
		{Verb: "patch", Group: permission.RolesGroup, Resource: "clusterroles", Name: "view"},
		{Verb: "update", Resource: "secrets", Namespace: "apps"},
		{Verb: "update", Resource: "configmaps", Namespace: "apps"},
		{Verb: "delete", Resource: "configmaps", Namespace: "apps"},
		{Verb: "delete", Resource: "namespaces", Name: "made"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no right to %s in %v", want, got)
		}
	}
	if slices.ContainsFunc(got, func(r permission.Permission) bool { return r.Resource == "clusterrolebindings" }) {
		t.Errorf("rights to what is left: %v", got)
	}
	if got := RecoveryRights(shopHere, RecoveryPlan{What: RecoveredNothing}, kinds); len(got) > 0 {
		t.Errorf("rights for nothing: %v", got)
	}
}
