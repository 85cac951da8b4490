package solve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Dependant is an installed package whose requirement would no longer be met.
type Dependant struct {
	// Name and Version are those of the package that stays.
	Name, Version string
	// Of is the package that it needs.
	Of string
	// Needs is its requirement.
	Needs Requirement
}

// Removable returns the installed packages that need one of those named, by package or by an API
// that no other installed package provides. If there are none, the named ones can be removed. A
// name that is not installed is an error.
func Removable(installed []Installed, names []string) ([]Dependant, error) {
	for _, name := range names {
		if !slices.ContainsFunc(installed, func(i Installed) bool { return i.Name == name }) {
			all := make([]string, 0, len(installed))
			for _, i := range installed {
				all = append(all, i.Name)
			}
			return nil, fmt.Errorf("%s is not installed%s", short(name), object.DidYouMean(object.Nearest(name, all)))
		}
	}
	var out []Dependant
	for _, i := range byName(installed) {
		if slices.Contains(names, i.Name) {
			continue
		}
		for _, need := range i.Requires {
			if need.Optional {
				continue
			}
			providers := installedProviders(installed, need)
			if slices.ContainsFunc(providers, func(n string) bool { return !slices.Contains(names, n) }) {
				continue
			}
			for _, n := range providers {
				out = append(out, Dependant{Name: i.Name, Version: i.Version, Of: n, Needs: need})
			}
		}
	}
	return out, nil
}

// installedProviders returns the installed packages that meet a requirement, by name. It ignores
// ranges.
func installedProviders(installed []Installed, need Requirement) []string {
	var out []string
	for _, i := range byName(installed) {
		if need.Package == i.Name || need.Package == "" && slices.ContainsFunc(i.Provides, func(a API) bool { return a.meets(need.API) }) {
			out = append(out, i.Name)
		}
	}
	return out
}

// Breaking returns the installed packages whose requirements the changed packages no longer meet: a
// version out of the range, or an API that nothing provides then. Requirements that were not met
// before do not count.
func Breaking(installed []Installed, changed []Package) ([]Dependant, error) {
	to := map[string]Package{}
	for _, c := range changed {
		to[c.Name] = c
	}
	var out []Dependant
	for _, i := range byName(installed) {
		if _, changes := to[i.Name]; changes {
			continue
		}
		for _, need := range i.Requires {
			if need.Optional {
				continue
			}
			for _, n := range installedProviders(installed, need) {
				then, changes := to[n]
				if !changes {
					continue
				}
				broken, err := breaks(installed, to, then, need)
				if err != nil {
					return nil, err
				}
				if broken {
					out = append(out, Dependant{Name: i.Name, Version: i.Version, Of: n, Needs: need})
				}
			}
		}
	}
	return out, nil
}

// breaks reports whether a requirement is met neither by a package in its new version, nor by
// another one.
func breaks(installed []Installed, to map[string]Package, then Package, need Requirement) (bool, error) {
	if need.Package != "" {
		in, err := ParseRange(need.Range)
		if err != nil {
			return false, err
		}
		v, err := ParseVersion(then.Version)
		return err == nil && !in.Contains(v), err
	}
	meets := func(p Package) bool {
		return slices.ContainsFunc(p.Provides, func(a API) bool { return a.meets(need.API) })
	}
	for _, i := range installed {
		p, changes := to[i.Name]
		if !changes {
			p = i.Package
		}
		if meets(p) {
			return false, nil
		}
	}
	return true, nil
}

func byName(installed []Installed) []Installed {
	return slices.SortedFunc(slices.Values(installed), func(a, b Installed) int { return cmp.Compare(a.Name, b.Name) })
}
