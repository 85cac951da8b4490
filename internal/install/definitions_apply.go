package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// definedKind is the kind that a definition defines.
func definedKind(d *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// prepareDefinitions notes which definitions are new, and keeps the others as they are.
func (x *run) prepareDefinitions(ctx context.Context, s *Step, state *StepState) error {
	for _, d := range s.Definitions {
		ref := refOf(d)
		is, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			state.Made = append(state.Made, ref)
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		before, err := x.Store.SaveBefore(ctx, x.j.Run.ID, is)
		if err != nil {
			return err
		}
		if err := x.noteSum(ctx, s, before, is); err != nil {
			return err
		}
		state.Changed = append(state.Changed, before)
	}
	return nil
}

// errNotApplied says that a definition has not the content that the run gave it.
var errNotApplied = errors.New("it does not carry the annotation of this run: it was changed since")

// beforeMark is the run that changed a definition, and the sum of what it was before.
func beforeMark(d *unstructured.Unstructured) (run, sum string) {
	run, sum, _ = strings.Cut(d.GetAnnotations()[BeforeAnnotation], "/")
	return run, sum
}

// noteSum notes the sum of what a definition is before the step. Where something of the run was
// kept before, that must be what the definition is now, or what it says of itself.
func (x *run) noteSum(ctx context.Context, s *Step, b BeforeImage, is *unstructured.Unstructured) error {
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
	run, before := beforeMark(is)
	if !sameContent(is, was) && (run != x.j.Run.ID || before != sum) {
		return x.tampered(s.ID, b.Object, "its before-image ("+b.StoredIn+") does not match")
	}
	x.sums[b.Object] = sum
	return nil
}

// applyDefinitions applies definitions and waits until they are served.
func (x *run) applyDefinitions(ctx context.Context, s *Step, state *StepState) error {
	made := map[object.Ref]bool{}
	for _, ref := range state.Made {
		made[ref] = true
	}
	for _, d := range s.Definitions {
		if err := x.applyDefinition(ctx, d, x.part(s.Part), made[refOf(d)]); err != nil {
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

// maxStale is how often a definition may be changed by others while it is applied.
const maxStale = 5

func (x *run) applyDefinition(ctx context.Context, d *unstructured.Unstructured, p *Part, made bool) error {
	ref := refOf(d)
	for try := 0; ; try++ {
		want := d.DeepCopy()
		delete(want.Object, "status")
		unstructured.RemoveNestedField(want.Object, "metadata", "creationTimestamp")
		marks := map[string]string{}
		maps.Copy(marks, want.GetAnnotations())
		if p != nil && !p.App {
			labels := map[string]string{PackageLabel: p.Name}
			maps.Copy(labels, want.GetLabels())
			want.SetLabels(labels)
		}
		is, err := x.Objects.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err) && made:
			marks[RunAnnotation] = x.j.Run.ID
		case apierrors.IsNotFound(err):
			return fmt.Errorf("%s was deleted meanwhile", ref)
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		default:
			want.SetResourceVersion(is.GetResourceVersion())
			if sum := x.sums[ref]; sum != "" {
				marks[BeforeAnnotation] = x.j.Run.ID + "/" + sum
			}
			if by := is.GetAnnotations()[RunAnnotation]; by != "" {
				marks[RunAnnotation] = by // who made it stays
			} else if made {
				return fmt.Errorf("%s was created by someone else meanwhile", ref)
			}
		}
		want.SetAnnotations(marks)
		_, err = x.Objects.Apply(ctx, want, x.o.TakeOwnership)
		if ownConflict(err) {
			// What was undone is written as an update, which the API server takes for
			// somebody else of our name.
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

// fieldConflict says that fields are another manager's, rather than that the object changed
// since it was read.
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

// ownConflict says that fields are ours alone, by another way of writing.
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

// waitServed waits until a definition is established, and discovery knows its versions.
func (x *run) waitServed(ctx context.Context, d *unstructured.Unstructured, timeout time.Duration) error {
	ref := refOf(d)
	kind := definedKind(d)
	err := x.pollUntil(ctx, timeout, func(ctx context.Context) (bool, error) {
		is, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			return true, fmt.Errorf("%s was deleted meanwhile", ref)
		}
		if err != nil {
			return false, fmt.Errorf("read %s: %w", ref, err)
		}
		if why := conditionWhy(is, "NamesAccepted"); why != "" && hasCondition(is, "NamesAccepted") {
			return true, fmt.Errorf("the names of %s are not accepted: %s", ref, why)
		}
		if why := conditionWhy(is, "Established"); why != "" {
			return false, fmt.Errorf("%s is not established: %s", ref, why)
		}
		x.Discovery.Refresh()
		for _, version := range servedVersions(is) {
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

// conditionWhy is why a condition is not True; empty where it is.
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

// undoDefinitions deletes the definitions that the run made, and gives the others their
// former content back. It returns what it could not do.
func (x *run) undoDefinitions(ctx context.Context, s *StepState) (why []string) {
	for _, b := range s.Changed {
		if err := x.restoreDefinition(ctx, b); err != nil {
			why = append(why, fmt.Sprintf("%s keeps its new content: %s", b.Object.Name, err))
		}
	}
	var gone []object.Ref
	for _, ref := range s.Made {
		is, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		left := ""
		switch {
		case err != nil:
			left = err.Error()
		case is.GetAnnotations()[RunAnnotation] != x.j.Run.ID:
			left = "it is not the one that this run created"
		default:
			left, err = x.deleteUnused(ctx, is)
			if err != nil {
				left = err.Error()
			}
		}
		if left != "" {
			why = append(why, ref.Name+" stays: "+left)
			continue
		}
		gone = append(gone, ref)
	}
	if err := x.waitGone(ctx, gone, x.o.statusTimeout(0)); err != nil {
		why = append(why, err.Error())
	}
	x.Discovery.Refresh()
	return why
}

// restoreDefinition gives a definition back what it was, if nobody else changed it since and
// no object would be lost by it.
func (x *run) restoreDefinition(ctx context.Context, b BeforeImage) error {
	was, err := x.Store.LoadBefore(ctx, b)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		is, err := x.Objects.Get(ctx, b.Object)
		if apierrors.IsNotFound(err) {
			return errors.New("it was deleted since")
		}
		if err != nil {
			return err
		}
		if sameContent(is, was) {
			return nil
		}
		switch {
		case is.GetUID() != was.GetUID():
			return errors.New("it was recreated by someone else")
		case is.GetGeneration() > was.GetGeneration()+1:
			return errors.New("it was changed by someone else since")
		}
		if run, sum := beforeMark(is); run != x.j.Run.ID || sum != journal.Sum(was) {
			return errNotApplied
		}
		if x.Restorable != nil && !equality.Semantic.DeepEqual(is.Object["spec"], was.Object["spec"]) {
			if err := x.Restorable(is, was); err != nil {
				return err
			}
		}
		back := is.DeepCopy()
		back.Object["spec"] = was.DeepCopy().Object["spec"]
		back.SetLabels(was.GetLabels())
		back.SetAnnotations(was.GetAnnotations())
		back.SetManagedFields(was.GetManagedFields())
		_, err = x.Objects.Replace(ctx, back)
		if apierrors.IsConflict(err) && try < maxStale {
			continue
		}
		return err
	}
}

// sameContent says that two states of an object are the same, but for what the API server
// writes itself.
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
