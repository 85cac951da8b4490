package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StuckError means that objects are being deleted, and do not go away.
type StuckError struct {
	Objects []StuckObject
	After   time.Duration
}

// StuckObject is an object that does not go away.
type StuckObject struct {
	Object object.Ref
	// Deleting means that its deletion has started; Finalizers are those it waits for.
	Deleting   bool
	Finalizers []string
	// Why is the error of an API server that could not tell whether the object exists.
	Why string
}

func (e *StuckError) Error() string {
	var lines []string
	for i, h := range e.Objects {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Objects)-i))
			break
		}
		lines = append(lines, h.String())
	}
	return fmt.Sprintf("%d objects are still terminating after %s: %s", len(e.Objects), e.After, strings.Join(lines, "; "))
}

// String returns the object with what it waits for.
func (h StuckObject) String() string {
	switch {
	case h.Why != "":
		return h.Object.String() + " could not be read: " + h.Why
	case len(h.Finalizers) > 0:
		return fmt.Sprintf("%s waits for finalizer %s: a controller that watches %s has to remove it; if that controller is gone, start it again, or remove the finalizer by hand and clean up what it protects",
			h.Object, strings.Join(h.Finalizers, ", "), h.Object.GroupKind())
	case h.Deleting:
		return h.Object.String() + " is being deleted"
	}
	return h.Object.String() + " was recreated by someone else"
}

// waitGone waits until none of the objects exists.
func (x *run) waitGone(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
	remaining := slices.Clone(refs)
	var hanging []StuckObject
	reported := false
	err := x.pollUntil(ctx, timeout, func(ctx context.Context) (bool, error) {
		hanging = nil
		for _, ref := range remaining {
			current, err := x.Objects.Get(ctx, ref)
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				hanging = append(hanging, StuckObject{Object: ref, Why: err.Error()})
			default:
				hanging = append(hanging, StuckObject{Object: ref, Deleting: current.GetDeletionTimestamp() != nil, Finalizers: waitsFor(current)})
			}
		}
		remaining = nil
		for _, h := range hanging {
			remaining = append(remaining, h.Object)
		}
		if len(remaining) > 0 && !reported {
			reported = true
			x.emit(journal.EventWaiting, fmt.Sprintf("until they are gone: %s", listed(remaining)))
		}
		return len(remaining) == 0, nil
	})
	if err != nil && ctx.Err() == nil && len(hanging) > 0 {
		return &StuckError{Objects: hanging, After: timeout}
	}
	return err
}

// waitsFor returns the finalizers other than those of the API server.
func waitsFor(o *unstructured.Unstructured) []string {
	return slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == "foregroundDeletion" || f == "orphan" })
}

// deleteObjects deletes objects and waits until they are gone.
func (x *run) deleteObjects(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
	for _, ref := range refs {
		if err := x.Objects.Delete(ctx, ref, Precondition{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete %s: %w", ref, err)
		}
	}
	return x.waitGone(ctx, refs, timeout)
}

// deleteDefinitions deletes definitions that have no objects in any namespace.
func (x *run) deleteDefinitions(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
	for _, ref := range refs {
		current, err := x.Objects.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		reason, err := x.deleteUnused(ctx, current)
		if err != nil {
			return err
		}
		if reason != "" {
			return fmt.Errorf("%s is not deleted: %s", ref, reason)
		}
	}
	err := x.waitGone(ctx, refs, timeout)
	x.Discovery.Refresh()
	return err
}

// deleteUnused deletes a definition, or returns which of its objects exist.
func (x *run) deleteUnused(ctx context.Context, d *unstructured.Unstructured) (reason string, err error) {
	kind := definedKind(d)
	list, err := x.Objects.List(ctx, kind, "")
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("list the objects of %s: %w", d.GetName(), err)
	}
	if len(list) > 0 {
		return fmt.Sprintf("%d objects of it exist, such as %s: deleting it would delete them", len(list), object.RefOf(&list[0])), nil
	}
	err = x.Objects.Delete(ctx, object.RefOf(d), Precondition{UID: string(d.GetUID()), ResourceVersion: d.GetResourceVersion()})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if apierrors.IsConflict(err) {
		return "it was changed just now", nil
	}
	if err != nil {
		return "", fmt.Errorf("delete %s: %w", object.RefOf(d), err)
	}
	return "", nil
}

// deleteDropped deletes objects of a release. An object that was recreated meanwhile has another
// UID, and stays.
func (x *run) deleteDropped(ctx context.Context, dropped []*unstructured.Unstructured, timeout time.Duration) error {
	refs := make([]object.Ref, 0, len(dropped))
	for _, o := range dropped {
		ref := object.RefOf(o)
		err := x.Objects.Delete(ctx, ref, Precondition{UID: string(o.GetUID())})
		switch {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			continue
		case err != nil:
			return fmt.Errorf("delete %s: %w", ref, err)
		}
		refs = append(refs, ref)
	}
	return x.waitGone(ctx, refs, timeout)
}

// droppedObjects returns the objects of an earlier revision that the last one has dropped and that
// still exist: Helm silently skips an object that it cannot read.
func (x *run) droppedObjects(ctx context.Context, list []helm.Record, was int, last helm.Record) ([]*unstructured.Unstructured, error) {
	i := slices.IndexFunc(list, func(v helm.Record) bool { return v.Revision == was })
	if i < 0 {
		return nil, nil
	}
	var remaining []*unstructured.Unstructured
	for _, ref := range list[i].Objects {
		if slices.Contains(last.Objects, ref) || slices.Contains(last.Kept, ref) {
			continue
		}
		current, err := x.Objects.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("%s is no longer part of release %s, and whether it was deleted is unknown: %w", ref, last.Release, err)
		case ownedBy(current, last.Release) && current.GetDeletionTimestamp() == nil && !strings.EqualFold(strings.TrimSpace(current.GetAnnotations()[helm.PolicyAnnotation]), "keep"):
			remaining = append(remaining, current)
		}
	}
	return remaining, nil
}
