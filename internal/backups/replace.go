package backups

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// elsewhereHint is the way to restore where nothing may be deleted.
const elsewhereHint = "--namespace-map restores beside what exists"

// refusals are why nothing is deleted, with the ways out.
type refusals struct {
	lines hint.Lines
	hints []string
}

func (r *refusals) add(way, format string, args ...any) {
	r.lines.Lines = append(r.lines.Lines, fmt.Sprintf(format, args...))
	if !slices.Contains(r.hints, way) {
		r.hints = append(r.hints, way)
	}
}

func (r *refusals) err() error {
	if len(r.lines.Lines) == 0 {
		return nil
	}
	return hint.With(&r.lines, strings.Join(r.hints, "\n"))
}

// planReplace finds what a restore replaces: what exists of its System, which is named to confirm it.
// Whatever is doubtful is refused. The copies that the restore reads are never part of it, nor is what
// has no namespace, unless a former restore made it.
func (c cluster) planReplace(ctx context.Context, r *backup.Restore, req *RestoreRequest) error {
	p := req.Plan
	if req.Replace != r.Name {
		return hint.With(fmt.Errorf("--replace %s: the backup %s is of the System %s", req.Replace, r.Backup, r.Name), "--replace "+r.Name+" deletes what exists of it, with its data, and restores it")
	}
	if len(p.Parts) > 0 && p.Parts[0].Method == backup.ByVelero {
		return hint.With(fmt.Errorf("--replace: Velero restores the backup %s, and leaves what exists", r.Backup), elsewhereHint)
	}
	if continued, err := c.installed(ctx, r, r.Unstamped(req.Options.Time)); err != nil || continued {
		return err
	}
	no := &refusals{}
	if err := c.refuseDoubts(ctx, p, no); err != nil {
		return err
	}
	for _, ref := range replaceable(r) {
		o, err := c.at(ctx, ref)
		if err != nil {
			return err
		}
		if o == nil {
			continue
		}
		ref.Namespace = o.GetNamespace()
		restored, err := c.restoredBefore(ctx, r, o)
		manager := install.ManagerOf(o)
		switch {
		case err != nil:
			return err
		case isCopy(p, ref) && !restored && !p.Live:
			no.add(fmt.Sprintf("kubectl sysop restore run %s -n %s --replace %s restores from the record in the cluster, and leaves its copies", p.Name, p.Namespace, r.Name), "%s exists and has the data of the backup: it is not replaced", ref)
		case isCopy(p, ref) && !restored:
			no.add(elsewhereHint, "%s exists and has the data of the backup: it is not replaced", ref)
		case ref.Namespace == "" && !restored:
			no.add("delete it, or --only-missing leaves it", "%s exists and has no namespace: others may use it, and it is not replaced", ref)
		case manager.By == "argocd" || manager.By == "flux":
			no.add("take it out of what manages it first; "+elsewhereHint, "%s is managed by %s, which would create it again before it is restored", ref, manager)
		default:
			r.Replaced = append(r.Replaced, backup.ReplacedObject{Ref: ref, UID: o.GetUID()})
		}
	}
	if len(r.Replaced) == 0 && !r.Installed {
		return no.err()
	}
	for _, u := range r.Unrestored {
		no.add(elsewhereHint, "%s would be deleted, and its data is not restored: %s", u.Object, u.Reason)
	}
	if err := c.refuseOwned(ctx, p, no); err != nil {
		return err
	}
	return no.err()
}

