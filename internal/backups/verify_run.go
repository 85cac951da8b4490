package backups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	verifyManager = "kubectl-sysop-verify"
	// verifyLease is the Lease in the first scratch namespace that a running rehearsal holds.
	verifyLease = "sysop-verify"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// scratch are scratch namespaces of one run, by name. Another run has others of the same names.
type scratch map[string]types.UID

// Run restores the copy, checks it, deletes it, and records the result. An error is also recorded;
// the scratch namespaces are deleted in any case, also when ctx ends.
func (h *Rehearsal) Run(ctx context.Context, inst *installer.Installer) (*backup.Verification, error) {
	if err := h.removeFormer(ctx, inst); err != nil {
		return nil, err
	}
	result := &backup.Verification{Time: h.in.Now().UTC().Truncate(time.Second), RecoveryPoint: h.Plan.Time}
	after := context.WithoutCancel(ctx)
	own, err := h.create(ctx)
	var uninstalled error
	if err == nil {
		err = h.locked(ctx, func(ctx context.Context) error {
			defer func() { uninstalled = h.uninstall(after, inst, own) }()
			return h.rehearse(ctx, inst, result)
		})
	}
	if result.Passed = err == nil; err != nil {
		result.Message = err.Error()
		err = fmt.Errorf("the rehearsal of %s failed: %w", h.Plan.Name, err)
	}
	err = errors.Join(err, h.remove(after, own, uninstalled))
	h.Plan.Verified = result
	if h.Plan.Live {
		err = errors.Join(err, h.record(after, result))
	}
	return result, err
}

// rehearse installs the copy and checks it, and measures how long that takes.
func (h *Rehearsal) rehearse(ctx context.Context, inst *installer.Installer, result *backup.Verification) error {
	begin := h.in.Now()
	if _, err := inst.Change(ctx, h.request(), agreeing{}); err != nil {
		return err
	}
	if h.Check != nil {
		result.Check = h.Check.Name()
		if err := h.check(ctx); err != nil {
			return err
		}
	}
	result.RecoveryTime = h.in.Now().Sub(begin).Round(time.Second).String()
	return nil
}

// create creates the scratch namespaces. One that exists is another run's, and no part of the result.
func (h *Rehearsal) create(ctx context.Context) (scratch, error) {
	own := scratch{}
	for _, ns := range h.Namespaces {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		o.SetName(ns)
		o.SetLabels(map[string]string{backup.RehearsalLabel: h.Plan.Name})
		created, err := h.Objects.Resource(namespaces).Create(ctx, o, metav1.CreateOptions{FieldManager: verifyManager})
		if err != nil {
			return own, fmt.Errorf("create the namespace %s: %w", ns, err)
		}
		own[ns] = created.GetUID()
	}
	return own, nil
}

func (h *Rehearsal) leasePlace() journal.Place {
	return journal.Place{Namespace: h.Namespaces[0], Name: verifyLease, Labels: map[string]string{backup.RehearsalLabel: h.Plan.Name}, FieldManager: verifyManager}
}

// locked holds the lease of the rehearsal, which tells other runs that this one is alive.
func (h *Rehearsal) locked(ctx context.Context, act func(context.Context) error) error {
	lock, err := journal.NewLease(h.Config, h.leasePlace(), journal.LeaseOptions{Limit: journal.DefaultLimit, Ephemeral: true})
	if err != nil {
		return err
	}
	return lock.Do(ctx, act)
}

// refuseSecond refuses to run beside another rehearsal of the backup. That one is alive if it renews
// its lease; one that was killed is waited for until its lease ends.
func (h *Rehearsal) refuseSecond(ctx context.Context) error {
	first, held, err := journal.ReadLease(ctx, h.Config, h.leasePlace())
	for seen := time.Now(); err == nil && held && time.Since(seen) < first.Duration; {
		if err := wait(ctx); err != nil {
			return err
		}
		var current journal.LeaseStatus
		current, held, err = journal.ReadLease(ctx, h.Config, h.leasePlace())
		if held && current.Version != first.Version {
			return hint.With(fmt.Errorf("%s rehearses %s since %s", current.Holder, h.Plan.Name, current.Acquired.UTC().Format(time.RFC3339)), "run it again when that rehearsal has ended")
		}
	}
	return err
}

// leftovers are the scratch namespaces that exist. One that no rehearsal created is an error.
func (h *Rehearsal) leftovers(ctx context.Context) (scratch, error) {
	out := scratch{}
	for _, ns := range h.Namespaces {
		o, err := h.Objects.Resource(namespaces).Get(ctx, ns, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read the namespace %s: %w", ns, err)
		case o.GetLabels()[backup.RehearsalLabel] != h.Plan.Name:
			return nil, hint.With(fmt.Errorf("the namespace %s exists, and no rehearsal of %s created it", ns, h.Plan.Name), "delete it, or rehearse another backup")
		}
		out[ns] = o.GetUID()
	}
	return out, nil
}

