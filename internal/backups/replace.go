package backups

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// planReplace finds what a restore replaces: what exists of its System, which is named to confirm it.
// The copies that the restore reads are never part of it, nor is what has no namespace.
func (c cluster) planReplace(ctx context.Context, r *backup.Restore, p *backup.Plan, name string) error {
	if name != r.Name {
		return hint.With(fmt.Errorf("--replace %s: the backup %s is of the System %s", name, r.Backup, r.Name), "--replace "+r.Name+" deletes what exists of it, with its data, and restores it")
	}
	found, err := install.Find(ctx, c.Config, r.Name, []string{r.Namespace})
	if err != nil {
		return err
	}
	if len(found) > 0 && found[0].Err == nil {
		run := found[0].Journal.Run
		if run != nil && run.Action == install.Install {
			return nil // the restore that deleted what was there did not end, and is continued
		}
		r.Installed = run != nil || found[0].Journal.Manifest != ""
	}
	lines := &hint.Lines{}
	for _, ref := range replaceable(r) {
		o, err := c.at(ctx, ref)
		switch {
		case err != nil:
			return err
		case o == nil:
		case o.GetNamespace() == "":
			lines.Lines = append(lines.Lines, ref.String()+" exists and has no namespace: others may use it, and it is not replaced")
		case isCopy(p, ref):
			lines.Lines = append(lines.Lines, ref.String()+" exists and has the data of the backup: it is not replaced")
		default:
			r.Replaced = append(r.Replaced, ref)
			r.ReplacedUIDs = append(r.ReplacedUIDs, o.GetUID())
		}
	}
	for _, u := range r.Unrestored {
		if len(r.Replaced) > 0 {
			lines.Lines = append(lines.Lines, fmt.Sprintf("%s would be deleted, and its data is not restored: %s", u.Object, u.Reason))
		}
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	return hint.With(lines, "--namespace-map restores beside what exists")
}

// replaceable are the objects that a restore creates, those that others need last.
func replaceable(r *backup.Restore) []object.Ref {
	out := r.Objects()
	slices.Reverse(out)
	for _, o := range r.SecretObjects {
		out = append(out, object.RefOf(o))
	}
	return out
}

// isCopy says whether an object holds the data of a backup.
func isCopy(p *backup.Plan, ref object.Ref) bool {
	return ref.Group == backup.SnapshotGroup || slices.ContainsFunc(p.Parts, func(part backup.Part) bool { return part.Backup == ref })
}

// ReplacePermissions are those that deleting what a restore replaces needs.
func ReplacePermissions(ctx context.Context, in *app.Input, r *backup.Restore) ([]permission.Permission, error) {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	var out []permission.Permission
	for _, ref := range r.Replaced {
		if kind, served := c.Kinds.Kind(ref.GroupKind()); served {
			at := permission.Permission{Group: kind.Group, Resource: kind.Plural, Namespace: ref.Namespace, Name: ref.Name}
			for _, at.Verb = range []string{"get", "delete"} {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// Replace deletes what a restore replaces, as it was planned, and waits until it is gone. What has
// taken the place of it meanwhile stays. A killed one is continued by the same command.
func Replace(ctx context.Context, in *app.Input, r *backup.Restore) error {
	connected, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	c := cluster{connected}
	foreground := metav1.DeletePropagationForeground
	for i, ref := range r.Replaced {
		kind, served := c.Kinds.Kind(ref.GroupKind())
		if !served {
			continue
		}
		resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural}
		err := c.Objects.Resource(resource).Namespace(ref.Namespace).Delete(ctx, ref.Name, metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &r.ReplacedUIDs[i]}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete %s: %w", ref, err)
		}
	}
	for i, ref := range r.Replaced {
		for {
			var o *unstructured.Unstructured
			if o, err = c.at(ctx, ref); err != nil {
				return err
			}
			if o == nil || o.GetUID() != r.ReplacedUIDs[i] {
				break
			}
			if wait(ctx) != nil {
				return hint.With(fmt.Errorf("%s is still being deleted", ref), "its status and its finalizers say what blocks it; the same command continues")
			}
		}
	}
	return nil
}

// errReplaceMissing is that two ways to restore over what exists were named.
var errReplaceMissing = errors.New("name --replace or --only-missing: the first deletes what exists, the other leaves it")