// installed finds whether a run of install made the System, and whether the open run is that of this
// restore, which has deleted what was there and is continued. Another open run is an error.
func (c cluster) installed(ctx context.Context, r *backup.Restore, unstamped string) (continued bool, err error) {
	found, err := install.Find(ctx, c.Config, r.Name, []string{r.Namespace})
	if err != nil || len(found) == 0 {
		return false, err
	}
	if found[0].Err != nil {
		return false, found[0].Err
	}
	run := found[0].Journal.Run
	switch {
	case run != nil && run.Action == install.Install && run.Unstamped == unstamped:
		return true, nil
	case run != nil && run.Action != install.Uninstall:
		return false, hint.With(fmt.Errorf("--replace %s: the %s by %s did not finish", r.Name, run.Action, run.By), fmt.Sprintf("kubectl sysop rollback %s --unfinished -n %s undoes it", r.Name, r.Namespace))
	}
	r.Installed = run != nil || found[0].Journal.Manifest != ""
	return false, nil
}

// refuseDoubts refuses a file whose data may be gone: what is deleted would be lost for it.
func (c cluster) refuseDoubts(ctx context.Context, p *backup.Plan, no *refusals) error {
	const way = elsewhereHint + ", which shows whether the data is there; --replace is not needed where nothing exists"
	if p.Live {
		return nil
	}
	if !c.ofCluster(ctx, p) {
		no.add(way, "--replace: the file does not say that it is of this cluster, so whether its data still exists is unknown, and what exists would be deleted for it")
		return nil
	}
	_, doubts, err := c.missingCopies(ctx, p)
	for _, text := range doubts {
		no.add(way, "--replace: %s, and what exists would be deleted for it", text)
	}
	for i := range p.Parts {
		if p.Parts[i].Backup == (object.Ref{}) {
			no.add(way, "--replace: whether the data of %s is still at %s is unknown, and what exists would be deleted for it", p.Parts[i].Object, p.Parts[i].Handle)
		}
	}
	return err
}

// refuseOwned refuses copies that the garbage collector may delete with their owners. The snapshots of
// a group are owned by it.
func (c cluster) refuseOwned(ctx context.Context, p *backup.Plan, no *refusals) error {
	for i := range p.Parts {
		for _, ref := range distinctRefs(p.Parts[i].Backup, p.Parts[i].Snapshot) {
			o, err := c.at(ctx, ref)
			if err != nil {
				return err
			}
			if o == nil {
				continue
			}
			for _, owner := range o.GetOwnerReferences() {
				if p.Parts[i].IsGroup() && owner.Kind == p.Parts[i].Backup.Kind && owner.Name == p.Parts[i].Backup.Name {
					continue
				}
				no.add("kubectl get "+ref.Kind+" "+ref.Name+" -n "+ref.Namespace+" shows its owners: restore it as its operator documents, or with --namespace-map",
					"%s is owned by %s %s, and is deleted with it: there would be no copy", ref, owner.Kind, owner.Name)
			}
		}
	}
	return nil
}

func distinctRefs(ref object.Ref, more *object.Ref) []object.Ref {
	if more == nil || *more == ref {
		return []object.Ref{ref}
	}
	return []object.Ref{ref, *more}
}

// restoredBefore says whether an object is of a release of the System, so that it goes with it, and no
// data goes with it: a snapshot reads a content that is retained.
func (c cluster) restoredBefore(ctx context.Context, r *backup.Restore, o *unstructured.Unstructured) (bool, error) {
	if !r.Installed || !strings.HasPrefix(o.GetAnnotations()[releaseName], r.Name+"-") {
		return false, nil
	}
	ref := object.RefOf(o)
	if ref.Group != backup.SnapshotGroup {
		return ref.Namespace == "", nil
	}
	if ref.Kind != backup.ContentKind.Kind {
		name := backup.Text(o.Object, "spec", "source", "volumeSnapshotContentName")
		if name == "" {
			return false, nil // it is the data of a claim
		}
		content, err := c.at(ctx, object.Ref{Group: backup.SnapshotGroup, Kind: backup.ContentKind.Kind, Name: name})
		if err != nil || content == nil {
			return false, err
		}
		o = content
	}
	return backup.Text(o.Object, "spec", "deletionPolicy") == "Retain", nil
}

