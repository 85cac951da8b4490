package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RecoveryLosses returns the claims and custom resources that recovering a run deletes with their
// data, sorted; they require an explicit consent. Definitions that have objects stay, and so do
// claims from before the run. Custom resources count only if a manager other than Helm has written
// to them: no operator has acted on the others. An object that cannot be read is an error.
func (r *Runner) RecoveryLosses(ctx context.Context, target Installation, p RecoveryPlan, kinds *object.Kinds) ([]object.Ref, error) {
	l := &recoveryLosses{run: &run{Runner: r, of: target, j: &Journal{Installation: target, Run: &p.Run}}, kinds: kindsWith(kinds, nil), found: map[object.Ref]bool{}}
	for _, a := range p.Acts {
		if err := l.act(ctx, a); err != nil {
			return nil, err
		}
	}
	var out []object.Ref
	for ref := range l.found {
		out = append(out, ref)
	}
	return sortRefs(out), nil
}

// recoveryLosses collects the data that recovering a run deletes.
type recoveryLosses struct {
	*run
	kinds *object.Kinds
	found map[object.Ref]bool
}

func (l *recoveryLosses) act(ctx context.Context, a RecoveryAct) error {
	switch {
	case a.Verb == RecoverUninstall, a.Verb == RecoverRollback:
		return l.release(ctx, a)
	case a.Verb == RecoverDelete && a.Object.GroupKind() == namespaceKind:
		return l.namespace(ctx, a.Object.Name)
	case a.Verb == RecoverDelete && a.Object.GroupKind() != definitionKind:
		return l.object(ctx, a.Object, l.stepThatMade(a.Object))
	}
	return nil
}

// release adds the losses of a release. An uninstallation deletes all its objects, except those of
// other managers and those from before the run; a rollback deletes those that the run added.
func (l *recoveryLosses) release(ctx context.Context, a RecoveryAct) error {
	for i := range l.j.Run.Steps {
		s := &l.j.Run.Steps[i]
		if !s.ofRelease() || s.Release != a.Release.Name || s.Namespace != a.Release.Namespace {
			continue
		}
		if s.Kind == RemoveRelease && a.Verb == RecoverUninstall { // its removal is completed, so all its objects go
			return l.all(ctx, a.Objects, nil)
		}
		list, err := l.Engine.History(ctx, a.Release)
		if err != nil {
			return err
		}
		refs, err := l.broughtBy(ctx, list, s)
		if err != nil {
			return err
		}
		if err := l.all(ctx, refs, s); err != nil {
			return err
		}
		if a.Verb != RecoverRollback {
			continue
		}
		_, scaled, err := l.scaledBack(ctx, list, s)
		if err != nil {
			return err
		}
		for _, claim := range scaled {
			l.found[claim] = true
		}
	}
	return nil
}

func (l *recoveryLosses) all(ctx context.Context, refs []object.Ref, s *StepState) error {
	for _, ref := range refs {
		if err := l.object(ctx, ref, s); err != nil {
			return err
		}
	}
	return nil
}

func (l *recoveryLosses) stepThatMade(ref object.Ref) *StepState {
	for i := range l.j.Run.Steps {
		if s := &l.j.Run.Steps[i]; slices.Contains(s.Made, ref) {
			return s
		}
	}
	return &StepState{}
}

// object adds the losses of one deleted object.
func (l *recoveryLosses) object(ctx context.Context, ref object.Ref, s *StepState) error {
	kind, _ := l.kinds.Kind(ref.GroupKind())
	if !kind.Custom && ref.GroupKind() != claimKind && ref.GroupKind() != statefulSetKind {
		return nil
	}
	current, err := l.Objects.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	switch {
	case ref.GroupKind() == statefulSetKind:
		return l.claimsOfSet(ctx, current, s)
	case ref.GroupKind() == claimKind, takenUp(current):
		l.found[ref] = true
	}
	return nil
}

func (l *recoveryLosses) claimsOfSet(ctx context.Context, set *unstructured.Unstructured, s *StepState) error {
	if len(claimPrefixes(set)) == 0 {
		return nil
	}
	all, err := claimsOf(ctx, l.Objects, set.GetNamespace())
	if apierrors.IsForbidden(err) && !deletesClaims(set) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the claims of %s: %w", object.RefOf(set), err)
	}
	for _, claim := range all {
		if goesWith(claim, set) && !s.existed(claim, set) {
			l.found[object.RefOf(claim)] = true
		}
	}
	return nil
}

// namespace adds the losses of a namespace that the run created.
func (l *recoveryLosses) namespace(ctx context.Context, name string) error {
	list, err := l.Discovery.Contents(ctx, name)
	if apierrors.IsForbidden(err) {
		return nil // undo keeps a namespace whose contents are unknown
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil { // An API does not answer, perhaps one of the run itself: the consent covers the whole namespace.
		l.found[object.Ref{Kind: namespaceKind.Kind, Name: name}] = true
		return nil
	}
	for i := range list {
		o := &list[i]
		kind, _ := l.kinds.Kind(o.GroupVersionKind().GroupKind())
		if o.GetDeletionTimestamp() == nil && (object.RefOf(o).GroupKind() == claimKind || kind.Custom && takenUp(o)) {
			l.found[object.RefOf(o)] = true
		}
	}
	return nil
}

// takenUp reports whether a manager other than Helm and our runs has written to an object, or
// whether that is unknown.
func takenUp(o *unstructured.Unstructured) bool {
	managers := o.GetManagedFields()
	return len(managers) == 0 || slices.ContainsFunc(managers, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager != helm.Manager && m.Manager != FieldManager
	})
}
