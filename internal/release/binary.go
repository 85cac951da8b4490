package release

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// binary is an executable with its build information.
type binary struct {
	info *debug.BuildInfo
	// sum is the SHA-256 of the file.
	sum string
	// modules are in the order of their paths, without the main one.
	modules []module
	// needs are the modules whose packages the main one imports.
	needs []string
}

// module is a module in a binary.
type module struct {
	path, version, sum string
	// dir is its directory, with the directories in it that packages come from.
	dir     string
	folders []string
	// needs are the modules that its packages import.
	needs []string
}

// readBinary reads the build information of an executable, and requires that it agrees with the
// packages of go list.
func readBinary(executable string, packages []goPackage) (binary, error) {
	info, err := buildinfo.ReadFile(executable)
	if err != nil {
		return binary{}, err
	}
	b := binary{info: info}
	b.modules, b.needs = modulesOf(packages)
	if b.sum, _, err = sumFile(executable); err != nil {
		return binary{}, err
	}
	sums := map[string]string{}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			return binary{}, fmt.Errorf("%s is replaced by %s in the binary", dep.Path, dep.Replace.Path)
		}
		sums[dep.Path+"@"+dep.Version] = dep.Sum
	}
	for i, m := range b.modules {
		key := m.path + "@" + m.version
		sum, ok := sums[key]
		if !ok {
			return binary{}, fmt.Errorf("go list has %s, and the binary does not", key)
		}
		b.modules[i].sum = sum
		delete(sums, key)
	}
	if len(sums) > 0 {
		return binary{}, fmt.Errorf("the binary has %s, and go list does not", strings.Join(slices.Sorted(maps.Keys(sums)), ", "))
	}
	return b, nil
}

// modulesOf groups packages by module, and returns what the main one needs.
func modulesOf(packages []goPackage) (modules []module, main []string) {
	moduleOfPackage := map[string]string{} // modules by packages
	for _, p := range packages {
		moduleOfPackage[p.ImportPath] = moduleOf(p)
	}
	all := map[string]*module{}
	for _, p := range packages {
		switch {
		case p.Module == nil:
			continue
		case p.Module.Main:
			main = append(main, needs(p, moduleOfPackage)...)
			continue
		}
		m := all[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
			all[m.path] = m
		}
		m.folders = append(m.folders, between(m.dir, p.Dir)...)
		m.needs = append(m.needs, needs(p, moduleOfPackage)...)
	}
	for _, m := range all {
		slices.Sort(m.folders)
		slices.Sort(m.needs)
		m.folders, m.needs = slices.Compact(m.folders), slices.Compact(m.needs)
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(x, y module) int { return cmp.Compare(x.path, y.path) })
	slices.Sort(main)
	return modules, slices.Compact(main)
}

// moduleOf returns the module of a package, "" for the main one.
func moduleOf(p goPackage) string {
	switch {
	case p.Standard || p.Module == nil:
		return stdlib
	case p.Module.Main:
		return ""
	}
	return p.Module.Path
}

// needs returns the other modules that a package imports.
func needs(p goPackage, moduleOfPackage map[string]string) []string {
	var out []string
	for _, i := range p.Imports {
		if m, ok := moduleOfPackage[i]; ok && m != "" && m != moduleOf(p) {
			out = append(out, m)
		}
	}
	return out
}
