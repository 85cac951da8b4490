package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// SystemShownDocument is a System for programs (docs/schema/system-show.json): the manifest in
// words, with the state of its apps.
type SystemShownDocument struct {
	Head        `json:",inline"`
	Name        string                     `json:"name"`
	Namespace   string                     `json:"namespace,omitempty"`
	Description string                     `json:"description,omitempty"`
	Apps        []SystemAppDocument        `json:"apps"`
	Connections []SystemConnectionDocument `json:"connections"`
	Labels      map[string]string          `json:"labels,omitempty"`
	Rules       []SystemRuleDocument       `json:"rules"`
	Signals     []string                   `json:"signals"`
	Bounds      string                     `json:"bounds"`
	Tenant      string                     `json:"tenant,omitempty"`
	Prices      string                     `json:"prices,omitempty"`
	Sharing     string                     `json:"sharing,omitempty"`
	Waivers     []SystemWaiverDocument     `json:"waivers"`
	Gaps        []object.Gap               `json:"gaps"`
}

// SystemAppDocument is an app.
type SystemAppDocument struct {
	Name     string   `json:"name"`
	Roots    []string `json:"roots"`
	Operator string   `json:"operator,omitempty"`
	GitOps   string   `json:"gitops,omitempty"`
	// Resources are those that the manifest brings along.
	Resources []string `json:"resources"`
	// Health is that of its own part; it is left out where no cluster was read.
	Health  string `json:"health,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Message string `json:"message,omitempty"`
	// Missing are roots that do not exist, Unread those that could not be read.
	Missing []string             `json:"missing,omitempty"`
	Unread  []string             `json:"unread,omitempty"`
	Needs   []SystemNeedDocument `json:"needs"`
	On      []SystemOnDocument   `json:"on"`
}

// SystemNeedDocument is an app that another one needs, and why.
type SystemNeedDocument struct {
	App string `json:"app"`
	// Declared says that the manifest says so.
	Declared bool   `json:"declared"`
	Reason   string `json:"reason,omitempty"`
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
}

// SystemConnectionDocument is a value or a port of an app that another one uses, in words.
type SystemConnectionDocument struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Port is the port of from that is connected to; it is left out for a value of a field.
	Port string `json:"port,omitempty"`
	Text string `json:"text"`
}

// SystemOnDocument is what an app does on a signal, in order and in words.
type SystemOnDocument struct {
	Signal  string   `json:"signal"`
	Actions []string `json:"actions"`
}

// SystemRuleDocument is a rule in words.
type SystemRuleDocument struct {
	Name   string `json:"name"`
	Signal string `json:"signal"`
	Text   string `json:"text"`
}

// SystemWaiverDocument is a waiver of a finding.
type SystemWaiverDocument struct {
	Rule   string `json:"rule"`
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
}

func (v *systemView) document() SystemShownDocument {
	s := v.s
	doc := SystemShownDocument{
		Head: HeadOf("SystemShown"), Name: s.Name, Namespace: v.o.Namespace, Description: s.Description,
		Signals: append([]string{system.Stop, system.Recover}, s.Regulation.Signals...),
		Bounds:  s.Regulation.Words(), Tenant: s.Chargeback.Tenant, Prices: s.Chargeback.Prices, Sharing: string(s.Chargeback.Sharing),
		Gaps: v.o.Gaps, Labels: s.Labels,
	}
	for _, c := range s.Connections {
		doc.Connections = append(doc.Connections, SystemConnectionDocument{c.From.App, c.To.App, c.From.Port, endWords(c.From) + " into " + endWords(c.To)})
	}
	for i := range s.Apps {
		doc.Apps = append(doc.Apps, v.appDocument(&s.Apps[i]))
	}
	for i := range s.Regulation.Rules {
		r := &s.Regulation.Rules[i]
		doc.Rules = append(doc.Rules, SystemRuleDocument{r.Name, r.Signal, r.Words()})
	}
	for _, w := range s.Waivers {
		d := SystemWaiverDocument{Rule: w.Rule, Reason: w.Reason}
		if w.Object.Kind != "" {
			d.Object = w.Object.String()
		}
		doc.Waivers = append(doc.Waivers, d)
	}
	return doc
}

func (v *systemView) appDocument(a *system.App) SystemAppDocument {
	d := SystemAppDocument{Name: a.Name, Roots: rootTexts(a.Roots), Operator: a.Operator, GitOps: string(a.GitOps), Needs: v.needs(a.Name)}
	for _, o := range a.Resources {
		gk := o.GroupVersionKind().GroupKind()
		d.Resources = append(d.Resources, object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}.String())
	}
	for _, signal := range a.Signals() {
		on := SystemOnDocument{Signal: signal}
		actions := a.On[signal]
		for i := range actions {
			on.Actions = append(on.Actions, actions[i].Words())
		}
		d.On = append(d.On, on)
	}
	if state := v.state(a.Name); state != nil {
		d.Health, d.Message, d.Missing, d.Unread = string(state.Health), state.Message, state.Absent, state.Unread
		if state.Cause.Kind != "" {
			d.Cause = state.Cause.String()
		}
	}
	return d
}

// SystemsCheckedDocument is what system validate found (docs/schema/system-validate.json).
type SystemsCheckedDocument struct {
	Head  `json:",inline"`
	Files []document.CheckedSystem `json:"files"`
	// Offline says that no cluster was read for the objects that are named.
	Offline bool `json:"offline"`
}

// SystemsChecked returns the answer of system validate.
func SystemsChecked(files []document.CheckedSystem, offline bool) Output {
	return Output{Document: SystemsCheckedDocument{HeadOf("SystemsChecked"), files, offline}}
}
