package cli

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// systemRows puts the roots of each app of a System together. Without a System each root has a
// row of its own.
type systemRows struct {
	system *system.System
	// apps are the indices of the app of each root, in their order.
	apps []int
}

// tenant is who pays; empty where nobody is named.
func (o *systemRows) tenant() string {
	if o.system == nil {
		return ""
	}
	return o.system.Chargeback.Tenant
}

// stacks puts the roots of each app together: an app with several has one row, called
// system/NAMESPACE/SYSTEM.APP. root returns the stacks of one root.
func (o *systemRows) stacks(roots []rootArg, root func(rootArg) []metrics.Stack) []metrics.Stack {
	var out []metrics.Stack
	last, apps := -1, o.apps
	if len(apps) != len(roots) { // none, or a root that means a definition
		apps = nil
	}
	for i, r := range roots {
		stacks := root(r)
		if apps == nil || apps[i] != last {
			out = append(out, stacks...)
			if last = -1; apps != nil && len(stacks) > 0 {
				last = apps[i]
			}
			continue
		}
		one := &out[len(out)-1]
		one.Ref = object.Ref{Kind: graph.BySystem, Namespace: o.system.Namespace, Name: o.system.Name + "." + o.system.Apps[last].Name}
		for _, s := range stacks {
			one.Roots = append(one.Roots, s.Roots...)
		}
	}
	return out
}

// weights are those that the System gives its apps.
func (o *systemRows) weights(stacks []metrics.Stack, into map[object.Ref]decimal.Decimal, s *session, g *graph.Graph) {
	if o.system == nil {
		return
	}
	for i := range o.system.Apps {
		app := &o.system.Apps[i]
		weight, err := decimal.NewFromString(o.system.Chargeback.Weights[app.Name])
		if err != nil { // it has none
			continue
		}
		for _, root := range app.Roots {
			args, err := parseRoots([]string{root.String()}, s.kinds)
			if err != nil {
				continue
			}
			for _, id := range s.nodes(g, args[0], nil) {
				for _, stack := range stacks {
					if slices.Contains(stack.Roots, id) {
						into[stack.Ref] = weight
					}
				}
			}
		}
	}
}
