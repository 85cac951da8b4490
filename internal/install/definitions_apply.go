package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"k8s.io/apimachinery/pkg/api/equality"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// definedKind returns the kind that a definition defines.
func definedKind(d *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// prepareDefinitions records which definitions are new, and saves before-images of the others.
func (x *run) prepareDefinitions(ctx context.Context, s *Step, state *StepState) error {
	for _, d := range s.Definitions {
		ref := object.RefOf(d)
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			state.Made = append(state.Made, ref)
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		before, err := x.Store.SaveBefore(ctx, x.j.Run.ID, current)
		if err != nil {
			return err
		}
		if err := x.noteSum(ctx, s, before, current); err != nil {
			return err
		}
		state.Changed = append(state.Changed, before)
	}
	return nil
}

// errNotApplied means that a definition does not have the content that the run applied.
var errNotApplied = errors.New("it does not carry the annotation of this run: it was changed since")

// beforeMark returns the run that changed a definition, and the hash of its before-image.
func beforeMark(d *unstructured.Unstructured) (run, sum string) {
	run, sum, _ = strings.Cut(d.GetAnnotations()[BeforeAnnotation], "/")
	return run, sum
}

// noteSum records the hash of a definition before the step. An earlier before-image of the run must
// match the current definition, or the hash in its annotation.
func (x *run) noteSum(ctx context.Context, s *Step, b BeforeImage, current *unstructured.Unstructured) error {
	if x.sums == nil {
		x.sums = map[object.Ref]string{}
	}
	if x.sums[b.Object] = b.Sum; b.Sum != "" {
		return nil
	}
	was, err := x.Store.LoadBefore(ctx, b)
	if err != nil {
		return err
	}
	sum := journal.Sum(was)
	run, before := beforeMark(current)
	if !sameContent(current, was) && (run != x.j.Run.ID || before != sum) {
		return x.tampered(s.ID, b.Object, "its before-image ("+b.StoredIn+") does not match")
	}
	x.sums[b.Object] = sum
	return nil
}

// applyDefinitions applies definitions and waits until they are served.
func (x *run) applyDefinitions(ctx context.Context, s *Step, state *StepState) error {
	created := map[object.Ref]bool{}
	for _, ref := range state.Made {
		created[ref] = true
	}
	for _, d := range s.Definitions {
		if err := x.applyDefinition(ctx, d, x.part(s.Part), created[object.RefOf(d)]); err != nil {
			return err
		}
	}
	defer x.Discovery.Refresh()
	end := time.Now().Add(x.o.statusTimeout(s.Timeout))
	for _, d := range s.Definitions {
		if err := x.waitServed(ctx, d, max(time.Until(end), x.poll())); err != nil {
			return err
		}
	}
	return nil
}

// maxStale limits how often an apply is retried because others change the definition meanwhile.
const maxStale = 5

func (x *run) applyDefinition(ctx context.Context, d *unstructured.Unstructured, p *Part, created bool) error {
	ref := object.RefOf(d)
	for try := 0; ; try++ {
		want := d.DeepCopy()
		delete(want.Object, "status")
		unstructured.RemoveNestedField(want.Object, "metadata", "creationTimestamp")
		marks := map[string]string{}
		maps.Copy(marks, want.GetAnnotations())
		if p != nil && !p.App {
			labels := map[string]string{helm.PackageLabel: p.Name}
			maps.Copy(labels, want.GetLabels())
			want.SetLabels(labels)
		}
		current, err := x.Objects.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err) && created:
			marks[RunAnnotation] = x.j.Run.ID
		case apierrors.IsNotFound(err):
			return fmt.Errorf("%s was deleted meanwhile", ref)
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		default:
			want.SetResourceVersion(current.GetResourceVersion())
			if sum := x.sums[ref]; sum != "" {
				marks[BeforeAnnotation] = x.j.Run.ID + "/" + sum
			}
			if creator := current.GetAnnotations()[RunAnnotation]; creator != "" {
				marks[RunAnnotation] = creator // keep the run that created it
			} else if created {
				return fmt.Errorf("%s was created by someone else meanwhile", ref)
			}
		}
		want.SetAnnotations(marks)
		_, err = x.Objects.Apply(ctx, want, x.o.TakeOwnership)
		if ownConflict(err) {
			// Undo writes with Update, which the API server records as another manager of our name.
			_, err = x.Objects.Apply(ctx, want, true)
		}
		switch {
		case err == nil:
			return nil
		case apierrors.IsConflict(err) && try < maxStale && !fieldConflict(err):
			continue
		case fieldConflict(err):
			return fmt.Errorf("apply %s: %w; --take-ownership takes its fields", ref, err)
		}
		return fmt.Errorf("apply %s: %w", ref, err)
	}
}

// fieldConflict reports whether a conflict is about fields of another manager, not about a change
// since the object was read.
func fieldConflict(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, c := range status.Status().Details.Causes {
		if c.Type == "FieldManagerConflict" {
			return true
		}
	}
	return false
}

// ownConflict reports whether all conflicting fields are ours, by another operation.
func ownConflict(err error) bool {
	var status apierrors.APIStatus
	if !fieldConflict(err) || !errors.As(err, &status) {
		return false
	}
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict && !strings.HasPrefix(c.Message, `conflict with "`+FieldManager+`"`) {
			return false
		}
	}
	return true
}

