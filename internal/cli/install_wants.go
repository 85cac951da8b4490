package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// wantsOf is what is asked for: the operators of the command line, and those of a System.
func wantsOf(targets []target, sys *system.System) []solve.Want {
	var out []solve.Want
	for _, t := range targets {
		out = append(out, solve.Want{Requirement: solve.Requirement{Package: t.name, Range: t.version}, By: "the command line"})
	}
	if sys == nil {
		return out
	}
	ranges := map[string]string{}
	for _, o := range sys.Operators {
		ranges[o.Name] = o.Version
		out = append(out, solve.Want{Requirement: solve.Requirement{Package: o.Name, Range: o.Version}, By: "system " + sys.Name})
	}
	for i := range sys.Apps {
		a := &sys.Apps[i]
		if a.Operator == "" {
			continue
		}
		out = append(out, solve.Want{Requirement: solve.Requirement{Package: a.Operator, Range: ranges[a.Operator]}, By: appBy(sys, a)})
	}
	return out
}

func appBy(sys *system.System, a *system.App) string {
	return fmt.Sprintf("System %s: app %s", sys.Name, a.Name)
}

// appWants are the APIs of the custom resources of apps: each is wanted from any provider. The
// operator that an app names has precedence.
func appWants(sys *system.System, kinds *object.Kinds, provided func(kind string) bool) []solve.Want {
	if sys == nil {
		return nil
	}
	var out []solve.Want
	for i := range sys.Apps {
		a := &sys.Apps[i]
		versions := map[string][]string{}
		for _, o := range a.Resources {
			gvk := o.GroupVersionKind()
			if gvk.Group == "" || !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io") && !provided(apiName(gvk.Kind, gvk.Group)) {
				continue // built in: the API server serves it, and no package provides it
			}
			if r, ok := kinds.Kind(gvk.GroupKind()); ok && !r.Custom {
				continue
			}
			name := apiName(gvk.Kind, gvk.Group)
			if !slices.Contains(versions[name], gvk.Version) {
				versions[name] = append(versions[name], gvk.Version)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			for _, v := range versions[name] {
				out = append(out, solve.Want{Requirement: solve.Requirement{API: solve.API{Kind: name, Versions: []string{v}}}, By: appBy(sys, a)})
			}
		}
	}
	return out
}

func apiName(kind, group string) string { return kind + "." + group }

// servedAPIs are the custom kinds that a cluster serves.
func servedAPIs(kinds *object.Kinds, cluster func(object.Resource) []string) []solve.API {
	var out []solve.API
	for _, r := range kinds.All() {
		if r.Custom {
			out = append(out, solve.API{Kind: apiName(r.Kind, r.Group), Versions: cluster(r)})
		}
	}
	slices.SortFunc(out, func(a, b solve.API) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}
