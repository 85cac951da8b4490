package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
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
		fmt.Fprintf(u.env.ErrOut, "%s is rolled back to revision %d: %s\n", safe(name), to.Revision, safe(pastLine(*to)))
	}
	if err := u.showPlan(planned, p.Fetched()); err != nil {
		return false, err
	}
	if p.Fetched() != nil {
		u.notes(u.cats.Notes)
	}
	if refused := p.Refused(); refused != nil {
		return false, refused
	}
	if err := p.Releasable(ctx); err != nil {
		return false, err
	}
	n := plural(len(planned.Steps), "step")
	switch {
	case p.Closes():
		return true, nil
	case len(planned.Steps) == 0:
		fmt.Fprintln(u.env.ErrOut, safe(view.NothingToDo(planned)))
		return false, p.Settle(ctx)
	case p.RollbackTo != nil:
		return u.consent(ctx, p.Installation, planned, fmt.Sprintf("roll %s back to revision %d: %s. Do it?", name, p.RollbackTo.Revision, n), losses...)
	case u.dryRun == installer.DryRunServer && u.action != install.Uninstall:
		fmt.Fprintln(u.env.ErrOut, view.DryRunAccepted(planned))
	}
	return u.consent(ctx, p.Installation, planned, fmt.Sprintf("%s %s: %s. Do it?", u.action, name, n), losses...)
}

// pastLine describes a run of the history.
func pastLine(p install.RunRecord) string {
	var releases []string
	for _, r := range p.Releases {
		releases = append(releases, strings.TrimSpace(r.Part+" "+r.Version))
	}
	return fmt.Sprintf("the %s by %s at %s (%s)", p.Action, p.By, p.Started.UTC().Format(time.RFC3339), strings.Join(releases, ", "))
}

// showPlan writes a plan: for people with its notes.
func (o *installOptions) showPlan(planned *install.Plan, fetched map[string]string) error {
	fresh, rest := view.GrantLines(planned)
	o.lines(fresh) // in front of all, so that they are seen
	if o.human() || o.dryRun != "none" || len(planned.Refusals) > 0 {
		if err := o.write(view.InstallPlanned(view.InstallPlan{Plan: planned, DryRun: o.dryRun, Fetched: fetched})); err != nil {
			return err
		}
	}
	o.lines(view.ChangeLines(planned))
	o.lines(rest)
	o.notes(planned.Notes)
	return nil
}

// lines prints lines of a plan for people; documents have them as fields.
func (o *installOptions) lines(all []string) {
	if !o.human() {
		return
	}
	for _, line := range all {
		fmt.Fprintln(o.env.ErrOut, safe(line))
	}
}
