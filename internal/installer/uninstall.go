package installer

import (
	"context"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// planUninstall plans the removal of an operator, or of the apps of a System.
func (i *Installer) planUninstall(ctx context.Context, req Request) (*Plan, error) {
	p, err := i.find(ctx, req)
	if err != nil {
		return nil, err
	}
	f := p.found
	parts := f.parts()
	p.state, err = install.ReadState(ctx, p.reader, install.StateRequest{Installation: p.Installation, Action: install.Uninstall, Parts: parts, Kinds: p.kinds, Before: f.releases()})
	if err != nil {
		return nil, err
	}
	data := req.DeleteData && !req.Orphan // With Orphan, only data of the release itself is deleted.
	o := install.PlanOptions{
		Timeout: req.Timeout, DeleteDefinitions: req.DeleteDefinitions || data, DeleteData: data, Orphan: req.Orphan, TakeOwnership: req.TakeOwnership,
		Arguments: digest(struct{ Orphan bool }{req.Orphan}),
	}
	o.Resume, _ = p.resumed()
	if p.Installation.System {
		o.Set = system.SetID(system.ParentRef(p.Installation.Namespace, p.Installation.Name))
	}
	p.Planned = install.NewPlan(install.Uninstall, p.Installation, parts, p.state, o)
	p.Planned.MadeOf(p.journal)
	p.Planned.Needs = p.journal.NeedsWithout(parts)
	if p.Installation.System {
		p.noteOperators()
		return p, nil
	}
	return p, p.refuseDependants(ctx)
}

// refuseDependants refuses to remove an operator that other packages or Systems need.
func (p *Plan) refuseDependants(ctx context.Context) error {
	f := p.found
	namespaces := []string{p.namespace, p.Installation.Namespace}
	for _, current := range f.there {
		namespaces = append(namespaces, current.namespace)
	}
	d, err := p.readDependants(ctx, f.there, distinct(namespaces))
	if err != nil {
		return err
	}
	name := p.Installation.Name
	all, err := d.needing(name, f.operator.marks.SystemNamespace+"/"+f.operator.marks.System, p.state.Serves(name), nil)
	if err != nil {
		return err
	}
	refuseDependants(p.Planned, all, name, "--orphan", p.req.Orphan)
	d.refuseHidden(p.Planned, name, "--orphan", p.req.Orphan)
	p.note(d.notes...)
	return nil
}

// noteOperators notes which operators of a System stay.
func (p *Plan) noteOperators() {
	var stay []string
	for _, r := range p.found.releases() {
		if !r.App {
			stay = append(stay, r.Part)
		}
	}
	if len(stay) > 0 {
		p.note("its operators stay, since others may need them: " + strings.Join(stay, ", "))
	}
}

// Releasable returns an error if the plan removes a System while regulation holds an app of it.
func (p *Plan) Releasable(ctx context.Context) error {
	if p.req.Action != install.Uninstall || !p.Installation.System {
		return nil
	}
	return p.Systems.Releasable(ctx, p.Installation)
}

// wasUninstalled says that the last run on an installation removed it completely.
func wasUninstalled(j *install.Journal) bool {
	if len(j.Runs) == 0 {
		return false
	}
	last := j.Runs[len(j.Runs)-1]
	return last.Action == install.Uninstall && last.Result == install.ResultDone
}
