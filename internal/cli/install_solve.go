package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// solve chooses the packages.
func (p *installPlan) solve(ctx context.Context) error {
	q := solve.Question{Available: p.cats.Packages(), Served: p.cluster.served(), Kubernetes: p.cluster.kubernetes}
	for _, name := range slices.Sorted(maps.Keys(p.there)) {
		q.Installed = append(q.Installed, p.installedPackage(p.there[name], &q))
	}
	q.Wants = append(wantsOf(p.targets, p.sys), appWants(p.sys, p.cluster.Kinds, func(kind string) bool {
		return len(p.cats.Providers(solve.API{Kind: kind})) > 0
	})...)
	var err error
	p.chosen, err = solve.Solve(ctx, q)
	if err == nil {
		return p.changeable()
	}
	for _, t := range p.targets {
		if current, found := p.there[t.name]; found && p.o.action == install.Install && t.version != "" && t.version != current.version {
			return hint.With(&hint.Lines{Lines: strings.Split(err.Error(), "\n")}, "kubectl sysop upgrade "+t.name+"@"+t.version+" changes the installed one")
		}
	}
	return unsolved(err)
}

// unsolved is why there is no answer, with a way out.
func unsolved(err error) error {
	wayOut := "kubectl sysop catalog show OPERATOR shows what an operator needs"
	if several, ok := errors.AsType[*solve.AmbiguousError](err); ok {
		wayOut = "name one of them as well: " + strings.Join(several.Candidates, " or ")
	}
	return hint.With(&hint.Lines{Lines: strings.Split(err.Error(), "\n")}, wayOut)
}

// installedPackage is an installed operator as the solver takes it. It stays as it is unless it was
// requested; an upgrade may include its dependencies.
func (p *installPlan) installedPackage(current installedPackage, q *solve.Question) solve.Installed {
	out := solve.Installed{Package: solve.Package{Name: current.name, Version: current.version}, Fixed: p.o.action != install.Upgrade}
	if i := slices.IndexFunc(q.Available, func(a solve.Package) bool { return a.Name == current.name && a.Version == current.version }); i >= 0 {
		out.Package = q.Available[i]
	}
	if known, ok := p.needs.find(current.name); ok {
		out.Provides = known.Provides
		if !known.guessed {
			out.Requires = p.solvable(known.Requires, q)
		}
	}
	return out
}

// solvable returns the requirements that the solver can meet: a package that is neither installed
// nor available, and that a running package needs, is no task of this run.
func (p *installPlan) solvable(all []solve.Requirement, q *solve.Question) []solve.Requirement {
	return slices.DeleteFunc(slices.Clone(all), func(r solve.Requirement) bool {
		_, found := p.there[r.Package]
		return r.Package != "" && !found && !slices.ContainsFunc(q.Available, func(a solve.Package) bool { return a.Name == r.Package })
	})
}

// changeable refuses to install what is there in another version, and to upgrade what is not.
func (p *installPlan) changeable() error {
	for _, t := range p.targets {
		current, exists := p.there[t.name]
		i := slices.IndexFunc(p.chosen, func(c solve.Choice) bool { return c.Name == t.name })
		switch {
		case p.o.action == install.Upgrade && !exists:
			if err := p.found.deniedReleases(t.name, p.believed().namespaces(t.name)); err != nil {
				return err
			}
			return hint.With(fmt.Errorf("%s is not installed, or not by kubectl sysop: there is nothing to upgrade", t.name), cmp.Or(p.found.hint(t.name), "kubectl sysop install "+t.name))
		case p.o.action == install.Install && exists && i >= 0 && p.chosen[i].Version != current.version:
			return hint.With(fmt.Errorf("%s is already installed, in version %s", t.name, current.version), "kubectl sysop upgrade "+t.name)
		}
	}
	return nil
}
