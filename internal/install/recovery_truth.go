package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// heldAgainst checks the journal of a step against the cluster, and returns what undoing it will
// do.
func (x *run) heldAgainst(ctx context.Context, s *StepState) ([]RecoveryAct, error) {
	switch {
	case s.ofRelease():
		return x.heldRelease(ctx, s)
	case s.Kind == ApplyDefinitions:
		return x.heldDefinitions(ctx, s)
	case s.Kind == MakeNamespace:
		return x.heldNamespace(ctx, s)
	case len(s.Made)+len(s.Changed) > 0:
		return nil, x.tampered(s.ID, object.Ref{}, fmt.Sprintf("a step of kind %s creates nothing", s.Kind))
	}
	return nil, nil
}

// heldNamespace checks that a namespace carries the id of the run, which requires permission to
// write namespaces.
func (x *run) heldNamespace(ctx context.Context, s *StepState) ([]RecoveryAct, error) {
	var out []RecoveryAct
	for _, ref := range s.Made {
		if ref != namespaceRef(s.Namespace) {
			return nil, x.tampered(s.ID, ref, "the step creates the namespace "+s.Namespace)
		}
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		act := RecoveryAct{Verb: RecoverDelete, Object: ref, Note: "unless it has objects of others"}
		if current.GetAnnotations()[RunAnnotation] != x.j.Run.ID {
			act = RecoveryAct{Verb: RecoverLeave, Object: ref, Note: "it is not the one that this run created"}
		}
		out = append(out, act)
	}
	return out, nil
}

// heldDefinitions checks that each definition carries the id of the run that created it, or the
// hash of its before-image.
func (x *run) heldDefinitions(ctx context.Context, s *StepState) ([]RecoveryAct, error) {
	var out []RecoveryAct
	for _, b := range s.Changed {
		act, err := x.heldDefinition(ctx, s, b)
		if err != nil {
			return nil, err
		}
		if act.Verb != "" {
			out = append(out, act)
		}
	}
	for _, ref := range s.Made {
		if ref.GroupKind() != definitionKind {
			return nil, x.tampered(s.ID, ref, "it is not a CRD")
		}
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		act := RecoveryAct{Verb: RecoverDelete, Object: ref, Note: "unless it has custom resources"}
		if current.GetAnnotations()[RunAnnotation] != x.j.Run.ID {
			act = RecoveryAct{Verb: RecoverLeave, Object: ref, Note: "it is not the one that this run created"}
		}
		out = append(out, act)
	}
	return out, nil
}

func (x *run) heldDefinition(ctx context.Context, s *StepState, b BeforeImage) (RecoveryAct, error) {
	if b.Object.GroupKind() != definitionKind {
		return RecoveryAct{}, x.tampered(s.ID, b.Object, "it is not a CRD")
	}
	current, err := x.Objects.Get(ctx, b.Object)
	if apierrors.IsNotFound(err) {
		return RecoveryAct{Verb: RecoverLeave, Object: b.Object, Note: "it was deleted since"}, nil
	}
	if err != nil {
		return RecoveryAct{}, err
	}
	was, err := x.Store.LoadBefore(ctx, b)
	switch {
	case apierrors.IsNotFound(err):
		return RecoveryAct{Verb: RecoverLeave, Object: b.Object, Note: "its before-image no longer exists"}, nil
	case err != nil:
		return RecoveryAct{}, err
	case sameContent(current, was):
		return RecoveryAct{}, nil
	}
	switch run, sum := beforeMark(current); {
	case run != x.j.Run.ID:
		return RecoveryAct{Verb: RecoverLeave, Object: b.Object, Note: errNotApplied.Error()}, nil
	case sum != journal.Sum(was):
		return RecoveryAct{}, x.tampered(s.ID, b.Object, "its before-image ("+b.StoredIn+") does not match the checksum in the annotation of the CRD")
	}
	return RecoveryAct{Verb: RecoverRestore, Object: b.Object, Note: "if it was not changed since, and no object is stored in a new version"}, nil
}

// records are the records of a release, with what they prove about a run.
type records struct {
	list []helm.Record
	// mine has the objects of the records with the id of the run, hooks the objects of their hooks.
	mine, hooks map[object.Ref]bool
	// was has the objects of the record before the step.
	was map[object.Ref]bool
	// first is the first revision with the id; 0 for none.
	first int
}

func (x *run) recordsOf(ctx context.Context, s *StepState) (records, error) {
	list, err := x.Engine.History(ctx, helm.ReleaseName{Name: s.Release, Namespace: s.Namespace})
	if err != nil {
		return records{}, err
	}
	v := records{list: list, mine: map[object.Ref]bool{}, hooks: map[object.Ref]bool{}, was: map[object.Ref]bool{}}
	for i := range list {
		r := &list[i]
		if r.Revision == s.Was {
			for _, ref := range slices.Concat(r.Objects, r.Kept) {
				v.was[ref] = true
			}
		}
		if r.Marks.Run != x.j.Run.ID {
			continue
		}
		if v.first == 0 {
			v.first = r.Revision
		}
		if objects, err := helm.ObjectsIn(r.Manifest); err == nil {
			for _, o := range objects {
				x.programs = append(x.programs, programsOf(o)...)
			}
		}
		for _, ref := range slices.Concat(r.Objects, r.Kept) {
			v.mine[ref] = true
		}
		for _, h := range r.Hooks {
			v.mine[h.Object], v.hooks[h.Object] = true, true
		}
	}
	return v, nil
}

