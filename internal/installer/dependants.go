package installer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// dependant is something installed that needs a package.
type dependant struct {
	// text says who needs what: "teapot 1.0.0 in tea needs kettle (Kettle.example.com)".
	text, hint string
	// believed says that it is not by its own word alone: it is where the catalogue has it, or
	// the record of what it needs names it. Others give way to --orphan and --force.
	believed bool
}

// dependants know who needs which package, by what was written down when each was installed.
// Where nothing was, the catalogue is asked, for whatever version it has.
type dependants struct {
	entries []dependantEntry
	// notes say what could not be read; hidden is what may not be read, so it is unknown rather
	// than missing.
	notes, hidden []string
}

type dependantEntry struct {
	solve.Installed
	of       install.Installation
	who      string
	believed bool
	// there says that it is a package that is believed to be installed; guessed that the
	// catalogue has other versions of it alone.
	there, guessed bool
}

// readDependants reads the journals of all installations that have a release. If the journal of an
// operator cannot be read, the requirements of its catalog entry count.
func (c *cluster) readDependants(ctx context.Context, existing map[string]installedPackage, namespaces []string) (*dependants, error) {
	d := &dependants{}
	releases, unread, err := listReleases(ctx, c.reader, install.Releases, namespaces)
	if err != nil {
		return nil, err
	}
	if unread != nil {
		d.hidden = append(d.hidden, "you may not list secrets in all namespaces: dependents in other namespaces are unknown")
	}
	recorded := map[string]bool{}
	var seen []install.Installation
	for i := range releases {
		if releases[i].Status == helm.Uninstalled {
			continue
		}
		for _, in := range releases[i].Installations() {
			if slices.Contains(seen, in) {
				continue
			}
			seen = append(seen, in)
			found, err := install.Find(ctx, c.config, in.Name, []string{in.Namespace})
			if err != nil {
				return nil, err
			}
			if j := d.journal(found, in); j != nil {
				d.add(in, j, releases, existing, recorded)
			}
		}
	}
	packages := c.Catalogs.Packages()
	for _, name := range slices.Sorted(maps.Keys(existing)) {
		if !recorded[name] {
			d.entries = append(d.entries, catalogDependant(existing[name], packages, c.Catalogs))
		}
	}
	return d, nil
}

// journal returns a journal that was found, or notes why it cannot be read.
func (d *dependants) journal(found []install.Found, in install.Installation) *install.Journal {
	switch {
	case len(found) == 0:
		return nil
	case apierrors.IsForbidden(found[0].Err):
		d.hidden = append(d.hidden, fmt.Sprintf("you may not read the journal of %s in %s: what it needs is unknown", in.Name, in.Namespace))
		return nil
	case found[0].Err != nil:
		d.notes = append(d.notes, fmt.Sprintf("what %s in %s needs is unknown: %v", in.Name, in.Namespace, found[0].Err))
		return nil
	}
	return found[0].Journal
}

// add takes what a journal says of parts whose releases are there.
func (d *dependants) add(in install.Installation, j *install.Journal, releases []install.LiveRelease, existing map[string]installedPackage, recorded map[string]bool) {
	needs := j.Needs()
	if in.System && !slices.ContainsFunc(needs, func(n install.Need) bool { return n.Part == "" }) {
		needs = append(needs, install.Need{Requires: stayed(j)}) // It is from before needs were written down.
	}
	for _, n := range needs {
		current, isThere := existing[n.Part]
		live := slices.ContainsFunc(releases, func(r install.LiveRelease) bool {
			if r.Status == helm.Uninstalled {
				return false
			}
			if n.Part == "" {
				return r.Labels[helm.SystemLabel] == in.Name && r.Labels[helm.SystemNamespaceLabel] == in.Namespace && r.Labels[helm.PackageLabel] == ""
			}
			// Of what is there, the release that is believed says whose journal counts.
			mine := !isThere || r.Name == current.release && r.Namespace == current.namespace
			return mine && r.Labels[helm.PackageLabel] == n.Part && slices.Contains(r.Installations(), in)
		})
		if !live {
			continue
		}
		e := dependantEntry{of: in, Installed: solve.Installed{Package: solve.Package{Name: n.Part, Version: n.Version, Requires: n.Requires}}}
		switch {
		case n.Part == "":
			e.who = fmt.Sprintf("the System %s in %s", in.Name, in.Namespace)
		case isThere && current.version == n.Version:
			e.who, e.there, e.believed, e.Provides = n.Part+" "+n.Version, true, true, n.Provides
			recorded[n.Part] = true
		case isThere:
			continue // The record of an older version, or of a run that was not ended.
		default:
			e.who = fmt.Sprintf("%s %s in %s", n.Part, n.Version, in.Namespace)
		}
		d.entries = append(d.entries, e)
	}
}

