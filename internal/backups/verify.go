package backups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// VerifyRequest says which backup is rehearsed, and how.
type VerifyRequest struct {
	Plan    *backup.Plan
	Secrets []*unstructured.Unstructured // of its file
	// StorageClasses map names, as in a restore.
	StorageClasses map[string]string
	// Check is the check of the copy; nil for that of the manifest of the backup.
	Check     *system.Verify
	AllowExec bool
	Timeout   time.Duration
	// Output is called with the end of the output of a command.
	Output func(text string)
}

// Rehearsal is a restore in scratch namespaces, which are deleted after it.
type Rehearsal struct {
	cluster
	VerifyRequest
	Restore *backup.Restore
	// Namespaces are the scratch namespaces; the first one has the journal.
	Namespaces []string
	in         *app.Input
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// NewRehearsal plans a rehearsal, and writes nothing.
func NewRehearsal(ctx context.Context, given *app.Input, r VerifyRequest) (*Rehearsal, error) {
	in := *given
	c, err := systems.Connect(ctx, &in)
	if err != nil {
		return nil, err
	}
	h := &Rehearsal{cluster: cluster{c}, VerifyRequest: r, in: given}
	if slices.ContainsFunc(r.Plan.Parts, func(p backup.Part) bool { return p.Method == backup.ByVelero }) {
		return nil, hint.With(errors.New("a backup by Velero cannot be rehearsed here"), "velero restore create --namespace-mappings restores it beside what runs")
	}
	moved, err := backup.Scratch(r.Plan)
	if err != nil {
		return nil, err
	}
	if err := h.readInputs(ctx); err != nil {
		return nil, err
	}
	h.Restore, err = backup.Restored(r.Plan, backup.RestoreOptions{Namespaces: moved, StorageClasses: r.StorageClasses, Secrets: h.Secrets, NoOperators: true, Rehearsal: true, Time: in.Now()})
	if err != nil {
		return nil, err
	}
	if err := h.checkRestore(ctx, given, h.Restore); err != nil {
		return nil, err
	}
	if err := h.Restore.Rehearsed(func(ref object.Ref) bool { return h.isShared(ctx, ref) }); err != nil {
		return nil, err
	}
	if r.Check == nil {
		h.Check = h.Restore.System.Backup.Verify
		if h.Check != nil && h.Check.Exec != nil && r.Plan.Live {
			return nil, hint.With(errors.New("the record of "+h.Restore.Name+" has a command as its check, and a user who may write the record could have changed it"), "-f SYSTEM takes the check from your own file")
		}
	}
	if h.Check != nil && h.Check.Exec != nil && !r.AllowExec {
		return nil, hint.With(errors.New("the check of "+h.Restore.Name+" is a command, and commands are not allowed"), "--allow-exec runs it on this machine")
	}
	h.Namespaces = []string{h.Restore.Namespace}
	for _, ns := range slices.Sorted(maps.Values(moved)) {
		if ns != h.Restore.Namespace {
			h.Namespaces = append(h.Namespaces, ns)
		}
	}
	return h, nil
}

// readInputs reads the Secrets and ConfigMaps that the apps need, where the file has none of them.
func (h *Rehearsal) readInputs(ctx context.Context) error {
	var wanted []object.Ref
	own := map[string]bool{h.Plan.Namespace: true}
	if !h.Plan.Live { // another user of its namespace may have changed a record in the cluster
		for i := range h.Plan.Parts {
			own[h.Plan.Parts[i].Object.Namespace] = true
		}
	}
	for _, ref := range h.Plan.Inputs {
		if !own[ref.Namespace] {
			return hint.With(fmt.Errorf("the record of %s names %s, which is in another namespace: it is not copied", h.Plan.Name, ref), "a file of the backup (--file) has its own Secrets")
		}
		if !slices.ContainsFunc(h.Secrets, func(o *unstructured.Unstructured) bool { return object.RefOf(o) == ref }) {
			wanted = append(wanted, ref)
		}
	}
	found, err := h.existing(ctx, wanted)
	if err != nil {
		return err
	}
	h.Secrets = slices.Clone(h.Secrets)
	for _, o := range found {
		h.Secrets = append(h.Secrets, &unstructured.Unstructured{Object: backup.AsApplied(o.Object)})
	}
	return nil
}

// isShared says whether an object has no namespace, and exists: the copy uses it as it is.
func (h *Rehearsal) isShared(ctx context.Context, ref object.Ref) bool {
	kind, served := h.Kinds.Kind(ref.GroupKind())
	if !served || kind.Namespaced || ref.GroupKind() == backup.ContentKind {
		return false
	}
	ref.Namespace = ""
	_, err := h.get(ctx, ref)
	return !apierrors.IsNotFound(err) // with another error, the plan of the install says so
}

// Permissions are those that a rehearsal needs beside those of the install.
func (h *Rehearsal) Permissions() []permission.Permission {
	needed := []permission.Permission{{Verb: "create", Resource: "namespaces"}}
	for _, ns := range h.Namespaces {
		needed = append(needed, permission.Permission{Verb: "get", Resource: "namespaces", Name: ns}, permission.Permission{Verb: "delete", Resource: "namespaces", Name: ns})
	}
	switch {
	case h.Check == nil:
	case h.Check.Job != nil:
		needed = append(needed, permission.Permission{Verb: "create", Group: "batch", Resource: "jobs", Namespace: h.Namespaces[0]}, permission.Permission{Verb: "get", Group: "batch", Resource: "jobs", Namespace: h.Namespaces[0], Name: checkName})
	case h.Check.HTTP != nil:
		needed = append(needed, permission.Permission{Verb: "get", Resource: "services", Subresource: "proxy", Namespace: h.Namespaces[0], Name: h.Check.HTTP.Service + ":" + h.Check.HTTP.Port})
	}
	if h.Plan.Live {
		needed = append(needed, permission.Permission{Verb: "patch", Resource: "configmaps", Namespace: h.Plan.Namespace, Name: h.Plan.Name})
	}
	return needed
}

// Review returns an error if a permission is missing.
func (h *Rehearsal) Review(ctx context.Context) error {
	missing, err := permission.Review(ctx, h.Config, h.Permissions())
	if unknown, ok := errors.AsType[*permission.UnknownError](err); ok {
		h.in.Report.Note(unknown.Error())
	} else if err != nil {
		return err
	}
	return permission.Refuse(missing)
}

// request is that of the install of the copy.
func (h *Rehearsal) request() installer.Request {
	return installer.Request{
		Action: install.Install, DryRun: installer.DryRunNone, Timeout: h.Timeout, Wait: true, NoAnnotate: true,
		System: h.Restore.System, Manifest: h.Restore.Manifest, Secrets: h.Restore.SecretObjects,
	}
}

// Roles are the roles that the install of the copy needs.
func (h *Rehearsal) Roles(ctx context.Context, inst *installer.Installer) ([]*unstructured.Unstructured, error) {
	roles, err := inst.Roles(ctx, h.request(), agreeing{})
	return append(roles, permission.Role("sysop-verify-"+h.Plan.Name, h.Permissions(), h.Namespaces...)...), err
}

// Try plans the install of the copy and has the API server try it; it writes nothing. What an
// earlier rehearsal left of the copy makes that impossible.
func (h *Rehearsal) Try(ctx context.Context, inst *installer.Installer) error {
	if err := h.Review(ctx); err != nil {
		return err
	}
	found, err := h.leftovers(ctx)
	if err != nil || len(found) > 0 || len(h.Namespaces) > 1 {
		return err
	}
	plan, _, err := inst.DryRun(ctx, h.request())
	if err != nil {
		return err
	}
	return plan.Refused()
}

// Run restores the copy, checks it, deletes it, and records the result. An error is also recorded;
// the scratch namespaces are deleted in any case, also when ctx ends.
func (h *Rehearsal) Run(ctx context.Context, inst *installer.Installer) (result *backup.Verification, err error) {
	found, err := h.leftovers(ctx)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		h.in.Report.Note("an earlier rehearsal of " + h.Plan.Name + " did not finish: " + strings.Join(found, ", ") + " is deleted first")
		if err := h.remove(ctx, inst); err != nil {
			return nil, err
		}
	}
	result = &backup.Verification{Time: h.in.Now().UTC().Truncate(time.Second), RecoveryPoint: h.Plan.Time}
	defer func() {
		after := context.WithoutCancel(ctx)
		err = errors.Join(err, h.remove(after, inst))
		h.Plan.Verified = result
		if h.Plan.Live {
			err = errors.Join(err, h.record(after, result))
		}
	}()
	begin := h.in.Now()
	if err = h.copy(ctx, inst); err == nil && h.Check != nil {
		result.Check = h.Check.Name()
		err = h.check(ctx)
	}
	if len(h.Restore.Unrestored) > 0 && err == nil {
		var names []string
		for _, u := range h.Restore.Unrestored {
			names = append(names, u.Object.String())
		}
		err = fmt.Errorf("the data of %s was not restored, so that nothing is known of it", strings.Join(names, ", "))
	}
	result.Passed = err == nil
	if err != nil {
		result.Message = err.Error()
		return result, fmt.Errorf("the rehearsal of %s failed: %w", h.Plan.Name, err)
	}
	result.RecoveryTime = h.in.Now().Sub(begin).Round(time.Second).String()
	return result, nil
}

