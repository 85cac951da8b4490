package backups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	if err := refuseEmpty(h.Restore); err != nil {
		return nil, err
	}
	if err := h.checkRestore(ctx, given, h.Restore); err != nil {
		return nil, err
	}
	if err := h.checkCopies(ctx, h.Restore, r.Plan); err != nil {
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

// refuseEmpty refuses a copy whose data is not all restored: nothing would be known of the rest.
func refuseEmpty(r *backup.Restore) error {
	if len(r.Unrestored) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	for _, u := range r.Unrestored {
		lines.Lines = append(lines.Lines, fmt.Sprintf("%s would come up without its data: %s", u.Object, u.Reason))
	}
	return hint.With(lines, "a backup of which every part can be restored can be rehearsed: kubectl sysop backup plan shows what is not saved")
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
	lease := permission.Permission{Group: "coordination.k8s.io", Resource: "leases", Namespace: h.Namespaces[0]}
	needed = append(needed, permission.Permission{Verb: "create", Group: lease.Group, Resource: lease.Resource, Namespace: lease.Namespace})
	for _, verb := range []string{"delete", "get", "update"} {
		lease.Verb, lease.Name = verb, verifyLease
		needed = append(needed, lease)
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

// Uses says which Secrets are copied, and which command runs on this machine.
func (h *Rehearsal) Uses() []string {
	var secrets, out []string
	for _, o := range h.Secrets {
		if o.GetKind() == "Secret" {
			secrets = append(secrets, object.RefOf(o).String())
		}
	}
	if len(secrets) > 0 {
		out = append(out, "copied to "+strings.Join(h.Namespaces, ", ")+": "+strings.Join(secrets, ", "))
	}
	if h.Check != nil && h.Check.Exec != nil {
		out = append(out, fmt.Sprintf("the check runs on this machine: %q", h.Check.Exec.Command))
	}
	return out
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
	roles, _, err := inst.Roles(ctx, h.request(), agreeing{})
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
