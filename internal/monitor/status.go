package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Status is how a Prometheus sees what a plan is about: which targets are up, which apps it does not
// see, and which alerts fire. It is the document of monitor status.
type Status struct {
	Name      string      `json:"name"`
	Namespace string      `json:"namespace"`
	Apps      []AppStatus `json:"apps"`
	// Alerts are pending or firing.
	Alerts []FiringAlert `json:"alerts"`
}

// AppStatus is an app as a Prometheus sees it.
type AppStatus struct {
	Name string `json:"name"`
	// Pods is how many pods it has, without those that ended and those of Jobs.
	Pods int `json:"pods"`
	// Blind says that it has pods, and that no target of it is up.
	Blind   bool           `json:"blind"`
	Targets []TargetStatus `json:"targets"`
}

// TargetStatus is a target of an app: up, down or unknown.
type TargetStatus struct {
	Pod     string `json:"pod"`
	Job     string `json:"job"`
	URL     string `json:"url"`
	Health  string `json:"health"`
	Message string `json:"message,omitempty"`
}

// FiringAlert is an alert of an app.
type FiringAlert struct {
	Name     string    `json:"name"`
	App      string    `json:"app"`
	State    string    `json:"state"`
	Severity string    `json:"severity,omitempty"`
	Since    time.Time `json:"since"`
	Summary  string    `json:"summary,omitempty"`
	Runbook  string    `json:"runbook,omitempty"`
}

// Targets is the answer of a Prometheus to /api/v1/targets, and Alerts that to /api/v1/alerts.
type Targets struct {
	ActiveTargets []struct {
		Labels    map[string]string `json:"labels"`
		ScrapeURL string            `json:"scrapeUrl"`
		LastError string            `json:"lastError"`
		Health    string            `json:"health"`
	} `json:"activeTargets"`
}

// Alerts is the answer to /api/v1/alerts.
type Alerts struct {
	Alerts []struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		State       string            `json:"state"`
		ActiveAt    time.Time         `json:"activeAt"`
	} `json:"alerts"`
}

// Health of targets, as Prometheus has it.
const (
	Up   = "up"
	Down = "down"
)

// Firing is the state of an alert.
const Firing = "firing"

// Evaluate compares a plan with what a Prometheus has.
func (p *Plan) Evaluate(targets Targets, alerts Alerts) *Status {
	s := &Status{Name: p.Name, Namespace: p.Namespace, Alerts: []FiringAlert{}}
	for _, a := range p.Apps {
		s.Apps = append(s.Apps, AppStatus{Name: a.Name, Pods: p.serving[a.Name], Targets: []TargetStatus{}})
	}
	for _, t := range targets.ActiveTargets {
		i := p.appOf(t.Labels)
		if i < 0 {
			continue
		}
		at := TargetStatus{Pod: t.Labels["pod"], Job: t.Labels["job"], URL: t.ScrapeURL, Health: t.Health, Message: t.LastError}
		s.Apps[i].Targets = append(s.Apps[i].Targets, at)
	}
	for i := range s.Apps {
		a := &s.Apps[i]
		slices.SortFunc(a.Targets, func(x, y TargetStatus) int { return cmp.Or(cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.URL, y.URL)) })
		off := len(p.Apps[i].Targets) > 0 && p.Apps[i].Targets[0].How == Off
		a.Blind = a.Pods > 0 && !off && !slices.ContainsFunc(a.Targets, func(t TargetStatus) bool { return t.Health == Up })
	}
	for _, a := range alerts.Alerts {
		if i := p.appOf(a.Labels); i >= 0 {
			s.Alerts = append(s.Alerts, FiringAlert{
				Name: a.Labels["alertname"], App: p.Apps[i].Name, State: a.State, Severity: a.Labels["severity"], Since: a.ActiveAt,
				Summary: cmp.Or(a.Annotations["summary"], a.Annotations["description"]), Runbook: cmp.Or(a.Annotations["runbook"], a.Annotations["runbook_url"]),
			})
		}
	}
	slices.SortFunc(s.Alerts, func(x, y FiringAlert) int {
		return cmp.Or(cmp.Compare(x.State, y.State), cmp.Compare(x.App, y.App), cmp.Compare(x.Name, y.Name), x.Since.Compare(y.Since), cmp.Compare(x.Summary, y.Summary))
	})
	return s
}

// appOf finds the app of a target or alert: by our labels, else by its pod; -1 for none.
func (p *Plan) appOf(labels map[string]string) int {
	if labels[SystemLabel] == p.Name && labels[NamespaceLabel] == p.Namespace {
		return slices.IndexFunc(p.Apps, func(a PlanApp) bool { return a.Name == labels[AppLabel] })
	}
	named := subjects(labels)
	return slices.IndexFunc(p.Apps, func(a PlanApp) bool {
		return slices.ContainsFunc(p.pods[a.Name], func(pod object.Ref) bool { return slices.Contains(named, pod) })
	})
}

// Fine says that every app is seen, every target is up, and no alert fires.
func (s *Status) Fine() bool {
	for _, a := range s.Apps {
		if a.Blind || a.Count(Down) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.Alerts, func(a FiringAlert) bool { return a.State == Firing })
}

// Count is how many targets have a health.
func (a *AppStatus) Count(health string) int {
	n := 0
	for _, t := range a.Targets {
		if t.Health == health {
			n++
		}
	}
	return n
}

// Server is the address of the Prometheus that selects the monitors: its Service, through the API
// server, which the operator makes for all of a namespace; empty where there is none.
func (p *Plan) Server() string {
	for _, s := range p.Prometheuses {
		if s.Monitors && s.Object.Kind == "Prometheus" {
			return fmt.Sprintf("svc:%s/prometheus-operated:9090", s.Object.Namespace)
		}
	}
	return ""
}
