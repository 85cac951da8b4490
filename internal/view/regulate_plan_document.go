package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// PlanDocument is a plan of regulation for machines (docs/schema/regulate-plan.json).
type PlanDocument struct {
	Head      `json:",inline"`
	System    string             `json:"system"`
	Namespace string             `json:"namespace"`
	At        string             `json:"at"`
	Steps     []PlanStepDocument `json:"steps"`
	Pending   []regulate.Wait    `json:"pending"`
	Refused   []regulate.Refusal `json:"refused"`
	Apps      []PlanAppDocument  `json:"apps"`
	// NextCheck is when to plan again although nothing changes; absent for never.
	NextCheck string          `json:"nextCheck,omitempty"`
	Drift     []DriftDocument `json:"drift"`
	Gaps      []object.Gap    `json:"gaps"`
}

// PlanStepDocument is one thing that is done to one app. Waves are counted from 1 here.
type PlanStepDocument struct {
	Wave     int                  `json:"wave"`
	Verb     string               `json:"verb"` // Send, Join, Leave, Resume, Recover
	App      string               `json:"app"`
	Signal   string               `json:"signal"`
	Hold     int                  `json:"hold,omitempty"`
	Reason   string               `json:"reason"`
	Causes   []CauseDocument      `json:"causes,omitempty"`
	Managers []string             `json:"managers,omitempty"`
	Actions  []PlanActionDocument `json:"actions,omitempty"`
}

// CauseDocument is why an app is held. A journal stores it with other names.
type CauseDocument struct {
	Rule        string `json:"rule,omitempty"`
	App         string `json:"app,omitempty"`
	RequestedBy string `json:"requestedBy,omitempty"`
	Run         string `json:"run,omitempty"`
	Reason      string `json:"reason"`
	At          string `json:"at,omitempty"`
}

// PlanActionDocument is an action of an app with its targets, as people write them.
type PlanActionDocument struct {
	Index   int      `json:"index"`
	Action  string   `json:"action"`
	Text    string   `json:"text,omitempty"`
	Targets []string `json:"targets,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Default bool     `json:"default,omitempty"`
}

// PlanAppDocument is what regulation makes of an app, and its health, which a plan has not.
type PlanAppDocument struct {
	App     string   `json:"app"`
	State   string   `json:"state"` // Free, Held, Cause, Unknown
	Health  string   `json:"health"`
	Needs   []string `json:"needs"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message,omitempty"`
}

func (v *planView) document() PlanDocument {
	d := PlanDocument{
		Head: HeadOf("RegulationPlan"), System: v.o.System, Namespace: v.o.Namespace, At: Moment(v.p.At), Pending: v.p.Pending, Refused: v.p.Refused,
		NextCheck: Moment(v.p.NextCheck), Drift: v.o.drifts(), Gaps: v.o.Gaps,
	}
	d.Steps = PlanSteps(v.p)
	for _, a := range v.p.Apps {
		doc := PlanAppDocument{App: a.App, State: string(a.State), Reason: a.Why}
		if s, ok := v.w.App(a.App); ok {
			doc.Health, doc.Message = string(s.Health), s.Message
			for _, n := range s.Needs {
				doc.Needs = append(doc.Needs, n.App)
			}
		}
		d.Apps = append(d.Apps, doc)
	}
	return d
}

// PlanSteps are the steps of a plan for machines.
func PlanSteps(p *regulate.Plan) []PlanStepDocument {
	var out []PlanStepDocument
	for i := range p.Steps {
		out = append(out, stepDocument(&p.Steps[i]))
	}
	return out
}

func stepDocument(s *regulate.Step) PlanStepDocument {
	d := PlanStepDocument{Wave: s.Wave + 1, Verb: string(s.Verb), App: s.App, Signal: s.Signal, Hold: s.Hold, Reason: s.Why, Causes: causeDocuments(s.Causes)}
	for _, m := range s.Managers {
		d.Managers = append(d.Managers, m.Ref.String())
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		d.Actions = append(d.Actions, PlanActionDocument{Index: a.Index, Action: a.Name, Text: a.Text, Targets: RefTexts(a.Targets), Notes: a.Notes, Default: a.Default})
	}
	return d
}

func causeDocuments(causes []regulate.Cause) []CauseDocument {
	var out []CauseDocument
	for _, c := range causes {
		out = append(out, CauseDocument{Rule: c.Rule, App: c.App, RequestedBy: c.RequestedBy, Run: c.Run, Reason: c.Why, At: Moment(c.At)})
	}
	return out
}
