package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installUser shows plans on the terminal, and asks.
type installUser struct {
	*installOptions
	cats *catalogs.Catalogs
}

// Confirm shows a plan, and asks whether it is run.
func (u *installUser) Confirm(ctx context.Context, p *installer.Plan, losses []object.Ref) (bool, error) {
	name, planned := p.Installation.Name, p.Planned
	if to := p.RollbackTo; to != nil {
		fmt.Fprintf(u.Env.ErrOut, "%s is rolled back to revision %d: %s\n", command.Safe(name), to.Revision, command.Safe(summary.PastRun(*to)))
	}
	if err := u.showPlan(planned, p.Fetched()); err != nil {
		return false, err
	}
	if p.Fetched() != nil {
		u.Notes(u.cats.Notes)
	}
	if err := p.Refused(); err != nil {
		return false, err
	}
	if err := p.Releasable(ctx); err != nil {
		return false, err
	}
	n := object.Count(len(planned.Steps), "step")
	switch {
	case p.Closes():
		return true, nil
	case len(planned.Steps) == 0:
		fmt.Fprintln(u.Env.ErrOut, command.Safe(view.NothingToDo(planned)))
		return false, p.Settle(ctx)
	case p.RollbackTo != nil:
		return u.consent(ctx, p.Installation, planned, fmt.Sprintf("roll %s back to revision %d: %s. Do it?", name, p.RollbackTo.Revision, n), losses...)
	case u.dryRun == installer.DryRunServer && u.action != install.Uninstall:
		fmt.Fprintln(u.Env.ErrOut, view.DryRunAccepted(planned))
	}
	return u.consent(ctx, p.Installation, planned, fmt.Sprintf("%s %s: %s. Do it?", u.action, name, n), losses...)
}

// showPlan writes a plan: for people with its notes.
func (o *installOptions) showPlan(planned *install.Plan, fetched map[string]string) error {
	fresh, rest := view.GrantLines(planned)
	o.lines(fresh) // in front of all, so that they are seen
	if o.ForPeople() || o.dryRun != "none" || len(planned.Refusals) > 0 {
		if err := o.Write(view.InstallPlanned(view.InstallPlan{Plan: planned, DryRun: o.dryRun, Fetched: fetched})); err != nil {
			return err
		}
	}
	o.lines(view.ChangeLines(planned))
	o.lines(rest)
	o.Notes(planned.Notes)
	return nil
}

// lines prints lines of a plan for people; documents have them as fields.
func (o *installOptions) lines(all []string) {
	if !o.ForPeople() {
		return
	}
	o.Say(all...)
}

// ShowRecovery lists what ending the open run writes and deletes, on standard error: standard output
// is for the plan after it.
func (u *installUser) ShowRecovery(r *installer.Recovery) {
	u.Say(summary.Recovery(r)...)
	u.tellLosses(r.Installation, r.Losses)
}

// ConfirmRecovery asks whether the open run is ended.
func (u *installUser) ConfirmRecovery(ctx context.Context, r *installer.Recovery) (bool, error) {
	n := len(slices.DeleteFunc(slices.Clone(r.Plan.Acts), func(a install.RecoveryAct) bool { return a.Verb == install.RecoverLeave }))
	question := fmt.Sprintf("resume or undo the %s of %s by %s: %s. Do it?", r.Plan.Run.Action, r.Installation.Name, r.Plan.Run.By, object.Count(n, "step"))
	return u.agreed(ctx, r.Installation, r.Losses, question)
}

// chartNotes prints the notes of the installed charts.
func (o *installOptions) chartNotes(planned *install.Plan) {
	if !o.Env.Talk || !o.ForPeople() {
		return
	}
	for _, part := range planned.Parts {
		if part.Rendered != nil && strings.TrimSpace(part.Rendered.Notes) != "" && !slices.Contains(planned.Unchanged, part.Name) {
			fmt.Fprintf(o.Env.ErrOut, "\nnotes of %s:\n%s\n", command.Safe(part.Name), safeLines(strings.TrimSpace(part.Rendered.Notes)))
		}
	}
}

func safeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = command.Safe(lines[i])
	}
	return strings.Join(lines, "\n")
}
