package install

import (
	"cmp"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// RecoveryRights returns the permissions that recovering a run needs: the journal and the lease,
// the records of releases, and every object that is deleted or restored; sorted, without
// duplicates.
func RecoveryRights(target Installation, p RecoveryPlan, kinds *object.Kinds) []permission.Permission {
	if p.What == RecoveredNothing {
		return nil
	}
	r := &rightsOfRun{plan: &Plan{Installation: target}, state: &State{Namespaces: map[string]string{target.Namespace: "Active"}}, kinds: kindsWith(kinds, nil), Set: permission.Set{}}
	r.keeping()
	for _, a := range p.Acts {
		switch {
		case a.Verb == RecoverLeave:
		case a.Release != (helm.ReleaseName{}):
			r.recoverRelease(a)
		case a.Object.GroupKind() == namespaceKind:
			ns := permission.Permission{Resource: "namespaces", Name: a.Object.Name}
			r.Add(ns, "delete", "get")
			r.Add(permission.Permission{Group: "*", Resource: "*", Namespace: a.Object.Name, Optional: true}, "list")
		case a.Verb == RecoverDelete:
			r.object(a.Object, "", "delete", "get")
		default:
			r.object(a.Object, "", "create", "get", "update")
		}
	}
	return r.List()
}

// recoverRelease adds what Helm needs: its records, and the objects of the release.
func (r *rightsOfRun) recoverRelease(a RecoveryAct) {
	r.Add(permission.Permission{Resource: "secrets", Namespace: a.Release.Namespace}, "create", "delete", "get", "list", "update")
	verbs := []string{"delete", "get", "update"}
	if a.Verb == RecoverRollback {
		verbs = append(verbs, "create", "patch")
	}
	for _, ref := range a.Objects {
		r.object(ref, a.Release.Namespace, verbs...)
	}
	r.recoverOrdered(a)
	r.recoverClaims(a)
}

// recoverClaims adds keeping claims from before the run. References do not tell which StatefulSets
// have claims deleted; if there are some and the permission is missing, the undo is refused.
func (r *rightsOfRun) recoverClaims(a RecoveryAct) {
	for _, ref := range a.Objects {
		if ref.GroupKind() == statefulSetKind {
			right := permission.Permission{Resource: "persistentvolumeclaims", Namespace: cmp.Or(ref.Namespace, a.Release.Namespace), Optional: true}
			r.Add(right, "get", "list", "update")
		}
	}
}
