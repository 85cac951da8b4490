// Package installer installs, upgrades, rolls back and uninstalls operators and Systems. A Request
// says what is wanted. Plan reads the cluster and returns the steps, with what refuses them and
// what they delete; Change also ends an open run first, has the User confirm each plan, and runs
// the steps. It knows neither flags nor output formats; what is shown and asked is up to the User.
package installer

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Target is an operator to install or upgrade, with a version or a range; empty for the newest.
type Target struct{ Name, Version string }

// Values of Request.DryRun.
const (
	DryRunNone   = "none"
	DryRunClient = "client" // without permission review and preflight
	DryRunServer = "server"
)

// Request is what is wanted of an installation.
type Request struct {
	Action install.Action

	// Targets or System are what an install or an upgrade is about. Manifest is the text of the
	// System.
	Targets  []Target
	System   *system.System
	Manifest string
	// Stamp is the time in names of the manifest, which the journal keeps for a run that continues,
	// and Unstamped the digest of the manifest without it; zero for none.
	Stamp     time.Time
	Unstamped string
	// Secrets are a part of their own, which the apps of the System need. They are not in the
	// Manifest: it is stored in a ConfigMap.
	Secrets []*unstructured.Unstructured
	Values  map[string]any
	// Name is the installation to roll back or uninstall, and Revision that of its history to
	// return to; 0 for the one before the current one.
	Name     string
	Revision int

	DryRun        string
	RolesOnly     bool // no step is run, since only the permissions are wanted
	Timeout       time.Duration
	NoWait        bool // do not wait for the lock of another run
	KeepFailed    bool // do not undo a run that failed
	Wait          bool // wait also for parts without dependents
	Force         bool // ignore a preflight that fails, and risky changes of CRDs
	TakeOwnership bool
	NoAnnotate    bool
	Lookup        bool // let templates read the cluster
	ResetValues   bool // do not reuse the values of the installed release
	ImageRegistry string
	// SameRun refuses to undo an open run that was for something else, and to begin another one.
	SameRun bool

	DeleteDefinitions bool
	DeleteData        bool // custom resources, claims and CRDs, with their data
	Orphan            bool // leave custom resources without their operator
}

// writes says whether the request may change the cluster.
func (r *Request) writes() bool { return r.DryRun == DryRunNone && !r.RolesOnly }

// User sees what would be written, and decides.
type User interface {
	// ShowRecovery shows what ending the open run writes and deletes.
	ShowRecovery(r *Recovery)
	// ConfirmRecovery decides whether the open run is ended. An error or false ends the request.
	ConfirmRecovery(ctx context.Context, r *Recovery) (bool, error)
	// Confirm shows a plan, and decides whether it is run. Losses are what ending an open run
	// deletes in the same go.
	Confirm(ctx context.Context, p *Plan, losses []object.Ref) (bool, error)
}

// Systems is the record that a cluster keeps of adopted Systems.
type Systems interface {
	// Adopt records a System whose apps are installed.
	Adopt(ctx context.Context, sys *system.System, manifest string) error
	// Releasable returns an error if regulation holds an app of a System.
	Releasable(ctx context.Context, target install.Installation) error
	// Release deletes the record of a System whose apps are gone.
	Release(ctx context.Context, target install.Installation) error
	// Relabel restores the label of an adopted System on its roots among restored objects.
	Relabel(ctx context.Context, target install.Installation, restored []object.Ref) error
}

// HoldFunc holds the dependents of a part, and returns a function that recovers them.
type HoldFunc = func(context.Context, *install.Part) (func(context.Context) error, error)

// Regulation holds the dependents of an app of a System while the app changes.
type Regulation interface {
	// HeldNotes describes which apps are held while others change.
	HeldNotes(ctx context.Context, sys *system.System, apps []string) []string
	Hold(sys *system.System, target install.Installation) HoldFunc
}

// Installer plans and runs requests on the cluster of an Input.
type Installer struct {
	Input      *app.Input
	Catalogs   *catalogs.Catalogs
	Systems    Systems
	Regulation Regulation
	// Events is called with the events of a run, and Say with other lines for people.
	Events func(journal.Event)
	Say    func(line string)
}

// emit hands an event to the receiver, if there is one.
func (i *Installer) emit(e journal.Event) {
	if i.Events != nil {
		i.Events(e)
	}
}

// Result is the outcome of a request.
type Result struct {
	Plan *Plan
	// Applied says that steps were run, or an open run was closed; Report is about this run.
	Applied bool
	Report  install.Report
}

// Plan plans a request over the current state of the cluster, and writes nothing. If the lock of
// the installation is held, it waits.
func (i *Installer) Plan(ctx context.Context, req Request) (*Plan, error) {
	return i.plan(ctx, req, nil)
}

