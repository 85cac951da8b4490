package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// foundInstallation is an existing installation, with its journal.
type foundInstallation struct {
	of      install.Installation
	journal *install.Journal
	// is is the operator, if it is installed.
	is     installedPackage
	there  map[string]installedPackage
	cats   *catalogues
	runner *install.Runner
}

// find finds an installation by its name: in the namespace that is named; else an operator
// where the catalogue has it, and a System in the current namespace. Journals anywhere else
// are not read.
func (o *installOptions) find(ctx context.Context, c *installCluster, name string) (*foundInstallation, error) {
	cats, err := o.catalogued(ctx, o.common)
	if err != nil {
		return nil, err
	}
	b := believed{cats: cats}
	if app.Given(o.Config.Namespace) {
		b.given = *o.Config.Namespace
	}
	f := &foundInstallation{cats: cats}
	found, err := c.installed(ctx, b, distinctTexts(append(b.namespaces(name), c.Namespace)))
	if err != nil {
		return nil, err
	}
	f.there = found.there
	if err := f.place(ctx, c, name, b, found); err != nil {
		return nil, err
	}
	if current, exists := f.there[name]; exists && !f.of.System && current.namespace == f.of.Namespace {
		f.is = current
	}
	if f.runner, err = c.runner(f.of); err != nil {
		return nil, err
	}
	f.journal, err = f.runner.Store.Load(ctx)
	return f, deniedJournal(err, f.of)
}

// place decides which installation is named.
func (f *foundInstallation) place(ctx context.Context, c *installCluster, name string, b believed, found installedPackages) error {
	operators := b.namespaces(name)
	if b.given != "" {
		operators = []string{b.given}
	}
	all, err := install.Find(ctx, c.Config, name, operators)
	if err != nil {
		return err
	}
	var systems []install.Found
	if b.given == "" && !slices.Contains(operators, c.Namespace) {
		if systems, err = install.Find(ctx, c.Config, name, []string{c.Namespace}); err != nil {
			return err
		}
		systems = slices.DeleteFunc(systems, func(s install.Found) bool { return s.Err == nil && !s.Installation.System })
	}
	if current, exists := f.there[name]; exists && !slices.ContainsFunc(all, func(i install.Found) bool { return i.Installation.Namespace == current.namespace }) {
		all = append(all, install.Found{Installation: install.Installation{Name: name, Namespace: current.namespace}})
	}
	if len(all) == 0 || len(systems) > 0 && systems[0].Err == nil {
		all = append(all, systems...)
	}
	// An installation whose journal may not be read may exist; one with a readable journal has
	// precedence.
	if readable := slices.DeleteFunc(slices.Clone(all), func(i install.Found) bool { return apierrors.IsForbidden(i.Err) }); len(readable) > 0 {
		all = readable
	} else if len(all) > 1 {
		all = all[:1]
	}
	switch len(all) {
	case 0:
		if err := found.deniedReleases(name, append(operators, c.Namespace)); err != nil {
			return err
		}
		return f.nothing(name, found)
	case 1:
		f.of = all[0].Installation
		return deniedJournal(all[0].Err, f.of)
	}
	var origin []string
	for _, i := range all {
		origin = append(origin, i.Installation.Namespace)
	}
	return hint.With(fmt.Errorf("there are several installations of %s: in %s", name, strings.Join(origin, ", ")), "choose one with -n NAMESPACE")
}

// nothing is the error where nothing of the name was found.
func (f *foundInstallation) nothing(name string, found installedPackages) error {
	wayOut := cmp.Or(found.hint(name), "name the namespace of a System, or of an operator that is not in that of the catalog, with -n; helm list -A shows what helm has installed")
	names := slices.Sorted(maps.Keys(f.there))
	return hint.With(fmt.Errorf("no installation %q of kubectl sysop was found%s", name, object.DidYouMean(object.Nearest(name, names))), wayOut)
}

// last are the releases as the last run that was done left them.
func (f *foundInstallation) last() []install.ReleaseState {
	for _, p := range slices.Backward(f.journal.Runs) {
		if p.Result == install.ResultDone || p.Result == install.ResultUndone && len(p.Releases) > 0 {
			return p.Releases
		}
	}
	return nil
}

// parts are the parts of an installation as it is there. Of a System these are its apps:
// its operators may serve others.
func (f *foundInstallation) parts() []*install.Part {
	if !f.of.System {
		if f.is.name == "" { // It is gone; definitions may be left of it.
			return []*install.Part{{Name: f.of.Name, Release: f.of.Name, Namespace: f.of.Namespace}}
		}
		return []*install.Part{{Name: f.is.name, Release: f.is.release, Namespace: f.is.namespace, Version: f.is.version}}
	}
	var out []*install.Part
	for _, r := range f.last() {
		if r.App {
			out = append(out, &install.Part{Name: r.Part, App: true, Release: r.Release, Namespace: r.Namespace, Version: r.Version})
		}
	}
	return out
}
