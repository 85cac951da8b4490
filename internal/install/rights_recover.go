package install

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// RecoveryRights is what recovering a run takes: the journal and the lock, the records of
// releases, and every object that is deleted, brought back or given back. They are sorted,
// each once.
func RecoveryRights(target Installation, p RecoveryPlan, kinds *object.Kinds) []regulate.Permission {
	if p.What == RecoveredNothing {
		return nil
	}
	r := &rightsOfRun{plan: &Plan{Installation: target}, state: &State{Namespaces: map[string]string{target.Namespace: "Active"}}, kinds: kindsWith(kinds, nil), set: map[regulate.Permission]bool{}}
	r.keeping()
	for _, a := range p.Acts {
		switch {
		case a.Verb == RecoverLeave:
		case a.Release != (ReleaseName{}):
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

// recoverRelease is what Helm takes: its records, and the objects of the release.
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

// recoverClaims is what leaving claims takes that were there before: which StatefulSets have any
// deleted, is not known of their references. Who may not do it is refused where there are some.
func (r *rightsOfRun) recoverClaims(a RecoveryAct) {
	for _, ref := range a.Objects {
		if ref.GroupKind() == statefulSetKind {
			right := regulate.Permission{Resource: "persistentvolumeclaims", Namespace: cmp.Or(ref.Namespace, a.Release.Namespace), Optional: true}
			r.add(right, "get", "list", "update")
		}
	}
}
