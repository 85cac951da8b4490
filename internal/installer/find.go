package installer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// foundInstallation is an existing installation with its journal.
type foundInstallation struct {
	installation install.Installation
	journal      *install.Journal
	runner       *install.Runner
	there        map[string]installedPackage
	operator     installedPackage // zero for a System, or if it is not installed any more
}

// find finds an installation by its name: in the namespace of -n; else an operator in the
// namespaces of the catalog, and a System in the current namespace. Journals in other namespaces
// are not read.
func (c *cluster) find(ctx context.Context, name string) (*foundInstallation, error) {
	t := trust{cats: c.Catalogs, given: c.given}
	found, err := c.installed(ctx, t, distinct(append(t.namespaces(name), c.namespace)))
	if err != nil {
		return nil, err
	}
	f := &foundInstallation{there: found.there}
	if f.installation, err = c.locate(ctx, name, t, found); err != nil {
		return nil, err
	}
	if current, exists := f.there[name]; exists && !f.installation.System && current.namespace == f.installation.Namespace {
		f.operator = current
	}
	f.runner, f.journal, err = c.openJournal(ctx, f.installation)
	return f, err
}

// openJournal reads the journal of an installation.
func (c *cluster) openJournal(ctx context.Context, target install.Installation) (*install.Runner, *install.Journal, error) {
	r, err := c.runner(target)
	if err != nil {
		return nil, nil, err
	}
	j, err := r.Store.Load(ctx)
	return r, j, deniedJournal(err, target)
}

// locate chooses the installation of a name.
func (c *cluster) locate(ctx context.Context, name string, t trust, found installedPackages) (install.Installation, error) {
	operators := t.namespaces(name)
	if t.given != "" {
		operators = []string{t.given}
	}
	all, err := install.Find(ctx, c.config, name, operators)
	if err != nil {
		return install.Installation{}, err
	}
	var systems []install.Found
	if t.given == "" && !slices.Contains(operators, c.namespace) {
		if systems, err = install.Find(ctx, c.config, name, []string{c.namespace}); err != nil {
			return install.Installation{}, err
		}
		systems = slices.DeleteFunc(systems, func(s install.Found) bool { return s.Err == nil && !s.Installation.System })
	}
	if current, exists := found.there[name]; exists && !slices.ContainsFunc(all, func(i install.Found) bool { return i.Installation.Namespace == current.namespace }) {
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
		if err := found.denied(name, append(operators, c.namespace)); err != nil {
			return install.Installation{}, err
		}
		return install.Installation{}, notFound(name, found)
	case 1:
		return all[0].Installation, deniedJournal(all[0].Err, all[0].Installation)
	}
	var namespaces []string
	for _, i := range all {
		namespaces = append(namespaces, i.Installation.Namespace)
	}
	return install.Installation{}, hint.With(fmt.Errorf("there are several installations of %s: in %s", name, strings.Join(namespaces, ", ")), "choose one with -n NAMESPACE")
}

func notFound(name string, found installedPackages) error {
	help := cmp.Or(found.hint(name), "name the namespace of a System, or of an operator that is not in that of the catalog, with -n; helm list -A shows what helm has installed")
	names := slices.Sorted(maps.Keys(found.there))
	return hint.With(fmt.Errorf("no installation %q of kubectl sysop was found%s", name, object.DidYouMean(object.Nearest(name, names))), help)
}

// deniedJournal explains that the journal of an installation may not be read; it returns other
// errors as they are.
func deniedJournal(err error, target install.Installation) error {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return err
	}
	return hint.With(fmt.Errorf("you may not read the journal of %s in %s, so what was done to it is unknown: %w", target.Name, target.Namespace, err), rightsHint)
}

// releases returns the releases as the last complete run left them.
func (f *foundInstallation) releases() []install.ReleaseState {
	for _, p := range slices.Backward(f.journal.Runs) {
		if p.Result == install.ResultDone || p.Result == install.ResultUndone && len(p.Releases) > 0 {
			return p.Releases
		}
	}
	return nil
}

// parts returns the installed parts. Of a System, these are its apps: its operators may serve
// others.
func (f *foundInstallation) parts() []*install.Part {
	if !f.installation.System {
		if f.operator.name == "" { // It is gone; its CRDs may still exist.
			return []*install.Part{{Name: f.installation.Name, Release: f.installation.Name, Namespace: f.installation.Namespace}}
		}
		return []*install.Part{{Name: f.operator.name, Release: f.operator.release, Namespace: f.operator.namespace, Version: f.operator.version}}
	}
	var out []*install.Part
	for _, r := range f.releases() {
		if r.App {
			out = append(out, &install.Part{Name: r.Part, App: true, Release: r.Release, Namespace: r.Namespace, Version: r.Version})
		}
	}
	return out
}

// regulated returns the System of an installation, if its manifest says that dependents are held
// while its apps change; nil if not.
func (f *foundInstallation) regulated() *system.System {
	sys, problems := system.Parse("the manifest of "+f.installation.Name, []byte(f.journal.Manifest))
	if len(problems) > 0 || !sys.Upgrade.Regulate || f.journal.Trust() != journal.Verified {
		return nil
	}
	sys.Namespace = f.installation.Namespace
	return sys
}