// stayed are the operators that an older journal of a System says that it has.
func stayed(j *install.Journal) (out []solve.Requirement) {
	if len(j.Runs) == 0 {
		return nil
	}
	for _, r := range j.Runs[len(j.Runs)-1].Releases {
		if !r.App {
			out = append(out, solve.Requirement{Package: r.Part, Range: ">=0.0.0-0"})
		}
	}
	return out
}

// catalogDependant is a package of which nothing was written down: it needs what the catalogue
// says of its version, or else of any version.
func catalogDependant(current installedPackage, packages []solve.Package, cats *catalogs.Catalogs) dependantEntry {
	e := dependantEntry{who: current.name + " " + current.version, there: true, believed: true, Installed: solve.Installed{Package: solve.Package{Name: current.name, Version: current.version}}}
	known := slices.DeleteFunc(slices.Clone(packages), func(p solve.Package) bool { return p.Name != current.name })
	if i := slices.IndexFunc(known, func(p solve.Package) bool { return p.Version == current.version }); i >= 0 {
		e.Package = known[i]
		return e
	}
	e.guessed = true
	for _, p := range known {
		for _, r := range p.Requires {
			r.Range = "" // That of another version says nothing of this one.
			e.Requires = append(e.Requires, r)
		}
	}
	if entry, ok := cats.Find(current.name); ok {
		for _, k := range entry.Kinds {
			e.Provides = append(e.Provides, solve.API{Kind: k.Kind, Versions: k.Versions})
		}
	}
	return e
}

// installed are all but those that are left out, as the solver takes them: each by a name of
// its own. What is there only by its own word provides nothing to others.
func (d *dependants) installed(leave func(dependantEntry) bool) ([]solve.Installed, map[string]dependantEntry) {
	var out []solve.Installed
	byName := map[string]dependantEntry{}
	for _, e := range d.entries {
		if leave != nil && leave(e) {
			continue
		}
		name := e.Name
		if !e.there {
			name = e.who
		}
		if _, twice := byName[name]; twice {
			continue
		}
		byName[name] = e
		one := e.Installed
		one.Name = name
		out = append(out, one)
	}
	return out, byName
}

// needing says who needs a package that goes, which serves these APIs as well. namedBy is the
// System that the record of the package names, NAMESPACE/NAME.
func (d *dependants) needing(name, namedBy string, serves []solve.API, leave func(dependantEntry) bool) ([]dependant, error) {
	installed, byName := d.installed(leave)
	i := slices.IndexFunc(installed, func(s solve.Installed) bool { return s.Name == name })
	if i < 0 {
		i = len(installed)
		installed = append(installed, solve.Installed{Package: solve.Package{Name: name}})
	}
	installed[i].Provides = append(slices.Clone(installed[i].Provides), serves...)
	need, err := solve.Removable(installed, []string{name})
	if err != nil {
		return nil, err
	}
	return dependantsOf(need, byName, namedBy), nil
}