// copy creates the scratch namespaces, and installs the copy.
func (h *Rehearsal) copy(ctx context.Context, inst *installer.Installer) error {
	for _, ns := range h.Namespaces {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		o.SetName(ns)
		o.SetLabels(map[string]string{backup.RehearsalLabel: h.Plan.Name})
		if _, err := h.Objects.Resource(namespaces).Create(ctx, o, metav1.CreateOptions{FieldManager: verifyManager}); err != nil {
			return fmt.Errorf("create the namespace %s: %w", ns, err)
		}
	}
	_, err := inst.Change(ctx, h.request(), agreeing{})
	return err
}

const verifyManager = "kubectl-sysop-verify"

// leftovers are the scratch namespaces that exist. One that no rehearsal created is an error.
func (h *Rehearsal) leftovers(ctx context.Context) ([]string, error) {
	var out []string
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
		out = append(out, ns)
	}
	return out, nil
}

// remove undoes what an install of the copy did, and deletes the scratch namespaces.
func (h *Rehearsal) remove(ctx context.Context, inst *installer.Installer) error {
	found, err := install.Find(ctx, h.Config, h.Restore.Name, h.Namespaces[:1])
	if err != nil {
		return fmt.Errorf("read the journal of the rehearsal: %w", err)
	}
	existing, wrong := h.leftovers(ctx) // those that a rehearsal created
	if len(found) > 0 && wrong == nil {
		wrong = h.uninstall(ctx, inst)
	}
	if wrong != nil { // The journal in the namespace knows what else there is to delete.
		existing = nil
	}
	for _, ns := range existing {
		if err := h.Objects.Resource(namespaces).Delete(ctx, ns, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			wrong = errors.Join(wrong, fmt.Errorf("delete the namespace %s: %w", ns, err))
		}
	}
	if wrong == nil {
		wrong = h.awaitGone(ctx)
	}
	if wrong != nil {
		return hint.With(fmt.Errorf("the rehearsal of %s is not deleted: %w", h.Plan.Name, wrong), "the same command deletes what is left; kubectl get namespaces -l "+backup.RehearsalLabel+" lists it")
	}
	return nil
}

// uninstall deletes what is outside of the scratch namespaces: contents of snapshots, and what the
// apps have without a namespace.
func (h *Rehearsal) uninstall(ctx context.Context, inst *installer.Installer) error {
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

// awaitGone waits until the scratch namespaces are gone.
func (h *Rehearsal) awaitGone(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, max(h.Timeout, time.Minute))
	defer stop()
	for {
		found, err := h.leftovers(ctx)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return nil
		}
		if wait(ctx) != nil {
			return fmt.Errorf("the namespace %s is still being deleted: its status says what blocks it", found[0])
		}
	}
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