// plan plans a request. A rollback is to the given run of the history; nil to choose it.
func (i *Installer) plan(ctx context.Context, req Request, to *install.RunRecord) (*Plan, error) {
	switch req.Action {
	case install.Rollback:
		return i.planRollback(ctx, req, to)
	case install.Uninstall:
		return i.planUninstall(ctx, req)
	}
	return i.planInstall(ctx, req)
}

// Change plans a request, ends an open run whose process died, has the user confirm, and runs the
// plan. What refuses the plan is reported before an open run is ended. An error with
// Result.Applied is that of the run, other errors are from before the first write.
func (i *Installer) Change(ctx context.Context, req Request, user User) (Result, error) {
	p, open, err := i.planWithRecovery(ctx, req, user)
	if err != nil {
		return Result{}, err
	}
	if open != nil && req.writes() {
		if agreed, err := open.confirm(ctx, p, user); err != nil || !agreed {
			return Result{Plan: p}, err
		}
		if _, _, err := open.end(ctx); err != nil {
			return Result{Plan: p}, err
		}
		if p, err = i.plan(ctx, req, p.RollbackTo); err != nil { // over the state that is current now
			return Result{}, err
		}
	}
	if !open.covers(p.Planned) {
		if err := p.reviewPermissions(ctx); err != nil {
			return Result{Plan: p}, err
		}
		if err := p.preflight(ctx); err != nil {
			return Result{Plan: p}, err
		}
		if agreed, err := p.confirm(ctx, user, open.continuedLosses()); err != nil || !agreed {
			return Result{Plan: p}, err
		}
	}
	return p.apply(ctx)
}

// DryRun plans a request, and has the API server try it. It writes nothing. The plan is also there
// with some errors; the recovery is that of the open run, nil for none.
func (i *Installer) DryRun(ctx context.Context, req Request) (*Plan, *Recovery, error) {
	req.DryRun = DryRunServer
	var user declining
	result, err := i.Change(ctx, req, &user)
	return result.Plan, user.open, err
}

// declining is a User who keeps what is shown of the open run and confirms nothing.
type declining struct{ open *Recovery }

func (d *declining) ShowRecovery(r *Recovery) { d.open = r }

func (*declining) ConfirmRecovery(context.Context, *Recovery) (bool, error) { return false, nil }

func (*declining) Confirm(context.Context, *Plan, []object.Ref) (bool, error) { return false, nil }

// Roles returns the roles with the permissions that a request needs.
func (i *Installer) Roles(ctx context.Context, req Request, user User) ([]*unstructured.Unstructured, []permission.Permission, error) {
	req.RolesOnly = true
	p, open, err := i.planWithRecovery(ctx, req, user)
	if err != nil {
		return nil, nil, err
	}
	return p.roles(open), p.permissions(open), nil
}

// Permissions returns the permissions of Roles.
func (i *Installer) Permissions(ctx context.Context, req Request) ([]permission.Permission, error) {
	_, needed, err := i.Roles(ctx, req, &declining{})
	return needed, err
}

// planWithRecovery plans a request, and the end of the open run that comes first; nil for none.
func (i *Installer) planWithRecovery(ctx context.Context, req Request, user User) (*Plan, *Recovery, error) {
	p, err := i.Plan(ctx, req)
	if err != nil || !p.died {
		return p, nil, err
	}
	open, err := p.planRecovery(ctx, p.Planned.Fingerprint, user)
	return p, open, err
}

// Unfinished is the open run of an installation.
type Unfinished struct {
	Installation install.Installation
	Open         bool // that there is an open run
	// Recovery says how it is ended; nil if there is none, or its process is alive.
	Recovery *Recovery
	// Roles are those that ending it needs, if only these were requested.
	Roles []*unstructured.Unstructured
}

// Unfinished finds the open run of an installation, to be undone.
func (i *Installer) Unfinished(ctx context.Context, req Request, user User) (Unfinished, error) {
	p, err := i.find(ctx, req)
	if err != nil {
		return Unfinished{}, err
	}
	u := Unfinished{Installation: p.Installation, Open: p.journal.Run != nil}
	if p.died {
		if u.Recovery, err = p.planRecovery(ctx, "", user); err != nil {
			return u, err
		}
	}
	if req.RolesOnly && u.Open {
		p.Planned = &install.Plan{Installation: p.Installation}
		u.Roles = p.roles(u.Recovery)
	}
	return u, nil
}

// History returns the journal of an installation, and whether the process of its open run is alive.
func (i *Installer) History(ctx context.Context, name string) (*install.Journal, install.Liveness, error) {
	c, err := i.connect(ctx)
	if err != nil {
		return nil, "", err
	}
	f, err := c.find(ctx, name)
	if err != nil {
		return nil, "", err
	}
	alive := install.LivenessUnknown
	if f.journal.Run != nil {
		alive = c.liveness(ctx, f.installation)
	}
	return f.journal, alive, nil
}

var errTimeout = errors.New("the time is over")
