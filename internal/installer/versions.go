package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// solve chooses the packages.
func (p *Plan) solve(ctx context.Context) error {
	q := solve.Question{Available: p.Catalogs.Packages(), Served: p.served(), Kubernetes: p.version}
	for _, name := range slices.Sorted(maps.Keys(p.there)) {
		q.Installed = append(q.Installed, p.solverPackage(p.there[name], &q))
	}
	q.Wants = wants(&p.req, p.Catalogs, p.kinds)
	var err error
	p.chosen, err = solve.Solve(ctx, q)
	if err == nil {
		return p.refuseVersions()
	}
	for _, t := range p.req.Targets {
		if current, found := p.there[t.Name]; found && p.req.Action == install.Install && t.Version != "" && t.Version != current.version {
			return hint.With(&hint.Lines{Lines: strings.Split(err.Error(), "\n")}, "kubectl sysop upgrade "+t.Name+"@"+t.Version+" changes the installed one")
		}
	}
	return unsolved(err)
}

// unsolved explains that no versions fit.
func unsolved(err error) error {
	help := "kubectl sysop catalog show OPERATOR shows what an operator needs"
	if several, ok := errors.AsType[*solve.AmbiguousError](err); ok {
		help = "name one of them as well: " + strings.Join(several.Candidates, " or ")
	}
	return hint.With(&hint.Lines{Lines: strings.Split(err.Error(), "\n")}, help)
}

// solverPackage returns an installed operator for the solver. It keeps its version unless a change
// was requested; an upgrade may include its dependencies.
func (p *Plan) solverPackage(current installedPackage, q *solve.Question) solve.Installed {
	out := solve.Installed{Package: solve.Package{Name: current.name, Version: current.version}, Fixed: p.req.Action != install.Upgrade}
	if i := slices.IndexFunc(q.Available, func(a solve.Package) bool { return a.Name == current.name && a.Version == current.version }); i >= 0 {
		out.Package = q.Available[i]
	}
	known, ok := p.needs.find(current.name)
	if !ok {
		return out
	}
	out.Provides = known.Provides
	if known.guessed {
		return out
	}
	// A package that is neither installed nor available, and that a running package needs, cannot be
	// solved by this run.
	out.Requires = slices.DeleteFunc(slices.Clone(known.Requires), func(r solve.Requirement) bool {
		_, found := p.there[r.Package]
		return r.Package != "" && !found && !slices.ContainsFunc(q.Available, func(a solve.Package) bool { return a.Name == r.Package })
	})
	return out
}

// refuseVersions refuses to install an operator that is installed in another version, and to
// upgrade one that is not installed.
func (p *Plan) refuseVersions() error {
	for _, t := range p.req.Targets {
		current, exists := p.there[t.Name]
		i := slices.IndexFunc(p.chosen, func(c solve.Choice) bool { return c.Name == t.Name })
		switch {
		case p.req.Action == install.Upgrade && !exists:
			if err := p.packages.denied(t.Name, p.trust().namespaces(t.Name)); err != nil {
				return err
			}
			return hint.With(fmt.Errorf("%s is not installed, or not by kubectl sysop: there is nothing to upgrade", t.Name), cmp.Or(p.packages.hint(t.Name), "kubectl sysop install "+t.Name))
		case p.req.Action == install.Install && exists && i >= 0 && p.chosen[i].Version != current.version:
			return hint.With(fmt.Errorf("%s is already installed, in version %s", t.Name, current.version), "kubectl sysop upgrade "+t.Name)
		}
	}
	return nil
}

// wants returns what a request asks of the solver.
func wants(req *Request, cats *catalogs.Catalogs, kinds *object.Kinds) []solve.Want {
	var out []solve.Want
	for _, t := range req.Targets {
		out = append(out, solve.Want{Requirement: solve.Requirement{Package: t.Name, Range: t.Version}, By: "the command line"})
	}
	return append(out, systemWants(req.System, cats, kinds)...)
}

