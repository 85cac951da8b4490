package install

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// RecoveryRights returns the permissions that recovering a run needs: the journal and the lease,
// the records of releases, and every object that is deleted or restored; sorted, without
// duplicates.
func RecoveryRights(target Installation, p RecoveryPlan, kinds *object.Kinds) []regulate.Permission {
	if p.What == RecoveredNothing {
		return nil
	}
	r := &rightsOfRun{plan: &Plan{Installation: target}, state: &State{Namespaces: map[string]string{target.Namespace: "Active"}}, kinds: kindsWith(kinds, nil), set: map[regulate.Permission]bool{}}
	r.keeping()
	for _, a := range p.Acts {
		switch {
		case a.Verb == RecoverLeave:
		case a.Release != (helm.ReleaseName{}):
			r.recoverRelease(a)
		case a.Object.GroupKind() == namespaceKind:
			ns := regulate.Permission{Resource: "namespaces", Name: a.Object.Name}
			r.add(ns, "delete", "get")
			r.add(regulate.Permission{Group: "*", Resource: "*", Namespace: a.Object.Name, Optional: true}, "list")
		case a.Verb == RecoverDelete:
			r.object(a.Object, "", "delete", "get")
		default:
			r.object(a.Object, "", "create", "get", "update")
		}
	}
	return slices.SortedFunc(maps.Keys(r.set), compareRights)
}

// recoverRelease adds what Helm needs: its records, and the objects of the release.
func (r *rightsOfRun) recoverRelease(a RecoveryAct) {
	r.add(regulate.Permission{Resource: "secrets", Namespace: a.Release.Namespace}, "create", "delete", "get", "list", "update")
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
			right := regulate.Permission{Resource: "persistentvolumeclaims", Namespace: cmp.Or(ref.Namespace, a.Release.Namespace), Optional: true}
			r.add(right, "get", "list", "update")
		}
	}
}
