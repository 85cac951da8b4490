package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// claimsBefore returns the UIDs of the claims that exist before a step and that a StatefulSet of
// the step adopts and has deleted: undo keeps them.
func (x *run) claimsBefore(ctx context.Context, objects []*unstructured.Unstructured, namespace string) ([]string, error) {
	var out []string
	for _, set := range objects {
		if !deletesClaims(set) && !x.liveDeletesClaims(ctx, set, namespace) {
			continue
		}
		all, err := claimsOf(ctx, x.Objects, cmp.Or(set.GetNamespace(), namespace))
		if err != nil {
			return nil, fmt.Errorf("list the claims that StatefulSet %s would take over: %w", set.GetName(), err)
		}
		for _, claim := range all {
			if _, named := ordinalOf(claim.GetName(), claimPrefixes(set)); named {
				out = append(out, string(claim.GetUID()))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// liveDeletesClaims reports whether a StatefulSet, as it is before a step, has claims deleted.
func (x *run) liveDeletesClaims(ctx context.Context, set *unstructured.Unstructured, namespace string) bool {
	if len(claimPrefixes(set)) == 0 {
		return false
	}
	ref := object.RefOf(set)
	ref.Namespace = cmp.Or(ref.Namespace, namespace)
	live, err := x.Objects.Get(ctx, ref)
	return err == nil && deletesClaims(live)
}

// existed reports whether a claim existed before the step that created a StatefulSet: it is in the
// journal of the step, or is older than the set. The age protects the claim even if a forged
// journal omits it. A nil step has no such claims.
func (s *StepState) existed(claim, set *unstructured.Unstructured) bool {
	if s == nil {
		return false
	}
	created, since := claim.GetCreationTimestamp(), set.GetCreationTimestamp()
	return slices.Contains(s.Claims, string(claim.GetUID())) || !created.IsZero() && created.Before(&since)
}

// keepClaims protects claims from before the run when undo deletes StatefulSets, whose policy would
// have the garbage collector delete the claims. It sets the policy to Retain, waits until the
// controller has observed it, and then removes the owner references of the claims. A killed undo
// may have left a set with the Retain policy that still owns claims.
func (x *run) keepClaims(ctx context.Context, refs []object.Ref, s *StepState) error {
	for _, ref := range refs {
		if ref.GroupKind() != statefulSetKind {
			continue
		}
		set, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		if len(claimPrefixes(set)) == 0 {
			continue
		}
		claims, err := x.claimsToKeep(ctx, set, s)
		if apierrors.IsForbidden(err) && !deletesClaims(set) {
			continue // its policy is that of its release, so no earlier undo has changed it
		}
		if err != nil {
			return fmt.Errorf("%s is not deleted: cannot tell which claims from before this run would be deleted with it: %w", ref, err)
		}
		if len(claims) == 0 {
			continue
		}
		x.emit(journal.EventNoted, fmt.Sprintf("%s existed before this run, and would be deleted with %s: their owner reference is removed first", listed(claims), ref))
		if err = x.retain(ctx, ref); err == nil {
			err = x.pollUntil(ctx, x.o.statusTimeout(0), func(ctx context.Context) (bool, error) { return x.released(ctx, ref, claims) })
		}
		if err != nil {
			return fmt.Errorf("%s is not deleted: claims from before this run would be deleted with it (%s): %w", ref, listed(claims), err)
		}
	}
	return nil
}

func (x *run) claimsToKeep(ctx context.Context, set *unstructured.Unstructured, s *StepState) ([]object.Ref, error) {
	all, err := claimsOf(ctx, x.Objects, set.GetNamespace())
	if err != nil {
		return nil, err
	}
	var out []object.Ref
	for _, claim := range all {
		if goesWith(claim, set) && s.existed(claim, set) {
			out = append(out, object.RefOf(claim))
		}
	}
	return sortRefs(out), nil
}

// retain sets the policy of a StatefulSet to retain its claims.
func (x *run) retain(ctx context.Context, ref object.Ref) error {
	return x.rewrite(ctx, ref, func(set *unstructured.Unstructured) (bool, error) {
		if retention(set, whenDeleted) != deletePolicy && retention(set, whenScaled) != deletePolicy {
			return false, nil
		}
		policy := map[string]any{whenDeleted: "Retain", whenScaled: "Retain"}
		return true, unstructured.SetNestedMap(set.Object, policy, "spec", "persistentVolumeClaimRetentionPolicy")
	})
}

// released removes the owner references of the claims to a StatefulSet and its pods, and reports
// whether that is done. The controller removes them only while the pods are Ready. It must have
// observed the policy first, because otherwise it would add them again.
func (x *run) released(ctx context.Context, ref object.Ref, claims []object.Ref) (bool, error) {
	set, err := x.Objects.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if seen, _ := number(set, "status", "observedGeneration"); seen < set.GetGeneration() {
		return false, errors.New("its controller has not observed yet that its claims stay")
	}
	for _, claim := range claims {
		if err := x.rewrite(ctx, claim, func(current *unstructured.Unstructured) (bool, error) {
			owners := current.GetOwnerReferences()
			remaining := slices.DeleteFunc(slices.Clone(owners), func(o metav1.OwnerReference) bool { return ownsClaim(o, ref.Name) })
			current.SetOwnerReferences(remaining)
			return len(remaining) < len(owners), nil
		}); err != nil {
			return false, fmt.Errorf("remove the owner reference of %s: %w", claim, err)
		}
	}
	return true, nil
}

// rewrite updates the current state of an object if change reports a change; an object that is gone
// is skipped.
func (x *run) rewrite(ctx context.Context, ref object.Ref, change func(*unstructured.Unstructured) (bool, error)) error {
	for try := 0; ; try++ {
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		changed, err := change(current)
		if err != nil || !changed {
			return err
		}
		if _, err = x.Objects.Replace(ctx, current); err == nil || !apierrors.IsConflict(err) || try == maxStale {
			return err
		}
	}
}

// claims reports which claims of StatefulSets that the run created and that are gone stay, and
// which ones are garbage collected. It returns those that stay.
func (x *run) claims(ctx context.Context, result string) []string {
	if result != ResultUndone && result != ResultPartlyUndone {
		return nil
	}
	var stay, deleted []string
	for i := range x.j.Run.Steps {
		s := &x.j.Run.Steps[i]
		switch {
		case s.Phase == NotUndone:
			continue
		case s.Kind == InstallRelease, s.Kind == UpgradeRelease, s.Kind == RollbackRelease:
		default:
			continue
		}
		list, err := x.Engine.History(ctx, helm.ReleaseName{Name: s.Release, Namespace: s.Namespace})
		if err != nil {
			continue // the reason is in the step
		}
		for _, r := range list {
			if r.Marks.Run == x.j.Run.ID {
				a, b := x.claimsAfter(ctx, r)
				stay, deleted = append(stay, a...), append(deleted, b...)
			}
		}
	}
	for _, all := range []*[]string{&stay, &deleted} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	for _, text := range deleted {
		x.emit(journal.EventNoted, text+" is deleted with the StatefulSet that this run created (persistentVolumeClaimRetentionPolicy)")
	}
	for _, text := range stay {
		x.emit(journal.EventNoted, text+" stays, with its data")
	}
	return stay
}

// claimsAfter returns the claims of the deleted StatefulSets of a record: those that stay, and
// those that are garbage collected.
func (x *run) claimsAfter(ctx context.Context, r helm.Record) (stay, deleted []string) {
	objects, err := helm.ObjectsIn(r.Manifest)
	if err != nil {
		return nil, nil
	}
	for _, set := range objects {
		if len(claimPrefixes(set)) == 0 {
			continue
		}
		set.SetNamespace(cmp.Or(set.GetNamespace(), r.Release.Namespace))
		if current, err := x.Objects.Get(ctx, object.RefOf(set)); err == nil && current.GetDeletionTimestamp() == nil {
			continue // it existed before and exists again, and so do its claims
		}
		all, err := x.Objects.List(ctx, claimKind, set.GetNamespace())
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			stay = append(stay, fmt.Sprintf("claims of StatefulSet %s/%s (they cannot be listed: %v)", set.GetNamespace(), set.GetName(), err))
			continue
		}
		for i := range all {
			claim := &all[i]
			_, named := ordinalOf(claim.GetName(), claimPrefixes(set))
			owned := ownedBySet(claim, set.GetName())
			switch {
			case !named && !owned:
			case owned || claim.GetDeletionTimestamp() != nil:
				deleted = append(deleted, object.RefOf(claim).String())
			default:
				stay = append(stay, object.RefOf(claim).String())
			}
		}
	}
	return stay, deleted
}
