package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scaledBack returns the claims that are deleted when a release returns to the revision before a
// step: those of pods by which its StatefulSets are scaled down, if their policy is whenScaled:
// Delete. It separates claims from before the step from later ones.
func (x *run) scaledBack(ctx context.Context, list []helm.Record, s *StepState) (before, after []object.Ref, err error) {
	i := slices.IndexFunc(list, func(r helm.Record) bool { return r.Revision == s.Was })
	if i < 0 {
		return nil, nil, nil
	}
	wanted, err := helm.ObjectsIn(list[i].Manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("read revision %d of release %s: %w", s.Was, list[i].Release, err)
	}
	for _, set := range wanted {
		if len(claimPrefixes(set)) == 0 {
			continue
		}
		set.SetNamespace(cmp.Or(set.GetNamespace(), s.Namespace))
		live, err := x.Objects.Get(ctx, object.RefOf(set))
		switch {
		case apierrors.IsNotFound(err):
			continue // it has no pods
		case err != nil:
			return nil, nil, fmt.Errorf("read %s: %w", object.RefOf(set), err)
		case cmp.Or(retention(set, whenScaled), retention(live, whenScaled)) != deletePolicy:
			continue
		}
		all, err := claimsOf(ctx, x.Objects, set.GetNamespace())
		if err != nil {
			return nil, nil, fmt.Errorf("list the claims of %s: %w", object.RefOf(set), err)
		}
		for _, claim := range all {
			switch {
			case !isScaledAway(claim, set, live):
			case s.existed(claim, live):
				before = append(before, object.RefOf(claim))
			default:
				after = append(after, object.RefOf(claim))
			}
		}
	}
	return sortRefs(before), sortRefs(after), nil
}

// isScaledAway reports whether a claim belongs to a pod that a live StatefulSet has and the desired
// one has not.
func isScaledAway(claim, wanted, live *unstructured.Unstructured) bool {
	n, named := ordinalOf(claim.GetName(), append(claimPrefixes(wanted), claimPrefixes(live)...))
	return named && claim.GetDeletionTimestamp() == nil && ordinalsOf(live).has(n) && !ordinalsOf(wanted).has(n)
}
