package app

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// SystemRows puts the roots of each app of a System together. Without a System each root has a
// row of its own.
type SystemRows struct {
	System *system.System
	// Apps are the indices of the app of each root, in their order.
	Apps []int
}

// Tenant is the tenant that pays; empty without one.
func (o *SystemRows) Tenant() string {
	if o.System == nil {
		return ""
	}
	return o.System.Chargeback.Tenant
}

// stacks puts the roots of each app together: an app with several has one row, called
// system/NAMESPACE/SYSTEM.APP. root returns the stacks of one root.
func (o *SystemRows) stacks(roots []Root, root func(Root) []metrics.Stack) []metrics.Stack {
	var out []metrics.Stack
	last, apps := -1, o.Apps
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
		one.Ref = object.Ref{Kind: graph.BySystem, Namespace: o.System.Namespace, Name: o.System.Name + "." + o.System.Apps[last].Name}
		for _, s := range stacks {
			one.Roots = append(one.Roots, s.Roots...)
		}
	}
	return out
}

// declared returns what the System declares, as far as rules of check read it; nil without a System.
func (o *SystemRows) declared(roots []Root, nodes func(Root) []graph.ID, g *graph.Graph) *check.System {
	if o.System == nil || len(o.Apps) != len(roots) {
		return nil
	}
	byApp := make([][]object.Ref, len(o.System.Apps))
	for i, r := range roots {
		for _, id := range nodes(r) {
			byApp[o.Apps[i]] = append(byApp[o.Apps[i]], g.Ref(id))
		}
	}
	return Declared(o.System, byApp)
}

// Declared returns what a System declares, as far as rules of check read it. roots are the existing
// roots of each app.
func Declared(s *system.System, roots [][]object.Ref) *check.System {
	out := &check.System{Name: s.Name, Namespace: s.Namespace, BackupAge: time.Duration(s.Monitoring.Thresholds["backupHours"] * float64(time.Hour))}
	for i := range s.Apps {
		a := &s.Apps[i]
		app := check.SystemApp{Name: a.Name, Roots: roots[i], Operator: a.Operator, NotMonitored: a.Monitoring.Off, NotScaled: a.Autoscaling != nil && a.Autoscaling.Off}
		for _, u := range a.Resources {
			ref := object.RefOf(u)
			app.Contained = append(app.Contained, ref)
			if ref.Namespace == "" {
				ref.Namespace = s.Namespace
				app.Contained = append(app.Contained, ref)
			}
		}
		out.Apps = append(out.Apps, app)
	}
	for _, c := range s.Connections {
		out.Connections = append(out.Connections, check.SystemConnection{From: c.From.App, To: c.To.App, Port: c.From.Port, Consumer: consumer(s, c.To)})
	}
	return out
}

// consumer is the workload that an end of a connection sets a value of, as install chooses it: the
// root of the end, or else the first workload that the app creates. It is zero for a ConfigMap and
// other objects, which all workloads of the app may use.
func consumer(s *system.System, to system.End) object.Ref {
	a, ok := s.App(to.App)
	if !ok || to.ConfigMap != "" {
		return object.Ref{}
	}
	root := to.Root
	if root.Name == "" && to.Env == "" && len(a.Roots) > 0 {
		root = a.Roots[0]
	}
	for _, u := range a.Resources {
		ref := object.RefOf(u)
		ref.Namespace = cmp.Or(ref.Namespace, s.Namespace)
		name, _, _ := strings.Cut(root.Type, ".")
		other := root.Name != "" && (root.Name != ref.Name || root.Namespace != "" && root.Namespace != ref.Namespace || !object.MayBePlural(name, ref.Kind))
		if workload, err := connection.WorkloadOf(u); workload != nil && err == nil && !other {
			return ref
		}
	}
	return object.Ref{}
}

// weights returns the weights that the System gives its apps.
func (o *SystemRows) weights(stacks []metrics.Stack, into map[object.Ref]decimal.Decimal, s *Session, g *graph.Graph) {
	if o.System == nil {
		return
	}
	for i := range o.System.Apps {
		app := &o.System.Apps[i]
		weight, err := decimal.NewFromString(o.System.Chargeback.Weights[app.Name])
		if err != nil { // it has none
			continue
		}
		for _, root := range app.Roots {
			args, err := ParseRoots([]string{root.String()}, s.Kinds)
			if err != nil {
				continue
			}
			for _, id := range s.Nodes(g, args[0], nil) {
				for _, stack := range stacks {
					if slices.Contains(stack.Roots, id) {
						into[stack.Ref] = weight
					}
				}
			}
		}
	}
}
