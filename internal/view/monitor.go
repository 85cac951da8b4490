package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
)

// MonitorPlanDocument is how a System or some stacks are monitored (docs/schema/monitor-plan.json).
type MonitorPlanDocument struct {
	Head `json:",inline"`
	monitor.Plan
}

// monitorRow is a target with its app.
type monitorRow struct {
	app    *monitor.PlanApp
	target *monitor.Target
}

// MonitorPlan returns the answer of monitor plan. Names are the objects that are made.
func MonitorPlan(p *monitor.Plan) Output {
	var rows []monitorRow
	for i := range p.Apps {
		for j := range p.Apps[i].Targets {
			rows = append(rows, monitorRow{&p.Apps[i], &p.Apps[i].Targets[j]})
		}
	}
	c := ColumnsOf[monitorRow]{
		{Column: Column{Name: "APP", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r monitorRow) string { return r.app.Name })},
		{Column: Column{Name: "TARGET", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r monitorRow) string { return name(r.target.Object) })},
		{Column: Column{Name: "SCRAPED"}, Value: func(r monitorRow) Cell { return scrapedCell(r.target.How) }},
		{Column: Column{Name: "PORT", DropOrder: 2}, Value: AsText(func(r monitorRow) string { return r.target.Port })},
		{Column: Column{Name: "BY", DropOrder: 1, Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r monitorRow) string { return shortRef(r.target.By) })},
		{Column: Column{Name: "PROMETHEUS", DropOrder: 4, Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r monitorRow) string { return shortRef(r.target.Prometheus) })},
		{Column: Column{Name: "WHY", DropOrder: 3, Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(r monitorRow) string { return r.target.Why })},
	}
	return Output{Table: c.Table(rows), Wide: c.wideTable(rows), Names: MonitorObjects(p), Document: MonitorPlanDocument{HeadOf("MonitorPlan"), *p}}
}

// shortRef leaves out the group of the operator of Prometheus, as tables do with all groups.
func shortRef(text string) string { return strings.ReplaceAll(text, "."+monitor.OperatorGroup, "") }

// scrapedCell is how a target is scraped, in words.
func scrapedCell(how string) Cell {
	switch how {
	case monitor.Collected:
		return Cell{"already", Good}
	case monitor.ServiceMonitor:
		return Cell{"by a ServiceMonitor", Good}
	case monitor.PodMonitor:
		return Cell{"by a PodMonitor", Good}
	case monitor.Annotations:
		return Cell{"by annotations", Good}
	case monitor.Switch:
		return Cell{"once its operator is set to", Warn}
	case monitor.Unselected:
		return Cell{"no: its monitor is not selected", Bad}
	case monitor.Off:
		return Cell{"no: turned off", Faint}
	}
	return Cell{"no", Bad}
}

// MonitorObjects names the objects of a plan.
func MonitorObjects(p *monitor.Plan) []string {
	out := []string{}
	for _, o := range p.Objects {
		kind, _ := o["kind"].(string)
		meta, _ := o["metadata"].(map[string]any)
		out = append(out, fmt.Sprintf("%s/%v/%v", kind, meta["namespace"], meta["name"]))
	}
	return out
}

// MonitorNotes are what a plan says beside its table: what is made, which Prometheus selects it, and
// what is lacking.
func MonitorNotes(p *monitor.Plan) (notes, warnings []string) {
	if all := MonitorObjects(p); len(all) > 0 {
		notes = append(notes, fmt.Sprintf("%s has %d %s: %s", p.Installation, len(all), plural("object", len(all)), strings.Join(all, ", ")))
	}
	if n := len(p.Alerts); n > 0 {
		notes = append(notes, fmt.Sprintf("%d %s; -o yaml shows them, and all objects", n, plural("alert", n)))
	}
	for _, s := range p.Prometheuses {
		text := "selects the monitors"
		if s.Rules {
			text += " and the alerts"
		}
		if s.Message != "" {
			text = s.Message
		}
		notes = append(notes, shortRef(s.Object.String())+" "+text)
	}
	return notes, gapLines(p.Gaps)
}

