package cli

import (
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// find returns the entry of an installed package.
func (d *dependants) find(name string) (dependantEntry, bool) {
	i := slices.IndexFunc(d.entries, func(e dependantEntry) bool { return e.there && e.Name == name })
	if i < 0 {
		return dependantEntry{}, false
	}
	return d.entries[i], true
}

// needsNow are what the parts of the run will need, for the journal: packages with what they
// require and provide, and of a System what it and its apps ask for.
func (p *installPlan) needsNow() []install.Need {
	var out []install.Need
	for _, part := range p.made.parts {
		i := slices.IndexFunc(p.chosen, func(c solve.Choice) bool { return c.Name == part.Name })
		if part.App || i < 0 {
			continue
		}
		n := install.Need{Part: part.Name, Version: part.Version, Requires: p.chosen[i].Requires, Provides: slices.Clone(p.chosen[i].Provides)}
		if part.Rendered != nil {
			for _, u := range part.Rendered.Definitions {
				n.Provides = append(n.Provides, install.Defined(u))
			}
		}
		n.Provides = distinctAPIs(n.Provides)
		out = append(out, n)
	}
	for _, n := range p.journal.Needs() { // What was made with it before, and stays.
		_, found := p.there[n.Part]
		if found && !slices.ContainsFunc(out, func(o install.Need) bool { return o.Part == n.Part }) {
			out = append(out, n)
		}
	}
	if p.sys == nil {
		return out
	}
	need := install.Need{}
	for _, w := range append(wantsOf(nil, p.sys), appWants(p.sys, p.cluster.Kinds, p.provided)...) {
		if !slices.ContainsFunc(need.Requires, func(r solve.Requirement) bool { return sameRequirement(r, w.Requirement) }) {
			need.Requires = append(need.Requires, w.Requirement)
		}
	}
	return append(out, need)
}

// provided says whether the catalogue has who brings a kind.
func (p *installPlan) provided(kind string) bool {
	return len(p.cats.Providers(solve.API{Kind: kind})) > 0
}

func sameRequirement(a, b solve.Requirement) bool {
	return a.Package == b.Package && a.Range == b.Range && a.Optional == b.Optional && a.API.Kind == b.API.Kind && slices.Equal(a.API.Versions, b.API.Versions)
}

// distinctAPIs leaves out what is said before.
func distinctAPIs(all []solve.API) (out []solve.API) {
	for _, a := range all {
		if !slices.ContainsFunc(out, func(b solve.API) bool { return a.Kind == b.Kind && slices.Equal(a.Versions, b.Versions) }) {
			out = append(out, a)
		}
	}
	return out
}

// needed are the packages that others than this System need: they stay, whatever it has no more.
func (p *installPlan) needed() (map[string][]string, error) {
	if p.sys == nil {
		return nil, nil
	}
	return p.needs.neededBy(p.of, slices.Sorted(maps.Keys(p.there)))
}

// breaking refuses versions with which something else that is installed could not live: what
// the solver does not know, since no catalogue has it.
func (p *installPlan) breaking() error {
	var changed []solve.Package
	for _, c := range p.chosen {
		if c.Was != "" && c.Was != c.Version {
			changed = append(changed, c.Package)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	installed, byName := p.needs.installed(func(e dependantEntry) bool {
		return e.Name == "" && e.of.Name == p.of.Name && e.of.Namespace == p.of.Namespace
	})
	for i := range installed {
		if slices.ContainsFunc(changed, func(c solve.Package) bool { return c.Name == installed[i].Name }) {
			installed[i].Provides = append(slices.Clone(installed[i].Provides), p.state.Serves(installed[i].Name)...)
		}
	}
	need, err := solve.Breaking(installed, changed)
	if err != nil {
		return err
	}
	p.planned.Notes = append(p.planned.Notes, p.needs.notes...)
	p.needs.refuseHidden(p.planned, "", "--force", p.o.force)
	for _, d := range dependantsOf(need, byName, "") {
		refuseDependants(p.planned, []dependant{{text: d.text, hint: "upgrade it as well, or choose another version", believed: d.believed}}, "", "--force", p.o.force)
	}
	return nil
}
