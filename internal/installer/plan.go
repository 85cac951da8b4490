package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Plan is a planned request.
type Plan struct {
	*cluster
	req          Request
	Installation install.Installation
	// Planned are the steps, with what refuses them.
	Planned *install.Plan
	// RollbackTo is the run that a rollback returns to; nil for other actions. It is chosen once,
	// since ending a killed rollback adds a run to the history.
	RollbackTo *install.RunRecord

	journal *install.Journal
	runner  *install.Runner
	state   install.State
	// died says that the process of the open run is dead: the run has to be ended first.
	died bool

	// found is the installation that a rollback or an uninstall is about; nil for other actions.
	found *foundInstallation

	// These are of an install or an upgrade.
	packages installedPackages
	there    map[string]installedPackage
	needs    *dependants
	chosen   []solve.Choice
	loader   *partLoader
}

func (c *cluster) newPlan(req Request, f *foundInstallation, died bool) *Plan {
	p := &Plan{cluster: c, req: req, Installation: f.installation, journal: f.journal, runner: f.runner, found: f, died: died}
	p.wire()
	return p
}

// Fetched returns where the artifacts of each part are from.
func (p *Plan) Fetched() map[string]string {
	if p.loader == nil {
		return nil
	}
	return p.loader.fetched
}

// Refused is why the plan is not run; nil if nothing refuses it.
func (p *Plan) Refused() error {
	planned := p.Planned
	if len(planned.Refusals) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	var hints []string
	for _, r := range planned.Refusals {
		text := r.Message
		if r.Object != (object.Ref{}) && !strings.Contains(text, r.Object.Name) {
			text = r.Object.String() + ": " + text
		}
		if r.Part != "" && !strings.Contains(text, r.Part) {
			text = r.Part + ": " + text
		}
		lines.Lines = append(lines.Lines, text)
		if r.Hint != "" && !slices.Contains(hints, r.Hint) {
			hints = append(hints, r.Hint)
		}
	}
	lines.Lines = append(lines.Lines, "nothing was written")
	return hint.With(lines, strings.Join(hints, "\n"))
}

// Closes says that the plan only closes an open run, whose steps were all run before.
func (p *Plan) Closes() bool {
	return len(p.Planned.Steps) == 0 && p.journal.Run != nil && p.req.writes()
}

