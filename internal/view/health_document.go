package view

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// HealthDocument is the health of stacks and of each of their objects (docs/schema/health.json).
// Results of health have the numbers of the graph; documents have IDs.
type HealthDocument struct {
	Head    `json:",inline"`
	Stacks  []HealthStackDocument  `json:"stacks"`
	Objects []HealthObjectDocument `json:"objects"`
	Gaps    []object.Gap           `json:"gaps"`
}

// HealthStackDocument is the health of a stack. Times are RFC 3339, and left out where they
// are unknown.
type HealthStackDocument struct {
	// Name is what the stack is called on the command line: its root, or helm/NAME.
	Name   string   `json:"name"`
	Roots  []string `json:"roots"`
	Health string   `json:"health"`
	Since  string   `json:"since,omitempty"`
	// Counts is how many of the parts that count are in each status.
	Counts map[string]int        `json:"counts"`
	Causes []HealthCauseDocument `json:"causes"`
	// Evidence is what others say about it; it changes no health.
	Evidence []document.Evidence `json:"evidence"`
}

// HealthCauseDocument is a part in trouble below which nothing is in as much of it.
type HealthCauseDocument struct {
	ID      string `json:"id"`
	Health  string `json:"health"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   string `json:"since,omitempty"`
	// Depth is how many steps it is from a root; Parent leads to it, one step nearer, and Why
	// is the evidence.
	Depth  int             `json:"depth"`
	Parent string          `json:"parent,omitempty"`
	Why    string          `json:"why,omitempty"`
	Events []EventDocument `json:"events"`
}

// EventDocument is a Warning of the cluster about an object, the last time that it came.
type EventDocument struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	Last    string `json:"last,omitempty"`
}

// HealthObjectDocument is the health of one object.
type HealthObjectDocument struct {
	ID string `json:"id"`
	// OwnHealth is what it says of itself; PartsHealth the worst of what it owns and needs.
	OwnHealth   string `json:"ownHealth"`
	PartsHealth string `json:"partsHealth,omitempty"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	Since       string `json:"since,omitempty"`
	// Stage is the one that evaluated it (health.Stages), or "derived".
	Stage string `json:"stage,omitempty"`
	// DerivedFrom is what the health was taken from, where the object says nothing of it.
	DerivedFrom []string `json:"derivedFrom"`
	// Counts says that a stack that was asked about is no better than this object.
	Counts bool `json:"counts"`
	// RuleError is set where the rule of the kind could not be evaluated on the object.
	RuleError *health.RuleError `json:"ruleError,omitempty"`
}

func (v *healthView) document() HealthDocument {
	doc := HealthDocument{Head: HeadOf("Health"), Gaps: append(v.g.Gaps(), v.o.Gaps...)}
	for i := range v.stacks {
		doc.Stacks = append(doc.Stacks, v.stack(&v.stacks[i]))
	}
	parts, counts := v.together()
	for _, id := range v.ids {
		h := v.own(id)
		if h.Status == "" {
			continue
		}
		doc.Objects = append(doc.Objects, HealthObjectDocument{
			ID: v.g.Ref(id).String(), OwnHealth: string(h.Status), PartsHealth: string(parts[id]), Reason: h.Reason, Message: h.Message,
			Since: Moment(h.Since), Stage: h.Stage, DerivedFrom: refs(v.g, v.a.DerivedFrom(id)), Counts: counts[id], RuleError: h.RuleError,
		})
	}
	return doc
}

// own is the health of an object by itself, as its stack tells it: of what is missing also who
// makes it.
func (v *healthView) own(id graph.ID) health.Health {
	h := v.a.OwnHealth(id)
	for i := 0; i < len(v.stacks) && h.Status == health.Missing; i++ {
		if p, in := v.stacks[i].Health.Part(id); in {
			return p.Own
		}
	}
	return h
}

func (v *healthView) stack(s *HealthStack) HealthStackDocument {
	d := HealthStackDocument{
		Name: StackName(s.Name), Roots: refs(v.g, s.Stack.Roots()), Health: string(s.Health.Status), Since: Moment(s.Health.Since),
		Counts: map[string]int{}, Evidence: s.Evidence,
	}
	if d.Health == "" {
		d.Health = string(health.Unknown)
	}
	for status, n := range s.Health.Counts {
		d.Counts[string(status)] = n
	}
	for _, c := range s.Health.Causes {
		cause := HealthCauseDocument{
			ID: v.g.Ref(c.ID).String(), Health: string(c.Health.Status), Reason: c.Health.Reason, Message: c.Health.Message,
			Since: Moment(c.Health.Since), Depth: c.Depth,
		}
		if !c.Root {
			cause.Parent, cause.Why = v.g.Ref(c.Of).String(), c.Edge.Why()
		}
		for _, e := range v.o.Events[v.g.Ref(c.ID)] {
			cause.Events = append(cause.Events, EventDocument{e.Reason, e.Message, max(e.Count, 1), Moment(e.Last)})
		}
		d.Causes = append(d.Causes, cause)
	}
	return d
}

// together is the worst below each object in any of the stacks, and whether it counts in
// one.
func (v *healthView) together() (map[graph.ID]health.Status, map[graph.ID]bool) {
	parts, counts := map[graph.ID]health.Status{}, map[graph.ID]bool{}
	for _, s := range v.stacks {
		for _, p := range s.Health.Parts {
			parts[p.ID] = health.Worst(parts[p.ID], p.Below)
			counts[p.ID] = counts[p.ID] || p.Required
		}
	}
	return parts, counts
}

// StackName writes the name of a stack as a ROOT of the command line: an object, or
// helm/NAME and app/NAME with their namespace.
func StackName(r object.Ref) string { return r.String() }

// Moment writes a time as machines read it; empty for none.
func Moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
