package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// installPlan is a plan of what is to be installed or upgraded, and what it was made from.
type installPlan struct {
	o       *installOptions
	cluster *installCluster
	cats    *catalogues
	sys     *system.System
	text    string // of its manifest
	targets []target
	values  map[string]any
	there   map[string]installedPackage
	found   installedPackages
	chosen  []solve.Choice
	made    *chartLoader
	of      install.Installation
	journal *install.Journal
	state   install.State
	planned *install.Plan
	runner  *install.Runner
	// at is what was found of the name of an uninstall or a rollback.
	at *foundInstallation
	// died says that the process of the run in the journal is dead: the run has to be ended first.
	died bool
	// needs are who needs which of what is there.
	needs *dependants
}

// propose finds out what is to be done. Nothing is written.
func (o *installOptions) propose(ctx context.Context) (*installPlan, error) {
	p := &installPlan{o: o}
	var err error
	if p.targets, err = o.checkTargets(); err != nil {
		return nil, err
	}
	if p.values, err = o.readValues(ctx); err != nil {
		return nil, err
	}
	if p.cats, err = o.load(ctx, o.common); err != nil {
		return nil, err
	}
	for _, t := range p.targets {
		if _, err := p.cats.entry(t.name); err != nil {
			return nil, err
		}
	}
	if err := p.readSystem(ctx); err != nil {
		return nil, err
	}
	if p.cluster, err = o.installCluster(ctx); err != nil {
		return nil, err
	}
	if p.sys != nil {
		if err := systems.Place(p.sys, p.cluster.Namespace, app.Given(o.Config.Namespace)); err != nil {
			return nil, err
		}
	}
	if p.found, err = p.cluster.installed(ctx, p.believed(), p.namespaces()); err != nil {
		return nil, err
	}
	p.there = p.found.there
	if p.needs, err = p.cluster.readDependants(ctx, p.cats, p.there, p.namespaces()); err != nil {
		return nil, err
	}
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.place()
	if err := o.named(p.of.Name); err != nil {
		return nil, err
	}
	if err := p.considerOpenRun(ctx); err != nil {
		return nil, err
	}
	if err := p.compose(ctx); err != nil {
		return nil, err
	}
	if err := p.refuseConcurrent(ctx); err != nil {
		return nil, err
	}
	if err := p.plan(ctx); err != nil {
		return nil, err
	}
	o.wire(p.runner, p.cluster)
	return p, p.await(ctx)
}

// considerOpenRun reads the journal, and selects versions again if a run that did not finish
// changes what is installed.
func (p *installPlan) considerOpenRun(ctx context.Context) error {
	if err := p.loadJournal(ctx); err != nil {
		return err
	}
	again, err := p.beforeRun(ctx)
	if err != nil || !again {
		return err
	}
	return p.solve(ctx)
}

// await waits for the run that did not finish, if its process is alive, and finds out whether it died.
func (p *installPlan) await(ctx context.Context) error {
	if p.journal.Run == nil {
		return nil
	}
	alive, err := p.o.unlocked(ctx, p.cluster, p.of)
	p.died = !alive
	return err
}

// readSystem reads the manifest, with the values of the command line: that of -f, or of the
// bundle where nothing is named.
func (p *installPlan) readSystem(ctx context.Context) error {
	text, name := p.bundledSystem()
	switch {
	case p.o.file != "":
		var err error
		if text, err = systems.Text(ctx, &p.o.Input, p.o.file); err != nil {
			return err
		}
		name = systems.FileName(p.o.file)
	case len(p.targets) > 0:
		return nil
	case text == nil:
		return hint.With(fmt.Errorf("the bundle %s has no System", p.o.bundle), "name an OPERATOR, or a System with -f FILE")
	}
	var problems []strict.Problem
	if p.sys, problems = system.ParseWith(name, text, p.values); len(problems) > 0 {
		return hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, systems.FormatHint)
	}
	p.text = string(text)
	return nil
}