// planInstall plans an install or an upgrade.
func (i *Installer) planInstall(ctx context.Context, req Request) (*Plan, error) {
	for _, t := range req.Targets {
		if _, err := i.Catalogs.Installable(t.Name); err != nil {
			return nil, err
		}
	}
	c, err := i.connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &Plan{cluster: c, req: req}
	if req.System != nil {
		if err := systems.Place(req.System, c.namespace, c.given != ""); err != nil {
			return nil, err
		}
	}
	if p.packages, err = c.installed(ctx, p.trust(), p.namespaces()); err != nil {
		return nil, err
	}
	p.there = p.packages.there
	if p.needs, err = c.readDependants(ctx, p.there, p.namespaces()); err != nil {
		return nil, err
	}
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.Installation = p.installation()
	if p.runner, p.journal, err = c.openJournal(ctx, p.Installation); err != nil {
		return nil, err
	}
	p.wire()
	// If an open run changes what is installed, the versions are chosen again.
	if again, err := p.revertOpenRun(ctx); err != nil {
		return nil, err
	} else if again {
		if err := p.solve(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.loadParts(ctx); err != nil {
		return nil, err
	}
	if err := p.refuseConcurrent(ctx); err != nil {
		return nil, err
	}
	if err := p.planParts(ctx); err != nil {
		return nil, err
	}
	if p.journal.Run == nil {
		return p, nil
	}
	alive, err := c.waitForLock(ctx, &req, p.Installation)
	p.died = !alive
	return p, err
}

// namespaces are those to search if the user may not list all.
func (p *Plan) namespaces() []string {
	out := []string{p.namespace}
	for _, e := range p.Catalogs.Entries() {
		if v, ok := e.Latest(); ok {
			out = append(out, v.Namespace)
		}
	}
	if sys := p.req.System; sys != nil {
		out = append(out, sys.Namespace)
		for _, o := range sys.Operators {
			out = append(out, o.Namespace)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(ns string) bool { return ns == "" })
}

func (p *Plan) trust() trust {
	t := trust{cats: p.Catalogs, given: p.given, system: map[string]string{}}
	if p.req.System != nil {
		for _, o := range p.req.System.Operators {
			t.system[o.Name] = o.Namespace
		}
	}
	return t
}

// installation is what the run is about; its namespace has the journal.
func (p *Plan) installation() install.Installation {
	if sys := p.req.System; sys != nil {
		return install.Installation{Name: sys.Name, Namespace: sys.Namespace, System: true}
	}
	name := p.req.Targets[0].Name
	return install.Installation{Name: name, Namespace: p.namespaceOf(name)}
}

// namespaceOf is the namespace of an operator.
func (p *Plan) namespaceOf(name string) string {
	if current, ok := p.there[name]; ok {
		return current.namespace
	}
	if p.given != "" && len(p.req.Targets) == 1 {
		return p.given
	}
	e, _ := p.Catalogs.Find(name)
	for _, c := range p.chosen {
		if v, ok := e.Version(c.Version); ok && c.Name == name {
			return v.Namespace
		}
	}
	return p.namespace
}

// refuseConcurrent returns an error if another run changes a release of a part: by the journal of
// the operator itself, or by that of the System that its last record names.
func (p *Plan) refuseConcurrent(ctx context.Context) error {
	for _, part := range p.loader.parts {
		if part.App {
			continue
		}
		candidates := []install.Installation{{Name: part.Name, Namespace: part.Namespace}}
		current, exists := p.there[part.Name]
		if m := current.marks; exists && m.System != "" {
			candidates = append(candidates, install.Installation{Name: m.System, Namespace: m.SystemNamespace})
		}
		for _, other := range candidates {
			found, err := install.Find(ctx, p.config, other.Name, []string{other.Namespace})
			if err != nil {
				return err
			}
			for _, f := range found {
				if err := p.refuseBusy(f, part, current.marks.Run); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// refuseBusy returns an error if the open run of another installation changes a part. The journal
// of another namespace counts only if the record of the release, made by run, names the same run.
func (p *Plan) refuseBusy(f install.Found, part *install.Part, run string) error {
	in := f.Installation
	if f.Err != nil || f.Journal.Run == nil || in.Name == p.Installation.Name && in.Namespace == p.Installation.Namespace {
		return nil
	}
	if in.Namespace != part.Namespace && f.Journal.Run.ID != run {
		return nil
	}
	if !slices.Contains(f.Touches(), helm.ReleaseName{Name: part.Release, Namespace: part.Namespace}) {
		return nil
	}
	return hint.With(fmt.Errorf("%s is part of a run that did not finish: %s of %s/%s, by %s", part.Name, f.Journal.Run.Action, in.Namespace, in.Name, f.Journal.Run.By),
		fmt.Sprintf("wait for it, or undo it: kubectl sysop rollback %s -n %s --unfinished", in.Name, in.Namespace))
}

// planParts plans the steps over the current state.
func (p *Plan) planParts(ctx context.Context) error {
	unchanged := p.unchangedReleases()
	var before []install.ReleaseState
	if past := p.journal.Runs; len(past) > 0 {
		before = slices.DeleteFunc(slices.Clone(past[len(past)-1].Releases), func(r install.ReleaseState) bool {
			return slices.ContainsFunc(unchanged, func(s install.ReleaseState) bool { return s.Release == r.Release && s.Namespace == r.Namespace })
		})
	}
	var err error
	p.state, err = install.ReadState(ctx, p.reader, install.StateRequest{
		Installation: p.Installation, Action: p.req.Action, Parts: p.loader.parts, Kinds: p.kinds, Before: before,
	})
	if err != nil {
		return err
	}
	o := install.PlanOptions{
		NeedsHidden: strings.Join(p.needs.hidden, "; "), IgnoreHidden: p.req.Force, TakeOwnership: p.req.TakeOwnership, ForceDefinitions: p.req.Force,
		Timeout: p.req.Timeout, Before: before, Arguments: p.arguments(),
	}
	if !p.req.NoAnnotate {
		o.Annotate = p.annotate
	}
	if sys := p.req.System; sys != nil {
		o.Set = system.SetID(system.ParentRef(sys.Namespace, sys.Name))
		if o.Needed, err = p.neededByOthers(); err != nil {
			return err
		}
	}
	o.Resume, o.Waiting = p.resumed()
	p.Planned = install.NewPlan(p.req.Action, p.Installation, p.loader.parts, p.state, o)
	p.Planned.MadeOf(p.journal)
	p.note(p.loader.notes...)
	p.Planned.Needs = p.requirements()
	if err := p.refuseBreaking(); err != nil {
		return err
	}
	p.dropWaits()
	if err := p.checkImages(ctx); err != nil {
		return err
	}
	p.noteOrigins()
	p.Planned.Stays = unchanged
	for _, s := range unchanged {
		p.Planned.Unchanged = append(p.Planned.Unchanged, s.Part)
	}
	return p.checkInputs(ctx)
}

func (p *Plan) note(notes ...string) { p.Planned.Notes = append(p.Planned.Notes, notes...) }

// unchangedReleases are the installed operators that are needed and stay unchanged.
func (p *Plan) unchangedReleases() []install.ReleaseState {
	var out []install.ReleaseState
	for _, c := range p.chosen {
		current, found := p.there[c.Name]
		if found && !slices.ContainsFunc(p.loader.parts, func(part *install.Part) bool { return part.Name == c.Name }) {
			out = append(out, install.ReleaseState{Part: c.Name, Release: current.release, Namespace: current.namespace, Version: current.version, Revision: current.revision})
		}
	}
	return out
}

// resumed returns the ID of the open run, and the parts of its releases: these are waited for even
// if no step is left for them.
func (p *Plan) resumed() (id string, waiting []string) {
	if p.journal.Run == nil {
		return "", nil
	}
	for _, s := range p.journal.Run.Steps {
		if s.Release != "" {
			waiting = append(waiting, s.Part)
		}
	}
	return p.journal.Run.ID, waiting
}

// dropWaits drops the wait for parts without dependents, if that was requested. Parts whose
// dependents are held are waited for all the same.
func (p *Plan) dropWaits() {
	if p.req.Wait || p.req.System != nil && p.req.System.Upgrade.Regulate {
		return
	}
	p.Planned.Steps = slices.DeleteFunc(p.Planned.Steps, func(s install.Step) bool {
		needed := slices.ContainsFunc(p.Planned.Parts, func(o *install.Part) bool {
			return slices.Contains(o.Needs, s.Part) || slices.ContainsFunc(o.Connections, func(c connection.Connection) bool { return c.Name == s.Part })
		})
		return s.Kind == install.Await && !needed
	})
}

// arguments is a digest of what was requested: an open run is continued only by the same request.
// How it is run and shown is no part of it. Only the digest is stored: values may be secret.
func (p *Plan) arguments() string {
	r, o := &p.req, &p.Catalogs.Options
	return digest(struct {
		Action, Manifest, Bundle, ImageRegistry, Key, Keyring string
		Targets                                               []Target
		Catalogues                                            []string
		Values                                                map[string]any
		TakeOwnership, NoAnnotate, Lookup, Wait, Force, Reset bool
		Unverified, PlainHTTP                                 bool
	}{
		Action: string(r.Action), Manifest: r.Manifest, Bundle: o.Bundle, ImageRegistry: r.ImageRegistry, Key: o.Key, Keyring: o.Keyring,
		Targets: r.Targets, Catalogues: o.Addresses, Values: r.Values,
		TakeOwnership: r.TakeOwnership, NoAnnotate: r.NoAnnotate, Lookup: r.Lookup, Wait: r.Wait, Force: r.Force, Reset: r.ResetValues,
		Unverified: o.Unverified, PlainHTTP: o.PlainHTTP,
	})
}

func digest(arguments any) string {
	text, err := json.Marshal(arguments)
	if err != nil {
		text = []byte(err.Error()) // values are from YAML, which JSON can express
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// roles returns the roles that a plan and the end of an open run need.
func (p *Plan) roles(open *Recovery) []*unstructured.Unstructured {
	var created []string
	for _, s := range p.Planned.Steps {
		if s.Kind == install.MakeNamespace {
			created = append(created, s.Namespace)
		}
	}
	return permission.Role(RoleName(p.Installation.Name), p.permissions(open), created...)
}

// RoleName is the name of the roles of an installation.
func RoleName(installation string) string { return "sysop-install-" + installation }

// permissions returns those that a plan and the end of an open run need.
func (p *Plan) permissions(open *Recovery) []permission.Permission {
	rights := install.Permissions(p.Planned, p.state, p.kinds)
	if p.loader != nil && len(rights) > 0 {
		rights = append(rights, p.loader.reads...)
	}
	if open != nil {
		rights = append(rights, install.RecoveryRights(p.Installation, open.Plan, p.kinds)...)
	}
	return rights
}

// confirm has the user confirm the plan. Losses are those of an open run that it continues.
func (p *Plan) confirm(ctx context.Context, user User, losses []object.Ref) (bool, error) {
	if sys := p.regulated(); sys != nil {
		if apps := p.changedApps(sys); len(apps) > 0 {
			p.note(p.Regulation.HeldNotes(ctx, sys, apps)...)
		}
	}
	return user.Confirm(ctx, p, losses)
}

// regulated returns the System whose apps are held while others of it change; nil for none.
func (p *Plan) regulated() *system.System {
	switch sys := p.req.System; {
	case p.req.Action == install.Rollback:
		return p.found.regulated()
	case sys != nil && sys.Upgrade.Regulate:
		return sys
	}
	return nil
}

// changedApps are the apps that the plan changes, themselves or by their operator.
func (p *Plan) changedApps(sys *system.System) []string {
	var apps []string
	for i := range p.Planned.Steps {
		s := &p.Planned.Steps[i]
		part := slices.IndexFunc(p.Planned.Parts, func(o *install.Part) bool { return o.Name == s.Part })
		if part >= 0 && (s.Kind == install.UpgradeRelease || s.Kind == install.RollbackRelease) {
			apps = append(apps, p.Planned.Parts[part].AppsOf(sys)...)
		}
	}
	return distinct(apps)
}
