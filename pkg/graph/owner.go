package graph

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Reasons of a Problem.
const (
	OwnerAbsent           = "OwnerAbsent"
	OwnerReplaced         = "OwnerReplaced"
	OwnerMismatch         = "OwnerMismatch"
	OwnerForeignNamespace = "OwnerForeignNamespace"
	OwnerNamespaced       = "OwnerNamespaced"
	OwnerCycle            = "OwnerCycle"
)

// owned resolves an owner reference as the garbage collector does: by kind and
// name, in the namespace of the object or cluster-scoped, and then the UID must
// agree. Anything else is no owner, and is told.
func (r *resolver) owned(child inventory.ID, l *link) {
	target, uid := inventory.ID(l.target), r.uids[l.value]
	self, owner := r.inv.Ref(child), r.inv.Ref(target)
	if k, served := r.kinds.Kind(owner.GroupKind()); served && k.Namespaced && self.Namespace == "" {
		r.problem(self, OwnerNamespaced, "cluster-scoped, but its owner %s is of a namespaced kind", owner)
		return
	}
	if target == child {
		r.problem(self, OwnerCycle, "names itself as its owner")
		return
	}
	if r.inv.Present(target) && (uid == r.inv.RawUID(target) || r.inv.RawUID(target) == inventory.UID{}) {
		r.add(child, target, l)
		return
	}
	holder, ok := r.inv.ByUID(uid)
	switch {
	case ok && r.moved(holder, owner):
		r.add(child, holder, l)
	case ok:
		r.misnamed(self, owner, r.inv.Ref(holder))
	case r.inv.Present(target):
		r.problem(self, OwnerReplaced, "its owner %s is gone: the object of that name is a newer one (UID %s, not %s)", owner, r.inv.UID(target), r.uidText(l.value))
	default:
		if r.inv.Missing(target) {
			r.problem(self, OwnerAbsent, "its owner %s is not there", owner)
		}
		r.add(child, target, l)
	}
}

// moved says that the holder of the UID is the owner that was meant, under the
// group where its kind lives today (extensions before apps and networking).
func (r *resolver) moved(holder inventory.ID, owner object.Ref) bool {
	h := r.inv.Ref(holder)
	return h.Kind == owner.Kind && h.Name == owner.Name && h.Group != owner.Group && (h.Namespace == owner.Namespace || h.Namespace == "")
}

func (r *resolver) misnamed(self, named, holder object.Ref) {
	if holder.Namespace != "" && holder.Namespace != self.Namespace {
		r.problem(self, OwnerForeignNamespace, "its owner %s is in another namespace, which the garbage collector takes as absent", holder)
		return
	}
	r.problem(self, OwnerMismatch, "names its owner as %s, but that UID is %s", named, holder)
}

func (r *resolver) problem(o object.Ref, reason, format string, args ...any) {
	r.problems = append(r.problems, Problem{Object: o, Reason: reason, Message: fmt.Sprintf(format, args...)})
}
