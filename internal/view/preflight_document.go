package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// PreflightVersion is the version of the preflight document: v1alpha1 had judgements.
const PreflightVersion = "sysop.dev/v1alpha2"

// PreflightDocument says whether a batch would start (docs/schema/preflight.json).
type PreflightDocument struct {
	Head `json:",inline"`
	// Verdict is impossible, unknown or fits, Summary the same in a line for people.
	Verdict string `json:"verdict"`
	Summary string `json:"summary"`
	// Objects counts those of the batch, Pods those that were placed or tried.
	Objects int `json:"objects"`
	Pods    int `json:"pods"`
	// FromScratch says that the batch is a stack of the cluster.
	FromScratch bool `json:"fromScratch"`
	// DryRun says that an API server was asked.
	DryRun         bool                       `json:"dryRun"`
	Findings       []PreflightFindingDocument `json:"findings"`
	Placement      []schedule.Placed          `json:"placement"`
	NotChecked     []string                   `json:"notChecked"`
	AutoscalerNote string                     `json:"autoscalerNote,omitempty"`
	Gaps           []object.Gap               `json:"gaps"`
}

// PreflightFindingDocument is one result, of one topic.
type PreflightFindingDocument struct {
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
		Head: Head{PreflightVersion, "Preflight"}, Verdict: p.r.Verdict.String(), Summary: PreflightVerdict(p.r, p.o), Objects: p.o.Objects, Pods: p.r.Pods,
		FromScratch: p.o.FromScratch, DryRun: p.o.Server, Findings: make([]PreflightFindingDocument, 0, len(p.r.Findings)),
		Placement: p.r.Placement, NotChecked: p.r.NotChecked, AutoscalerNote: p.r.AutoscalerNote, Gaps: p.o.Gaps,
	}
	for i := range p.r.Findings {
		j := &p.r.Findings[i]
		out := PreflightFindingDocument{
			Verdict: j.Verdict.String(), Topic: string(j.Topic), Origin: j.Origin, Field: j.Field, Value: j.Value,
			Reason: j.Reason, Message: j.Message, Remedy: j.Remedy, Nodes: j.Nodes,
		}
		if j.Object.Kind != "" {
			out.Object = j.Object.String()
		}
		d.Findings = append(d.Findings, out)
	}
	return d
}