// waitServed waits until a definition is established and discovery lists its versions.
func (x *run) waitServed(ctx context.Context, d *unstructured.Unstructured, timeout time.Duration) error {
	ref := object.RefOf(d)
	kind := definedKind(d)
	err := x.pollUntil(ctx, timeout, func(ctx context.Context) (bool, error) {
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			return true, fmt.Errorf("%s was deleted meanwhile", ref)
		}
		if err != nil {
			return false, fmt.Errorf("read %s: %w", ref, err)
		}
		if reason := conditionWhy(current, "NamesAccepted"); reason != "" && hasCondition(current, "NamesAccepted") {
			return true, fmt.Errorf("the names of %s are not accepted: %s", ref, reason)
		}
		if reason := conditionWhy(current, "Established"); reason != "" {
			return false, fmt.Errorf("%s is not established: %s", ref, reason)
		}
		x.Discovery.Refresh()
		for _, version := range servedVersions(current) {
			gvk := kind.WithVersion(version)
			ok, err := x.Discovery.Serves(ctx, gvk)
			if err != nil || !ok {
				return false, errors.Join(fmt.Errorf("%s is not served yet", gvk), err)
			}
		}
		return true, nil
	})
	return err
}

func hasCondition(o *unstructured.Unstructured, kind string) bool {
	_, ok := conditionOf(o, kind)
	return ok
}

// conditionWhy returns the reason why a condition is not True; empty if it is.
func conditionWhy(o *unstructured.Unstructured, kind string) string {
	c, ok := conditionOf(o, kind)
	switch {
	case !ok:
		return "not processed by the API server yet"
	case c["status"] == "True":
		return ""
	}
	return fmt.Sprint(c["reason"], ": ", c["message"])
}

func conditionOf(o *unstructured.Unstructured, kind string) (map[string]any, bool) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c, true
		}
	}
	return nil, false
}

func servedVersions(d *unstructured.Unstructured) (out []string) {
	list, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	for _, v := range list {
		if v, ok := v.(map[string]any); ok && v["served"] == true {
			if name, ok := v["name"].(string); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

// undoDefinitions deletes the definitions that the run created, and restores those that it changed.
// It returns what it could not undo.
func (x *run) undoDefinitions(ctx context.Context, s *StepState) (reasons []string) {
	for _, b := range s.Changed {
		if err := x.restoreDefinition(ctx, b); err != nil {
			reasons = append(reasons, fmt.Sprintf("%s keeps its new content: %s", b.Object.Name, err))
		}
	}
	var gone []object.Ref
	for _, ref := range s.Made {
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		reason := ""
		switch {
		case err != nil:
			reason = err.Error()
		case current.GetAnnotations()[RunAnnotation] != x.j.Run.ID:
			reason = "it is not the one that this run created"
		default:
			reason, err = x.deleteUnused(ctx, current)
			if err != nil {
				reason = err.Error()
			}
		}
		if reason != "" {
			reasons = append(reasons, ref.Name+" stays: "+reason)
			continue
		}
		gone = append(gone, ref)
	}
	if err := x.waitGone(ctx, gone, x.o.statusTimeout(0)); err != nil {
		reasons = append(reasons, err.Error())
	}
	x.Discovery.Refresh()
	return reasons
}

// restoreDefinition restores the before-image of a definition, unless another manager has changed
// it since or objects would be lost.
func (x *run) restoreDefinition(ctx context.Context, b BeforeImage) error {
	was, err := x.Store.LoadBefore(ctx, b)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		current, err := x.Objects.Get(ctx, b.Object)
		if apierrors.IsNotFound(err) {
			return errors.New("it was deleted since")
		}
		if err != nil {
			return err
		}
		if sameContent(current, was) {
			return nil
		}
		switch {
		case current.GetUID() != was.GetUID():
			return errors.New("it was recreated by someone else")
		case current.GetGeneration() > was.GetGeneration()+1:
			return errors.New("it was changed by someone else since")
		}
		if run, sum := beforeMark(current); run != x.j.Run.ID || sum != journal.Sum(was) {
			return errNotApplied
		}
		if x.Restorable != nil && !equality.Semantic.DeepEqual(current.Object["spec"], was.Object["spec"]) {
			if err := x.Restorable(current, was); err != nil {
				return err
			}
		}
		restored := current.DeepCopy()
		restored.Object["spec"] = was.DeepCopy().Object["spec"]
		restored.SetLabels(was.GetLabels())
		restored.SetAnnotations(was.GetAnnotations())
		restored.SetManagedFields(was.GetManagedFields())
		_, err = x.Objects.Replace(ctx, restored)
		if apierrors.IsConflict(err) && try < maxStale {
			continue
		}
		return err
	}
}

// sameContent compares two states of an object without the fields that the API server sets.
func sameContent(a, b *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(content(a), content(b))
}

func content(o *unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	delete(out.Object, "status")
	for _, f := range []string{"resourceVersion", "generation", "managedFields", "creationTimestamp", "uid", "selfLink"} {
		unstructured.RemoveNestedField(out.Object, "metadata", f)
	}
	return out.Object
}