// systemWants returns what a System asks: its operators, and providers of the custom resources of
// its apps. The operator that an app names has precedence.
func systemWants(sys *system.System, cats *catalogs.Catalogs, kinds *object.Kinds) []solve.Want {
	if sys == nil {
		return nil
	}
	var out []solve.Want
	ranges := map[string]string{}
	for _, o := range sys.Operators {
		ranges[o.Name] = o.Version
		out = append(out, solve.Want{Requirement: solve.Requirement{Package: o.Name, Range: o.Version}, By: "system " + sys.Name})
	}
	source := func(a *system.App) string { return fmt.Sprintf("System %s: app %s", sys.Name, a.Name) }
	for i := range sys.Apps {
		if a := &sys.Apps[i]; a.Operator != "" {
			out = append(out, solve.Want{Requirement: solve.Requirement{Package: a.Operator, Range: ranges[a.Operator]}, By: source(a)})
		}
	}
	for i := range sys.Apps {
		for _, api := range customAPIs(&sys.Apps[i], cats, kinds) {
			out = append(out, solve.Want{Requirement: solve.Requirement{API: api}, By: source(&sys.Apps[i])})
		}
	}
	return out
}

// customAPIs returns the APIs of the custom resources of an app, one for each version.
func customAPIs(a *system.App, cats *catalogs.Catalogs, kinds *object.Kinds) (out []solve.API) {
	versions := map[string][]string{}
	for _, o := range a.Resources {
		gvk := o.GroupVersionKind()
		name := apiName(gvk.Kind, gvk.Group)
		if gvk.Group == "" || !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io") && len(cats.Providers(solve.API{Kind: name})) == 0 {
			continue // built in: the API server serves it, and no package provides it
		}
		if r, ok := kinds.Kind(gvk.GroupKind()); ok && !r.Custom {
			continue
		}
		if !slices.Contains(versions[name], gvk.Version) {
			versions[name] = append(versions[name], gvk.Version)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		for _, v := range versions[name] {
			out = append(out, solve.API{Kind: name, Versions: []string{v}})
		}
	}
	return out
}

func apiName(kind, group string) string { return kind + "." + group }

// requirements returns the requirements of the parts, for the journal: packages with what they
// require and provide, and what a System and its apps ask.
func (p *Plan) requirements() []install.Need {
	var out []install.Need
	for _, part := range p.loader.parts {
		i := slices.IndexFunc(p.chosen, func(c solve.Choice) bool { return c.Name == part.Name })
		if part.App || i < 0 {
			continue
		}
		n := install.Need{Part: part.Name, Version: part.Version, Requires: p.chosen[i].Requires}
		provides := slices.Clone(p.chosen[i].Provides)
		if part.Rendered != nil {
			for _, u := range part.Rendered.Definitions {
				provides = append(provides, install.Defined(u))
			}
		}
		for _, a := range provides {
			if !slices.ContainsFunc(n.Provides, func(b solve.API) bool { return a.Kind == b.Kind && slices.Equal(a.Versions, b.Versions) }) {
				n.Provides = append(n.Provides, a)
			}
		}
		out = append(out, n)
	}
	for _, n := range p.journal.Needs() { // Parts of earlier runs that stay.
		_, found := p.there[n.Part]
		if found && !slices.ContainsFunc(out, func(o install.Need) bool { return o.Part == n.Part }) {
			out = append(out, n)
		}
	}
	if p.req.System == nil {
		return out
	}
	need := install.Need{}
	for _, w := range systemWants(p.req.System, p.Catalogs, p.kinds) {
		if !slices.ContainsFunc(need.Requires, func(r solve.Requirement) bool { return sameRequirement(r, w.Requirement) }) {
			need.Requires = append(need.Requires, w.Requirement)
		}
	}
	return append(out, need)
}

func sameRequirement(a, b solve.Requirement) bool {
	return a.Package == b.Package && a.Range == b.Range && a.Optional == b.Optional && a.API.Kind == b.API.Kind && slices.Equal(a.API.Versions, b.API.Versions)
}
