package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/colocation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ColocationDocument is how the pods of stacks lie (docs/schema/colocation.json).
type ColocationDocument struct {
	Head   `json:",inline"`
	Stacks []ColocationStackDocument `json:"stacks"`
	Gaps   []object.Gap              `json:"gaps"`
}

// ColocationStackDocument is how the pods of a stack lie, and the verdict on one node for all.
type ColocationStackDocument struct {
	colocation.Placement `json:",inline"`
	SingleNode           ColocationSingleNodeDocument `json:"singleNode"`
	// NodesUnread says that nodes could not all be read.
	NodesUnread bool `json:"nodesUnread"`
}

// ColocationSingleNodeDocument says whether all could be kept on one node.
type ColocationSingleNodeDocument struct {
	// Verdict is in one word, Summary in one sentence.
	Verdict string `json:"verdict"`
	Summary string `json:"summary"`
	// On is the node that all pods are on today.
	On                    string `json:"on,omitempty"`
	colocation.SingleNode `json:",inline"`
}

func colocationDocument(found []*colocation.Placement, gaps []object.Gap) ColocationDocument {
	doc := ColocationDocument{Head: HeadOf("Colocation"), Gaps: gaps}
	for _, c := range found {
		s := ColocationSingleNodeDocument{SingleNode: c.Together}
		s.Verdict, s.Summary = colocationVerdict(c)
		s.On, _ = c.OneNode()
		doc.Stacks = append(doc.Stacks, ColocationStackDocument{*c, s, c.NodesUnread})
	}
	return doc
}
