package installer

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// planRollback plans the return to a run of the history. It refuses while another run is open; an
// open rollback with the same arguments is continued.
func (i *Installer) planRollback(ctx context.Context, req Request, to *install.RunRecord) (*Plan, error) {
	p, err := i.find(ctx, req)
	if err != nil {
		return nil, err
	}
	open := p.journal.Run
	if open != nil && open.Action != install.Rollback && req.writes() {
		return nil, unfinishedError(open)
	}
	if to == nil {
		history, err := p.runner.History(ctx)
		if err != nil {
			return nil, err
		}
		chosen, err := history.Target(req.Revision)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", p.Installation.Name, err), "kubectl sysop history "+p.Installation.Name+" shows the revisions")
		}
		to = &chosen
	}
	p.RollbackTo = to
	if err := p.planReturn(ctx); err != nil {
		return nil, err
	}
	if open != nil && req.writes() && (open.Undoing || open.Fingerprint != p.Planned.Fingerprint) {
		return nil, unfinishedError(open)
	}
	return p, nil
}

func unfinishedError(run *install.Run) error {
	return hint.With(fmt.Errorf("the %s by %s did not finish", run.Action, run.By), "--unfinished undoes it; the same command with the same arguments continues it")
}

// planReturn plans the steps over the current state.
func (p *Plan) planReturn(ctx context.Context) error {
	before, to := p.found.releases(), p.RollbackTo
	var err error
	p.state, err = install.ReadState(ctx, p.reader, install.StateRequest{Installation: p.Installation, Action: install.Rollback, Kinds: p.kinds, Before: before, To: to.Releases})
	if err != nil {
		return err
	}
	o := install.PlanOptions{
		Timeout: p.req.Timeout, Before: before, To: to.Releases, ToRevision: to.Revision, Arguments: digest(struct{ Force bool }{p.req.Force}),
	}
	o.Resume, o.Waiting = p.resumed()
	if err := p.keepNeeded(ctx, &o); err != nil {
		return err
	}
	p.Planned = install.NewPlan(install.Rollback, p.Installation, nil, p.state, o)
	p.Planned.MadeOf(p.journal)
	p.Planned.Needs = to.Needs
	return nil
}

// keepNeeded keeps the packages of an installation that others need, or may need in namespaces that
// cannot be read.
func (p *Plan) keepNeeded(ctx context.Context, o *install.PlanOptions) error {
	namespaces := []string{p.namespace, p.Installation.Namespace}
	var names []string
	for _, r := range p.found.releases() {
		if !r.App {
			names, namespaces = append(names, r.Part), append(namespaces, r.Namespace)
		}
	}
	if len(names) == 0 {
		return nil
	}
	d, err := p.readDependants(ctx, p.found.there, distinct(namespaces))
	if err != nil {
		return err
	}
	o.NeedsHidden, o.IgnoreHidden = strings.Join(d.hidden, "; "), p.req.Force
	o.Needed, err = d.neededBy(p.Installation, names)
	return err
}