// dependantsOf says it in words, each who once. The one that is named by the record of what it
// needs is believed.
func dependantsOf(need []solve.Dependant, byName map[string]dependantEntry, namedBy string) []dependant {
	var out []dependant
	var seen []string
	for _, n := range need {
		e := byName[n.Name]
		if slices.Contains(seen, e.who+n.Of) {
			continue
		}
		seen = append(seen, e.who+n.Of)
		subject := n.Of
		if n.Needs.API.Kind != "" {
			subject += " (" + n.Needs.API.String() + ")"
		} else if n.Needs.Range != "" {
			subject += " " + n.Needs.Range
		}
		one := dependant{text: e.who + " needs " + subject, believed: e.believed || e.of.System && e.of.Namespace+"/"+e.of.Name == namedBy}
		switch {
		case e.of.System:
			one.hint = fmt.Sprintf("first: kubectl sysop uninstall %s -n %s", e.of.Name, e.of.Namespace)
		case e.there:
			one.hint = "first: kubectl sysop uninstall " + e.Name
		default:
			one.hint = fmt.Sprintf("first: kubectl sysop uninstall %s -n %s", e.Name, e.of.Namespace)
		}
		out = append(out, one)
	}
	return out
}

// refuseDependants puts dependants into a plan: as refusals, or as notes where they are there by their
// own word alone and the user has said to continue (the flag overriding).
func refuseDependants(planned *install.Plan, all []dependant, part, overriding string, override bool) {
	for _, d := range all {
		if !d.believed && override {
			planned.Notes = append(planned.Notes, d.text)
			continue
		}
		hint := d.hint
		if !d.believed {
			hint += "; only that namespace says so: " + overriding + " ignores it"
		}
		planned.Refusals = append(planned.Refusals, install.Refusal{Topic: "dependants", Part: part, Message: d.text, Hint: hint})
	}
}

// refuseHidden refuses a plan if a dependant of a part may be where the user may not read, or notes
// it if the user said to continue (the flag overriding).
func (d *dependants) refuseHidden(planned *install.Plan, part, overriding string, override bool) {
	for _, text := range d.hidden {
		if override {
			planned.Notes = append(planned.Notes, text)
			continue
		}
		planned.Refusals = append(planned.Refusals, install.Refusal{Topic: "dependants", Part: part, Message: text, Hint: "you need permission to read them; " + overriding + " continues without"})
	}
}

// neededBy are the packages that others than an installation need, with who that is.
func (d *dependants) neededBy(installation install.Installation, names []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, name := range names {
		all, err := d.needing(name, "", nil, func(e dependantEntry) bool {
			return e.Name == "" && e.of.Name == installation.Name && e.of.Namespace == installation.Namespace
		})
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			dependantName, _, _ := strings.Cut(one.text, " needs ")
			out[name] = append(out[name], dependantName)
		}
	}
	return out, nil
}

// find returns the entry of an installed package.
func (d *dependants) find(name string) (dependantEntry, bool) {
	i := slices.IndexFunc(d.entries, func(e dependantEntry) bool { return e.there && e.Name == name })
	if i < 0 {
		return dependantEntry{}, false
	}
	return d.entries[i], true
}

// neededByOthers are the packages that others than this System need: they stay, whatever it has no more.
func (p *Plan) neededByOthers() (map[string][]string, error) {
	return p.needs.neededBy(p.Installation, slices.Sorted(maps.Keys(p.there)))
}

// refuseBreaking refuses versions with which something else that is installed could not live: what
// the solver does not know, since no catalogue has it.
func (p *Plan) refuseBreaking() error {
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
		return e.Name == "" && e.of.Name == p.Installation.Name && e.of.Namespace == p.Installation.Namespace
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
	p.Planned.Notes = append(p.Planned.Notes, p.needs.notes...)
	p.needs.refuseHidden(p.Planned, "", "--force", p.req.Force)
	for _, d := range dependantsOf(need, byName, "") {
		refuseDependants(p.Planned, []dependant{{text: d.text, hint: "upgrade it as well, or choose another version", believed: d.believed}}, "", "--force", p.req.Force)
	}
	return nil
}