// namespaces are those to search if the user may not list all.
func (p *installPlan) namespaces() []string {
	out := []string{p.cluster.Namespace}
	for _, e := range p.cats.Entries() {
		if v, ok := e.Latest(); ok {
			out = append(out, v.Namespace)
		}
	}
	if p.sys != nil {
		out = append(out, p.sys.Namespace)
		for _, o := range p.sys.Operators {
			out = append(out, o.Namespace)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(ns string) bool { return ns == "" })
}

// believed says where operators are believed to be.
func (p *installPlan) believed() believed {
	b := believed{cats: p.cats, system: map[string]string{}}
	if app.Given(p.o.Config.Namespace) {
		b.given = *p.o.Config.Namespace
	}
	if p.sys != nil {
		for _, o := range p.sys.Operators {
			b.system[o.Name] = o.Namespace
		}
	}
	return b
}

// place says what the run is about, and where its journal is.
func (p *installPlan) place() {
	if p.sys != nil {
		p.of = install.Installation{Name: p.sys.Name, Namespace: p.sys.Namespace, System: true}
		return
	}
	name := p.targets[0].name
	p.of = install.Installation{Name: name, Namespace: p.home(name)}
}

// home is the namespace of an operator.
func (p *installPlan) home(name string) string {
	if current, ok := p.there[name]; ok {
		return current.namespace
	}
	if app.Given(p.o.Config.Namespace) && len(p.targets) == 1 {
		return *p.o.Config.Namespace
	}
	e, _ := p.cats.Find(name)
	for _, c := range p.chosen {
		if v, ok := e.Version(c.Version); ok && c.Name == name {
			return v.Namespace
		}
	}
	return p.cluster.Namespace
}

// compose makes the parts.
func (p *installPlan) compose(ctx context.Context) error {
	p.made = &chartLoader{
		o: p.o, cats: p.cats, kinds: p.cluster.Kinds, sys: p.sys, targets: p.targets, kubernetes: p.cluster.kubernetes, apis: p.cluster.apis(),
		there: p.there, fetched: map[string]string{}, custom: map[schema.GroupKind]bool{},
	}
	if p.sys == nil {
		p.made.values = p.values
	}
	if err := p.made.packages(ctx, p.chosen); err != nil {
		return err
	}
	// Dependencies that are installed and stay unchanged are not parts.
	for _, part := range p.made.parts {
		part.Needs = slices.DeleteFunc(slices.Clone(part.Needs), func(name string) bool {
			return !slices.ContainsFunc(p.made.parts, func(o *install.Part) bool { return o.Name == name })
		})
	}
	return p.made.apps(ctx)
}

// loadJournal reads the journal.
func (p *installPlan) loadJournal(ctx context.Context) error {
	var err error
	if p.runner, err = p.cluster.runner(p.of); err != nil {
		return err
	}
	if p.journal, err = p.runner.Store.Load(ctx); err != nil {
		return deniedJournal(err, p.of)
	}
	return nil
}

// refuseConcurrent sees that no other run is at work on a release of a part: by the journal of the
// operator itself, and by that of the System that its last record names.
func (p *installPlan) refuseConcurrent(ctx context.Context) error {
	for _, part := range p.made.parts {
		if part.App {
			continue
		}
		candidates := []install.Installation{{Name: part.Name, Namespace: part.Namespace}}
		current, exists := p.there[part.Name]
		if m := current.marks; exists && m.System != "" {
			candidates = append(candidates, install.Installation{Name: m.System, Namespace: m.SystemNamespace})
		}
		for _, other := range candidates {
			found, err := install.Find(ctx, p.cluster.Config, other.Name, []string{other.Namespace})
			if err != nil {
				return err
			}
			for _, f := range found {
				if err := p.busy(f, part, current.marks.Run); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// busy refuses a part that the run of another installation touches. What is said of a System
// counts only where the record of the release, made by run, says the same.
func (p *installPlan) busy(f install.Found, part *install.Part, run string) error {
	in := f.Installation
	if f.Err != nil || f.Journal.Run == nil || in.Name == p.of.Name && in.Namespace == p.of.Namespace {
		return nil
	}
	if in.Namespace != part.Namespace && f.Journal.Run.ID != run {
		return nil
	}
	if !slices.Contains(f.Touches(), install.ReleaseName{Name: part.Release, Namespace: part.Namespace}) {
		return nil
	}
	return hint.With(fmt.Errorf("%s is part of a run that did not finish: %s of %s/%s, by %s", part.Name, f.Journal.Run.Action, in.Namespace, in.Name, f.Journal.Run.By),
		fmt.Sprintf("wait for it, or undo it: kubectl sysop rollback %s -n %s --unfinished", in.Name, in.Namespace))
}

// plan makes the plan over what is there.
func (p *installPlan) plan(ctx context.Context) error {
	stays := p.unchangedReleases()
	var before []install.ReleaseState
	if past := p.journal.Runs; len(past) > 0 {
		before = slices.DeleteFunc(slices.Clone(past[len(past)-1].Releases), func(r install.ReleaseState) bool {
			return slices.ContainsFunc(stays, func(s install.ReleaseState) bool { return s.Release == r.Release && s.Namespace == r.Namespace })
		})
	}
	var err error
	p.state, err = install.ReadState(ctx, p.cluster.reader, install.StateRequest{
		Installation: p.of, Action: p.o.action, Parts: p.made.parts, Kinds: p.cluster.Kinds, Before: before,
	})
	if err != nil {
		return err
	}
	needed, err := p.needed()
	if err != nil {
		return err
	}
	o := install.PlanOptions{Needed: needed, NeedsHidden: strings.Join(p.needs.hidden, "; "), IgnoreHidden: p.o.force, TakeOwnership: p.o.takeOwnership, ForceDefinitions: p.o.force, Timeout: p.o.timeout, Before: before, Arguments: p.arguments()}
	if !p.o.noAnnotate {
		o.Annotate = p.annotate
	}
	if p.sys != nil {
		o.Set = system.SetID(system.ParentRef(p.sys.Namespace, p.sys.Name))
	}
	o.Resume, o.Waiting = p.resumed()
	p.planned = install.NewPlan(p.o.action, p.of, p.made.parts, p.state, o)
	p.planned.MadeOf(p.journal)
	p.planned.Notes = append(p.planned.Notes, p.made.notes...)
	p.planned.Needs = p.needsNow()
	if err := p.breaking(); err != nil {
		return err
	}
	p.unwaited()
	if err := p.images(ctx); err != nil {
		return err
	}
	p.claimed()
	p.hidden()
	p.planned.Stays = stays
	for _, s := range stays {
		p.planned.Unchanged = append(p.planned.Unchanged, s.Part)
	}
	return p.inputs(ctx)
}
