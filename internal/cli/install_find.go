package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// foundInstallation is an installation that is there, with its journal.
type foundInstallation struct {
	of      install.Installation
	journal *install.Journal
	// is is the operator, where it is one that is there.
	is    installedPackage
	there map[string]installedPackage
	// others are the installations besides it.
	others []install.Found
	runner *install.Runner
}

// find finds an installation by its name: in the namespace that is named, or wherever one of
// the name is.
func (o *installOptions) find(ctx context.Context, c *installCluster, name string) (*foundInstallation, error) {
	f := &foundInstallation{}
	var err error
	if f.there, err = c.installed(ctx, []string{c.namespace}); err != nil {
		return nil, err
	}
	all, _, err := install.Installations(ctx, c.config, []string{c.namespace})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	var names []string
	var of []install.Found
	for _, i := range all {
		if i.Err != nil && i.Installation.Name == name {
			return nil, fmt.Errorf("the journal of %s in %s: %w", name, i.Installation.Namespace, i.Err)
		}
		if given(o.config.Namespace) && i.Installation.Namespace != *o.config.Namespace {
			continue
		}
		names = append(names, i.Installation.Name)
		if i.Installation.Name == name {
			of = append(of, i)
		}
	}
	f.others = slices.DeleteFunc(all, func(i install.Found) bool { return i.Installation.Name == name })
	is, there := f.there[name]
	if there && given(o.config.Namespace) && is.namespace != *o.config.Namespace {
		there = false
	}
	switch {
	case len(of) > 1:
		var where []string
		for _, i := range of {
			where = append(where, i.Installation.Namespace)
		}
		return nil, withHint(fmt.Errorf("there are several installations %s: in %s", name, strings.Join(where, ", ")), "choose one with -n NAMESPACE")
	case len(of) == 1:
		f.of = of[0].Installation
	case there:
		f.of = install.Installation{Name: name, Namespace: is.namespace}
	default:
		for other := range f.there {
			names = append(names, other)
		}
		slices.Sort(names)
		return nil, withHint(fmt.Errorf("nothing called %q was installed with us%s", name, object.DidYouMean(object.Nearest(name, names))), "helm list -A shows what helm has installed")
	}
	if there && !f.of.System {
		f.is = is
	}
	if f.runner, err = c.runner(f.of); err != nil {
		return nil, err
	}
	f.journal, err = f.runner.Store.Load(ctx)
	return f, err
}

// last are the releases as the last run that was done left them.
func (f *foundInstallation) last() []install.ReleaseState {
	for _, p := range slices.Backward(f.journal.Past) {
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
