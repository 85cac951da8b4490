package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/regulatecmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// installer makes an installer on the cluster of the command.
func (o *installOptions) installer(cats *catalogs.Catalogs) *installer.Installer {
	return &installer.Installer{
		Input: &o.Input, Catalogs: cats, Systems: systems.Installed{In: &o.Input}, Regulation: o.regulation(),
		Events: o.progress.Print, Say: func(line string) { fmt.Fprintln(o.Env.ErrOut, command.Safe(line)) },
	}
}

// regulation holds the dependents of apps while they are changed, and prints what it does.
func (o *installOptions) regulation() *regulator.Upgrades {
	acting := regulatecmd.NewActing(o.Env, "table")
	acting.Output, acting.DryRun = "table", "none"
	return &regulator.Upgrades{
		Input: &o.Input, Action: o.action, Timeout: o.timeout, Events: o.progress.Print, Distrusted: acting.WarnDistrusted, Output: acting.PrintOutput,
		Held: func(ctx context.Context, r *regulator.HeldRun) error {
			return (&regulatecmd.HeldRun{Options: acting, HeldRun: r}).PrintHeld(ctx)
		},
		Freed: func(ctx context.Context, r *regulator.HeldRun) {
			o.Say(summary.Left(r)...)
			if err := (&regulatecmd.HeldRun{Options: acting, HeldRun: r}).PrintRestored(ctx); err != nil {
				o.Note(err.Error())
			}
		},
	}
}

// request is what the flags ask; the commands add what it is about.
func (o *installOptions) request() installer.Request {
	return installer.Request{
		Action: o.action, DryRun: o.dryRun, RolesOnly: o.printRBAC, Timeout: o.timeout, NoWait: o.noWait, KeepFailed: o.keepFailed, Wait: o.wait,
		Force: o.force, TakeOwnership: o.takeOwnership, NoAnnotate: o.noAnnotate, Lookup: o.lookup, ResetValues: o.resetValues, ImageRegistry: o.imageRegistry,
		DeleteDefinitions: o.deleteDefinitions, DeleteData: o.confirmed != "",
	}
}

// change runs a request, or prints its roles.
func (o *installOptions) change(ctx context.Context, cats *catalogs.Catalogs, req installer.Request) error {
	return o.changeAs(ctx, cats, req, &installUser{o, cats})
}

// changeAs is change for a user who does more than to confirm.
func (o *installOptions) changeAs(ctx context.Context, cats *catalogs.Catalogs, req installer.Request, user installer.User) error {
	in := o.installer(cats)
	if o.printRBAC {
		roles, _, err := in.Roles(ctx, req, user)
		if err != nil {
			return err
		}
		return o.writeRoles(roles)
	}
	result, err := in.Change(ctx, req, user)
	if !result.Applied {
		return err
	}
	if err := o.finish(result.Plan.Installation, result.Report, err); err != nil {
		return err
	}
	o.chartNotes(result.Plan.Planned)
	return nil
}

// changeNamed runs a request on an installation that exists.
func (o *installOptions) changeNamed(ctx context.Context, req installer.Request) error {
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	return o.change(ctx, cats, req)
}

func (o *installOptions) writeRoles(roles []*unstructured.Unstructured) error {
	manifests := make([]render.Manifest, len(roles))
	for i, r := range roles {
		manifests[i].Object = r.Object
	}
	return render.Manifests(o.Env.Out, "yaml", manifests)
}

// finish reports the result of a run.
func (o *installOptions) finish(target install.Installation, report install.Report, err error) error {
	if report.Run != "" || err == nil {
		if !o.ForPeople() || len(report.Left()) > 0 {
			if wrong := o.Write(view.InstallDone(target, report)); wrong != nil {
				return errors.Join(err, wrong)
			}
		}
	}
	if help := (*hint.Error)(nil); errors.As(err, &help) {
		return err // it has a way out of its own
	}
	if err != nil {
		return hint.With(err, fmt.Sprintf("kubectl sysop history %s -n %s shows what was done", target.Name, target.Namespace))
	}
	if r := report.Restored; r != nil && !r.Healthy {
		return hint.With(fmt.Errorf("what was restored is not Healthy: %s", r.Message), strings.Join(r.Help, "; "))
	}
	if o.ForPeople() {
		fmt.Fprintf(o.Env.ErrOut, "%s: %s\n", command.Safe(target.Name), pastTense(o.action))
	}
	return nil
}
