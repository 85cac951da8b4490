package monitoring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Draft says how the apps of a System are monitored now, as a manifest that sets up this and no more.
func Draft(ctx context.Context, in *app.Input, sys *system.System) (*system.DraftMonitoring, error) {
	plan, _, g, err := New(ctx, in, Request{System: sys})
	if err != nil {
		return nil, err
	}
	out := &system.DraftMonitoring{Unmonitored: map[string]string{}}
	d := &drafting{out: out}
	for i := range plan.Apps {
		d.app(&plan.Apps[i])
	}
	if owned := ownObjects(g, plan.Name); len(owned) > 0 {
		out.Found = []string{object.ShortList(owned) + ": kubectl sysop monitor apply made them. monitor remove deletes them, for a System that has them itself."}
		out.Unmonitored = nil
		return out, nil
	}
	rules := rulesIn(g, sys.Namespace)
	switch {
	case len(d.by) == 0 && len(rules) == 0:
		return &system.DraftMonitoring{}, nil
	case len(d.unstated) > 0:
		out.Found, out.Unmonitored = []string{"Nothing scrapes " + object.ShortList(d.unstated) + ", which several apps need: with monitoring, the System does."}, nil
		return out, nil
	}
	out.Settings = system.Monitoring{Declared: true, NoAlerts: true, NoDashboard: true}
	if len(d.by) > 0 {
		out.Found = append(out.Found, fmt.Sprintf("What scrapes its apps stays: %s.", object.ShortList(d.by)))
	}
	if len(rules) > 0 {
		out.Found = append(out.Found, fmt.Sprintf("What alerts stays: %s.", object.ShortList(rules)))
	}
	d.interval()
	out.Found = append(out.Found, "Remove alerts: false and dashboard: false, and the System adds its own.")
	return out, nil
}

// drafting collects what scrapes the apps.
type drafting struct {
	out           *system.DraftMonitoring
	by, intervals []string
	// unstated are the targets without a monitor that are of no app.
	unstated []string
}

func (d *drafting) app(a *monitor.PlanApp) {
	var bare []string
	for i := range a.Targets {
		switch t := &a.Targets[i]; t.How {
		case monitor.ServiceMonitor, monitor.PodMonitor:
			bare = append(bare, t.Object.String())
		case monitor.Collected, monitor.Unselected:
			d.by = add(d.by, t.By)
			d.intervals = add(d.intervals, t.Interval())
		}
	}
	switch {
	case len(bare) == 0:
	case len(a.UsedBy) > 0:
		d.unstated = append(d.unstated, bare...)
	default:
		d.out.Unmonitored[a.Name] = object.ShortList(bare)
	}
}

// interval takes the interval that all monitors have.
func (d *drafting) interval() {
	every := strings.Join(d.intervals, ", ")
	interval, err := time.ParseDuration(every)
	switch {
	case every == "":
	case len(d.intervals) > 1 || err != nil:
		d.out.Found = append(d.out.Found, "Their intervals differ, and a manifest states one: it has none.")
	default:
		d.out.Settings.Interval = interval
	}
}

// ownObjects are the objects that monitor apply made for a scope.
func ownObjects(g *graph.Graph, name string) []string {
	var out []string
	for id := range graph.ID(g.Len()) {
		if g.State(id) == graph.Present && monitor.IsOwn(name, g.Labels(id)) {
			out = append(out, g.Ref(id).String())
		}
	}
	return out
}

// rulesIn are the rules of alerts of a namespace.
func rulesIn(g *graph.Graph, namespace string) []string {
	var out []string
	for id := range g.OfKind(schema.GroupKind{Group: monitor.OperatorGroup, Kind: "PrometheusRule"}) {
		if ref := g.Ref(id); g.State(id) == graph.Present && ref.Namespace == namespace {
			out = append(out, ref.String())
		}
	}
	return out
}

func add(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
