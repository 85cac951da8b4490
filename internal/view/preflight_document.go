package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// PreflightVersion is the version of the preflight document: v1alpha1 had judgements.
const PreflightVersion = "sysop.dev/v1alpha2"

// PreflightDocument says whether a batch would start (docs/schema/preflight.json).
type PreflightDocument struct {
	Head `json:",inline"`
	// Verdict is impossible, unknown or fits, Summary the same in a line for people.
	Verdict schedule.Verdict `json:"verdict"`
	Summary string           `json:"summary"`
	// Objects counts those of the batch, Pods those that were placed or tried.
	Objects int `json:"objects"`
	Pods    int `json:"pods"`
	// FromScratch says that the batch is a stack of the cluster.
	FromScratch bool `json:"fromScratch"`
	// DryRun says that an API server was asked.
	DryRun         bool                `json:"dryRun"`
	Findings       []preflight.Finding `json:"findings"`
	Placement      []schedule.Placed   `json:"placement"`
	NotChecked     []string            `json:"notChecked"`
	AutoscalerNote string              `json:"autoscalerNote,omitempty"`
	Gaps           []object.Gap        `json:"gaps"`
}

func (p *preflightView) document() PreflightDocument {
	return PreflightDocument{
		Head: Head{APIVersion: PreflightVersion, Kind: "Preflight"}, Verdict: p.r.Verdict, Summary: PreflightVerdict(p.r, p.o), Objects: p.o.Objects, Pods: p.r.Pods,
		FromScratch: p.o.FromScratch, DryRun: p.o.Server, Findings: p.r.Findings, Placement: p.r.Placement, NotChecked: p.r.NotChecked,
		AutoscalerNote: p.r.AutoscalerNote, Gaps: p.o.Gaps,
	}
}