// former reports whether a step may roll back to a revision: the last deployed one before the run,
// or one that the run created when it rolled back to that.
func (v records) former(s *StepState, run string) bool {
	ok := map[int]bool{}
	base := 0
	for _, r := range v.list {
		if r.Marks.Run != run && (v.first == 0 || r.Revision < v.first) && (r.Status == helm.Deployed || r.Status == helm.Superseded) {
			base = r.Revision
		}
	}
	ok[base] = base > 0
	if s.Kind == RemoveRelease {
		ok[v.first] = v.first > 0 // an uninstallation marks the existing record
	}
	for _, r := range v.list {
		if r.Marks.Run == run && ok[r.RollbackOf] {
			ok[r.Revision] = true
		}
	}
	return ok[s.Was]
}

// heldRelease checks a release by its records with the id of the run.
func (x *run) heldRelease(ctx context.Context, s *StepState) ([]RecoveryAct, error) {
	v, err := x.recordsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []RecoveryAct
	name := helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}
	if len(v.list) > 0 {
		last := v.list[len(v.list)-1]
		action, reason := x.recoveryActionOf(ctx, v.list, s)
		switch action {
		case recoverUninstall:
			out = append(out, RecoveryAct{Verb: RecoverUninstall, Release: name, Objects: last.Objects})
		case recoverRollback, recoverReturned:
			if !v.former(s, x.j.Run.ID) {
				return nil, x.tampered(s.ID, object.Ref{}, fmt.Sprintf("revision %d of release %s is not the one before the run", s.Was, name))
			}
			out = append(out, RecoveryAct{Verb: RecoverRollback, Release: name, Revision: s.Was, Objects: objectsAt(v.list, s.Was)})
		case recoverLeave:
			return append(out, RecoveryAct{Verb: RecoverLeave, Release: name, Note: reason}), nil
		}
	}
	for _, b := range s.Changed {
		act, err := x.heldBefore(ctx, s, v, b)
		if err != nil {
			return nil, err
		}
		if act.Verb != "" {
			out = append(out, act)
		}
	}
	created, err := x.heldMade(ctx, s, v)
	return append(out, created...), err
}

func objectsAt(list []helm.Record, revision int) []object.Ref {
	for _, r := range list {
		if r.Revision == revision {
			return slices.Concat(r.Objects, r.Kept)
		}
	}
	return nil
}

// heldMade checks that the run's own records have the objects to delete, and the former release had
// not.
func (x *run) heldMade(ctx context.Context, s *StepState, v records) ([]RecoveryAct, error) {
	var out []RecoveryAct
	for _, ref := range s.Made {
		_, err := x.Objects.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", ref, err)
		case !v.mine[ref] || v.was[ref] && !v.hooks[ref]:
			return nil, x.tampered(s.ID, ref, fmt.Sprintf("no record of release %s/%s says that this run created it", s.Namespace, s.Release))
		}
		out = append(out, RecoveryAct{Verb: RecoverDelete, Object: ref})
	}
	return out, nil
}

// heldBefore checks that the run's own records have the object to restore. A before-image is proven
// if this process saved it. Any other is written only if the permission to write before-images
// implies the permission to write the object.
func (x *run) heldBefore(ctx context.Context, s *StepState, v records, b BeforeImage) (RecoveryAct, error) {
	current, err := x.Objects.Get(ctx, b.Object)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return RecoveryAct{}, fmt.Errorf("read %s: %w", b.Object, err)
	}
	was, err := x.Store.LoadBefore(ctx, b)
	if err != nil && !apierrors.IsNotFound(err) {
		return RecoveryAct{}, err
	}
	unreadable := err != nil
	switch {
	case !v.mine[b.Object] && (v.first > 0 || gone || unreadable || !sameContent(current, was)):
		return RecoveryAct{}, x.tampered(s.ID, b.Object, fmt.Sprintf("no record of release %s/%s says that this run changed it", s.Namespace, s.Release))
	case !v.mine[b.Object], !unreadable && !gone && sameContent(current, was):
		return RecoveryAct{}, nil
	case unreadable:
		x.left[b.Object] = "its before-image no longer exists"
		return RecoveryAct{Verb: RecoverLeave, Object: b.Object, Note: x.left[b.Object]}, nil
	}
	if reason := x.unproven(s, b.Object); reason != "" {
		resource, at := b.Resource()
		x.left[b.Object] = fmt.Sprintf("%s, and its before-image cannot be verified: read %s %s in %s (%s), and restore it by hand", reason, resource, at, x.of.Namespace, journal.ImageKey)
		return RecoveryAct{Verb: RecoverLeave, Object: b.Object, Note: x.left[b.Object]}, nil
	}
	return RecoveryAct{Verb: RecoverRestore, Object: b.Object}, nil
}

// unproven returns why a before-image cannot be verified; empty if it may be written.
func (x *run) unproven(s *StepState, ref object.Ref) string {
	switch {
	case ref.Group == permission.RolesGroup:
		return "it grants permissions"
	case ref.Namespace == "":
		return "it is cluster-scoped"
	case ref.Namespace != s.Namespace || ref.Namespace != x.of.Namespace:
		return "it is in another namespace than the journal"
	}
	return ""
}
