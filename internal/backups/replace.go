package backups

import (
	"context"
	"errors"
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
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Replacement is a restore over what exists.
type Replacement struct {
	cluster
	Restore *backup.Restore
	// installed says that the System is installed, and continues that a restore of it was killed:
	// what exists is from that restore then.
	installed, continues bool
}

// OnlyMissing reduces a restore to what does not exist.
func OnlyMissing(ctx context.Context, in *app.Input, r *backup.Restore) error {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	name := r.PartialName()
	var wrong error
	err = r.OnlyMissing(func(ref object.Ref) bool {
		o, err := cluster{c}.at(ctx, ref)
		wrong = errors.Join(wrong, err)
		// What an earlier run of this restore created is part of it.
		return o != nil && !strings.HasPrefix(o.GetAnnotations()[releaseName], name)
	})
	if err := errors.Join(wrong, err); err != nil {
		return err
	}
	if r.Apps == 0 {
		return hint.With(fmt.Errorf("nothing of %s is missing in %s", r.Backup, r.Namespace), "--replace restores over what exists; --namespace-map restores beside it")
	}
	return nil
}

// releaseName is the annotation of the objects of a Helm release.
const releaseName = "meta.helm.sh/release-name"

// at reads an object that may have no namespace; nil for one that does not exist, or whose kind is
// not served yet.
func (c cluster) at(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error) {
	kind, served := c.Kinds.Kind(ref.GroupKind())
	if !served {
		return nil, nil //nolint:nilnil // it does not exist, which is no error
	}
	if !kind.Namespaced {
		ref.Namespace = ""
	}
	o, err := c.get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // as above
	}
	return &unstructured.Unstructured{Object: o}, err
}

// NewReplacement finds what a restore replaces, and writes nothing.
func NewReplacement(ctx context.Context, in *app.Input, r *backup.Restore, name string) (*Replacement, error) {
	if name != r.Name {
		return nil, fmt.Errorf("--replace %s: that is not the name of what is restored: expected --replace %s", name, r.Name)
	}
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	p := &Replacement{cluster: cluster{c}, Restore: r}
	found, err := install.Find(ctx, c.Config, r.Name, []string{r.Namespace})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Err != nil {
			return nil, f.Err
		}
		run := f.Journal.Run
		p.continues = run != nil && run.Action == install.Install
		p.installed = run != nil || len(f.Journal.Runs) > 0 && f.Journal.Runs[len(f.Journal.Runs)-1].Action != install.Uninstall
	}
	if p.continues {
		return p, nil
	}
	return p, p.find(ctx)
}

// find lists what exists of the restore.
func (p *Replacement) find(ctx context.Context) error {
	for _, ref := range p.Restore.Objects() {
		o, err := p.at(ctx, ref)
		switch {
		case err != nil:
			return err
		case o == nil:
			continue
		case ref.Group == backup.SnapshotGroup:
			return hint.With(fmt.Errorf("%s exists: --replace would delete the snapshot that is restored", object.RefOf(o)), "restore the backup by its NAME, which uses that snapshot")
		case o.GetNamespace() == "":
			return hint.With(fmt.Errorf("%s exists, and belongs to no namespace: --replace does not delete it", object.RefOf(o)), "delete it if nothing else uses it")
		}
		p.Restore.Replaced = append(p.Restore.Replaced, object.RefOf(o))
	}
	return nil
}

// Try plans the restore, so that what else refuses it is an error before anything is deleted.
func (p *Replacement) Try(ctx context.Context, inst *installer.Installer, req installer.Request) error {
	if p.continues {
		return nil
	}
	plan, err := inst.Plan(ctx, req)
	if err != nil {
		return err
	}
	plan.Planned.Refusals = slices.DeleteFunc(plan.Planned.Refusals, func(r install.Refusal) bool {
		return r.Topic == "ownership" || r.Topic == "release" || slices.Contains(p.Restore.Replaced, r.Object)
	})
	return plan.Refused()
}

// Delete deletes what is replaced: an installed System by uninstalling it, then what is left, claims
// after their pods. A killed one continues with the same command.
func (p *Replacement) Delete(ctx context.Context, inst *installer.Installer, timeout time.Duration) error {
	if p.continues {
		return nil
	}
	if p.installed {
		req := installer.Request{Action: install.Uninstall, Name: p.Restore.Name, DryRun: installer.DryRunNone, Timeout: timeout, NoWait: true, DeleteData: true}
		if _, err := inst.Change(ctx, req, agreeing{}); err != nil {
			return fmt.Errorf("uninstall %s: %w", p.Restore.Name, err)
		}
	}
	isClaim := func(ref object.Ref) bool { return ref.GroupKind() == backup.ClaimKind }
	for _, claims := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(p.Restore.Replaced), func(ref object.Ref) bool { return isClaim(ref) != claims })
		if err := p.delete(ctx, some, timeout); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes objects with what they own, and waits until they are gone.
func (p *Replacement) delete(ctx context.Context, refs []object.Ref, timeout time.Duration) error {
	foreground := metav1.DeletePropagationForeground
	for _, ref := range refs {
		kind, _ := p.Kinds.Kind(ref.GroupKind())
		resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural}
		err := p.Objects.Resource(resource).Namespace(ref.Namespace).Delete(ctx, ref.Name, metav1.DeleteOptions{PropagationPolicy: &foreground})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete %s: %w", ref, err)
		}
	}
	bounded, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	for _, ref := range refs {
		for {
			o, err := p.at(ctx, ref)
			if err != nil {
				return err
			}
			if o == nil {
				break
			}
			if wait(bounded) != nil {
				return hint.With(fmt.Errorf("%s is still being deleted after %s", ref, timeout), "its finalizers say what blocks it; the same command continues")
			}
		}
	}
	return nil
}
