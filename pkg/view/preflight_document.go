package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// PreflightDocument is what is foreseen of a batch (docs/schema/preflight.json).
type PreflightDocument struct {
	Head `json:",inline"`
	// Verdict is impossible, unknown or fits, Summary the same in a line for people.
	Verdict string `json:"verdict"`
	Summary string `json:"summary"`
	// Objects counts those of the batch, Pods those that were placed or tried.
	Objects int `json:"objects"`
	Pods    int `json:"pods"`
	// FromScratch says that the batch is a stack which is there.
	FromScratch bool `json:"anew"`
	// DryRun says that an API server was asked.
	DryRun     bool                `json:"dryRun"`
	Judgements []JudgementDocument `json:"judgements"`
	Placement  []schedule.Placed   `json:"placement"`
	NotChecked []string            `json:"notJudged"`
	Grows      string              `json:"grows,omitempty"`
	Gaps       []object.Gap        `json:"gaps"`
}

// JudgementDocument is one thing that is foreseen.
type JudgementDocument struct {
	Verdict string                `json:"verdict"`
	Topic   string                `json:"topic"`
	Object  string                `json:"object,omitempty"`
	Origin  string                `json:"origin,omitempty"`
	Field   string                `json:"field,omitempty"`
	Value   string                `json:"value,omitempty"`
	Reason  string                `json:"reason"`
	Message string                `json:"message"`
	Remedy  string                `json:"remedy,omitempty"`
	Nodes   []schedule.NodeReason `json:"nodes,omitempty"`
}

func (p *preflightView) document() PreflightDocument {
	d := PreflightDocument{
		Head: Head{APIVersion, "Preflight"}, Verdict: p.r.Verdict.String(), Summary: PreflightVerdict(p.r, p.o), Objects: p.o.Objects, Pods: p.r.Pods,
		FromScratch: p.o.FromScratch, DryRun: p.o.Server, Judgements: make([]JudgementDocument, 0, len(p.r.Findings)),
		Placement: none(p.r.Placement), NotChecked: none(p.r.NotChecked), Grows: p.r.AutoscalerNote, Gaps: none(p.o.Gaps),
	}
	for i := range p.r.Findings {
		j := &p.r.Findings[i]
		out := JudgementDocument{
			Verdict: j.Verdict.String(), Topic: string(j.Topic), Origin: j.Origin, Field: j.Field, Value: j.Value,
			Reason: j.Reason, Message: j.Message, Remedy: j.Remedy, Nodes: j.Nodes,
		}
		if j.Object.Kind != "" {
			out.Object = j.Object.String()
		}
		d.Judgements = append(d.Judgements, out)
	}
	return d
}