// gapLines writes gaps, those of the same kind as one.
func gapLines(gaps []monitor.Gap) []string {
	var lines []string
	done := map[monitor.Gap]bool{}
	for i, g := range gaps {
		same := monitor.Gap{Message: g.Message, Help: g.Help}
		if done[same] {
			continue
		}
		done[same] = true
		var about []string
		for _, o := range gaps[i:] {
			if o.Message == g.Message && o.Help == g.Help && o.Object != "" {
				about = append(about, o.Object)
			}
		}
		text := shortRef(g.Message)
		if len(about) > 0 {
			text = shortRef(strings.Join(about, ", ")) + ": " + text
		}
		if g.Help != "" {
			text += " (" + shortRef(g.Help) + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// MonitorStatusDocument is how a Prometheus sees a System or some stacks
// (docs/schema/monitor-status.json).
type MonitorStatusDocument struct {
	Head `json:",inline"`
	monitor.Status
}

// MonitorStatus returns the answer of monitor status. Names are the apps that are not seen.
func MonitorStatus(s *monitor.Status) Output {
	var rows []*monitor.AppStatus
	names := []string{}
	firing := map[string][]string{}
	for i := range s.Apps {
		rows = append(rows, &s.Apps[i])
		if s.Apps[i].Blind {
			names = append(names, s.Apps[i].Name)
		}
	}
	for _, a := range s.Alerts {
		if a.State == monitor.Firing && !slices.Contains(firing[a.App], a.Name) {
			firing[a.App] = append(firing[a.App], a.Name)
		}
	}
	number := strconv.Itoa
	c := ColumnsOf[*monitor.AppStatus]{
		{Column: Column{Name: "APP", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(a *monitor.AppStatus) string { return a.Name })},
		{Column: Column{Name: "PODS", Right: true}, Value: AsText(func(a *monitor.AppStatus) string { return number(a.Pods) })},
		{Column: Column{Name: "UP", Right: true}, Value: AsText(func(a *monitor.AppStatus) string { return number(a.Count(monitor.Up)) })},
		{Column: Column{Name: "DOWN", Right: true}, Value: func(a *monitor.AppStatus) Cell {
			n := a.Count(monitor.Down)
			return Cell{number(n), map[bool]Tone{true: Bad}[n > 0]}
		}},
		{Column: Column{Name: "SEEN"}, Value: func(a *monitor.AppStatus) Cell {
			switch {
			case a.Blind:
				return Cell{"no", Bad}
			case a.Count(monitor.Up) == 0:
				return Cell{"-", Faint}
			}
			return Cell{"yes", Good}
		}},
		{Column: Column{Name: "ALERTS", Truncate: End, MinWidth: LeastWhy}, Value: func(a *monitor.AppStatus) Cell {
			return Cell{strings.Join(firing[a.Name], ", "), Bad}
		}},
	}
	return Output{Table: c.Table(rows), Wide: c.wideTable(rows), Names: names, Document: MonitorStatusDocument{HeadOf("MonitorStatus"), *s}}
}

// MonitorStatusWarnings are the targets that are down, and the alerts that fire, with the command
// that explains them.
func MonitorStatusWarnings(s *monitor.Status) []string {
	var out []string
	for _, a := range s.Apps {
		for _, t := range a.Targets {
			if t.Health == monitor.Down {
				out = append(out, fmt.Sprintf("%s: %s is down: %s", a.Name, t.URL, t.Message))
			}
		}
		if a.Blind && len(a.Targets) == 0 {
			out = append(out, a.Name+": no target (kubectl sysop monitor plan shows why)")
		}
	}
	for _, a := range s.Alerts {
		if a.State != monitor.Firing {
			continue
		}
		text := a.App + ": " + a.Name
		if a.Summary != "" {
			text += ": " + a.Summary
		}
		if a.Runbook != "" {
			text += " (" + a.Runbook + ")"
		}
		out = append(out, text)
	}
	return out
}