// RefuseUninstall refuses to uninstall more than what the next installation creates, and to replace
// what an uninstall would leave. It returns what is uninstalled next to what the restore lists.
func RefuseUninstall(r *backup.Restore, gone, next *install.Plan) (more []object.Ref, err error) {
	no := &refusals{}
	deleted := gone.Losses()
	for i := range gone.Steps {
		deleted = append(deleted, gone.Steps[i].Objects...)
	}
	slices.SortFunc(deleted, func(a, b object.Ref) int { return strings.Compare(a.String(), b.String()) })
	deleted = slices.Compact(deleted)
	created := map[object.Ref]bool{}
	for _, part := range next.Parts {
		if part.Rendered != nil {
			for _, o := range part.Rendered.Objects {
				created[object.RefOf(o)] = true
			}
		}
	}
	for _, ref := range deleted {
		switch {
		case slices.ContainsFunc(r.Replaced, func(o backup.ReplacedObject) bool { return o.Ref == ref }):
		case created[ref]:
			more = append(more, ref)
		default:
			no.add(fmt.Sprintf("kubectl sysop uninstall %s -n %s deletes the installation as it is, before a restore without --replace; --namespace-map restores beside it", r.Name, r.Namespace),
				"%s is of the installation %s and not of the backup: it would be deleted and not restored", ref, r.Name)
		}
	}
	for _, o := range r.Replaced {
		if (o.Namespace == "" || o.Group == backup.SnapshotGroup) && !slices.Contains(deleted, o.Ref) {
			no.add("delete it, or --only-missing leaves it", "%s exists, and is not of the installation %s", o.Ref, r.Name)
		}
	}
	return more, no.err()
}

// DropReplaced drops the refusals of a plan that are that what is replaced exists.
func DropReplaced(r *backup.Restore, next *install.Plan) {
	next.Refusals = slices.DeleteFunc(next.Refusals, func(f install.Refusal) bool {
		return f.Topic == "ownership" && slices.ContainsFunc(r.Replaced, func(o backup.ReplacedObject) bool { return o.Ref == f.Object })
	})
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
	for _, o := range r.Replaced {
		if kind, served := c.Kinds.Kind(o.GroupKind()); served {
			at := permission.Permission{Group: kind.Group, Resource: kind.Plural, Namespace: o.Namespace, Name: o.Name}
			for _, at.Verb = range []string{"get", "delete"} {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// Replace deletes what a restore replaces, as it was planned, and waits until it is gone, under the
// Lease of the installation. What has taken the place of it meanwhile stays. A killed one is continued
// by the same command.
func Replace(ctx context.Context, in *app.Input, r *backup.Restore) error {
	connected, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	c := cluster{connected}
	lock, err := install.NewLock(c.Config, install.Installation{Name: r.Name, Namespace: r.Namespace, System: true})(func(holder string, since time.Time) {
		in.Report.Note(fmt.Sprintf("waits for the run on %s by %s, since %s", r.Name, holder, since.UTC().Format(time.RFC3339)))
	})
	if err != nil {
		return err
	}
	return lock.Do(ctx, func(ctx context.Context) error { return c.replace(ctx, r) })
}

func (c cluster) replace(ctx context.Context, r *backup.Restore) error {
	foreground := metav1.DeletePropagationForeground
	for _, o := range r.Replaced {
		kind, served := c.Kinds.Kind(o.GroupKind())
		if !served {
			continue
		}
		resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural}
		err := c.Objects.Resource(resource).Namespace(o.Namespace).Delete(ctx, o.Name, metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &o.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete %s: %w", o.Ref, err)
		}
	}
	for _, replaced := range r.Replaced {
		for {
			o, err := c.at(ctx, replaced.Ref)
			if err != nil {
				return err
			}
			if o == nil || o.GetUID() != replaced.UID {
				break
			}
			if wait(ctx) != nil {
				return hint.With(fmt.Errorf("%s is still being deleted", replaced.Ref), "its status and its finalizers say what blocks it; the same command continues")
			}
		}
	}
	return nil
}