// removeFormer deletes what a rehearsal that was killed left.
func (h *Rehearsal) removeFormer(ctx context.Context, inst *installer.Installer) error {
	found, err := h.leftovers(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	if err := h.refuseSecond(ctx); err != nil {
		return err
	}
	h.in.Report.Note("an earlier rehearsal of " + h.Plan.Name + " did not finish: " + strings.Join(h.names(found), ", ") + " is deleted first")
	return h.remove(ctx, found, h.uninstall(ctx, inst, found))
}

func (h *Rehearsal) names(run scratch) []string {
	return slices.DeleteFunc(slices.Clone(h.Namespaces), func(ns string) bool { return run[ns] == "" })
}

// uninstall deletes what is outside of the scratch namespaces: contents of snapshots, and what the
// apps have without a namespace. The journal in the first one lists it.
func (h *Rehearsal) uninstall(ctx context.Context, inst *installer.Installer, own scratch) error {
	if exists, err := h.exists(ctx, h.Namespaces[0], own); err != nil || !exists {
		return err // the journal, if any, is another run's
	}
	found, err := install.Find(ctx, h.Config, h.Restore.Name, h.Namespaces[:1])
	if err != nil || len(found) == 0 {
		return err
	}
	if found[0].Err != nil {
		return found[0].Err
	}
	req := installer.Request{Action: install.Uninstall, Name: h.Restore.Name, DryRun: installer.DryRunNone, Timeout: h.Timeout, NoWait: true, DeleteData: true}
	open, err := inst.Unfinished(ctx, req, agreeing{})
	if err != nil {
		return err
	}
	if open.Recovery != nil {
		if _, _, err := open.Recovery.Undo(ctx, agreeing{}); err != nil {
			return err
		}
	}
	_, err = inst.Change(ctx, req, agreeing{})
	return err
}

// exists says whether a scratch namespace of a run exists.
func (h *Rehearsal) exists(ctx context.Context, ns string, own scratch) (bool, error) {
	o, err := h.Objects.Resource(namespaces).Get(ctx, ns, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the namespace %s: %w", ns, err)
	}
	return o.GetUID() == own[ns], nil
}

// remove deletes the scratch namespaces of a run, unless what is outside of them is left.
func (h *Rehearsal) remove(ctx context.Context, own scratch, uninstalled error) error {
	names := h.names(own)
	if uninstalled != nil {
		sys, ns := h.Restore.Name, h.Namespaces[0]
		return hint.With(fmt.Errorf("the copy of %s could not be uninstalled: %w; left are the namespaces %s, and what the System %s has outside of them", h.Plan.Name, uninstalled, object.AndList(names), sys),
			fmt.Sprintf("the same command deletes what is left and begins again; by hand: kubectl sysop uninstall %s -n %s --delete-data=%[1]s, then kubectl delete namespace %s", sys, ns, strings.Join(names, " ")))
	}
	var errs []error
	for _, ns := range names {
		uid := own[ns]
		err := h.Objects.Resource(namespaces).Delete(ctx, ns, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // with a conflict it is another run's
			errs = append(errs, fmt.Errorf("delete the namespace %s: %w", ns, err))
		}
	}
	err := errors.Join(errs...)
	if err == nil {
		err = h.awaitGone(ctx, own)
	}
	if err != nil {
		return hint.With(fmt.Errorf("the namespaces of the rehearsal of %s are not deleted: %w", h.Plan.Name, err), "kubectl delete namespace "+strings.Join(names, " "))
	}
	return nil
}

// awaitGone waits until the scratch namespaces of a run are gone.
func (h *Rehearsal) awaitGone(ctx context.Context, own scratch) error {
	ctx, stop := context.WithTimeout(ctx, max(h.Timeout, time.Minute))
	defer stop()
	for _, ns := range h.names(own) {
		for {
			exists, err := h.exists(ctx, ns, own)
			if err != nil {
				return err
			}
			if !exists {
				break
			}
			if wait(ctx) != nil {
				return fmt.Errorf("the namespace %s is still being deleted: its status says what blocks it", ns)
			}
		}
	}
	return nil
}

// pollInterval is how often a state is read again.
const pollInterval = time.Second

// record stores the result at the record of the backup.
func (h *Rehearsal) record(ctx context.Context, v *backup.Verification) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{backup.VerifiedKey: string(text)}}})
	if err != nil {
		return err
	}
	_, err = h.Objects.Resource(configMaps).Namespace(h.Plan.Namespace).Patch(ctx, h.Plan.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: verifyManager})
	if err != nil {
		return fmt.Errorf("record the result at the backup %s: %w", h.Plan.Name, err)
	}
	return nil
}

// agreeing agrees to what is done in scratch namespaces, once the rehearsal is confirmed.
type agreeing struct{}

func (agreeing) ShowRecovery(*installer.Recovery) {}

func (agreeing) ConfirmRecovery(context.Context, *installer.Recovery) (bool, error) { return true, nil }

func (agreeing) Confirm(ctx context.Context, p *installer.Plan, _ []object.Ref) (bool, error) {
	if err := p.Refused(); err != nil {
		return false, err
	}
	if len(p.Planned.Steps) == 0 && !p.Closes() {
		return false, p.Settle(ctx)
	}
	return true, nil
}
