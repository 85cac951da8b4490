package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ImpactDocument is what is deleted along with an object, and what that does to others
// (docs/schema/impact.json). graph.Impact has the numbers of the graph; documents have IDs.
type ImpactDocument struct {
	Head    `json:",inline"`
	Object  string `json:"object"`
	Cascade string `json:"cascade"`
	Summary string `json:"summary"`
	// AppliesWhen says of an object that acts only when something is created when that is.
	AppliesWhen string                `json:"appliesWhen,omitempty"`
	Finalizers  []string              `json:"finalizers"`
	RecreatedBy *RecreatedByDocument  `json:"recreatedBy,omitempty"`
	Stacks      []ImpactStackDocument `json:"stacks"`
	// Deleted are the ids of Deletions.
	Deleted      []string            `json:"deleted"`
	Deletions    []DeletionDocument  `json:"deletions"`
	MayBeDeleted []DeletionDocument  `json:"mayBeDeleted"`
	Retained     []RetainedDocument  `json:"retained"`
	Direct       []DependentDocument `json:"direct"`
	Indirect     []DependentDocument `json:"indirect"`
	Served       []DependentDocument `json:"served"`
	// UnreadKinds are kinds, as Kind.group, of which not all was read that may name the object.
	UnreadKinds []string     `json:"unreadKinds"`
	Gaps        []object.Gap `json:"gaps"`
}

// RecreatedByDocument is what creates an object again.
type RecreatedByDocument struct {
	ID    string `json:"id"`
	Known bool   `json:"known"`
}

// ImpactStackDocument is what a deletion does to a stack.
type ImpactStackDocument struct {
	Stack    string   `json:"stack"`
	Effect   string   `json:"effect"`
	Inferred bool     `json:"inferred"`
	Cause    string   `json:"cause,omitempty"`
	Deleted  int      `json:"deleted"`
	Objects  []string `json:"objects"`
}

// DeletionDocument is an object that is deleted along.
type DeletionDocument struct {
	ID         string   `json:"id"`
	Cause      string   `json:"cause"`
	Removal    string   `json:"removal"`
	Why        string   `json:"why,omitempty"`
	Blocks     bool     `json:"blocks"`
	Finalizers []string `json:"finalizers"`
}

// RetainedDocument is an object that stays.
type RetainedDocument struct {
	ID     string `json:"id"`
	Cause  string `json:"cause"`
	Reason string `json:"reason"`
}

// DependentDocument is an object that a deletion does something to, and by what.
type DependentDocument struct {
	ID          string       `json:"id"`
	Effect      string       `json:"effect"`
	Inferred    bool         `json:"inferred"`
	Consequence string       `json:"consequence,omitempty"`
	Cause       string       `json:"cause"`
	Edge        EdgeDocument `json:"edge"`
	Optional    bool         `json:"optional"`
	Controlled  []string     `json:"controlled"`
	Remaining   int          `json:"remaining,omitempty"`
	Total       int          `json:"total,omitempty"`
}

func (v *impactView) document() ImpactDocument {
	g, im := v.Graph, &v.Impact
	doc := ImpactDocument{
		Head: HeadOf("Impact"), Object: g.Ref(im.Object).String(), Cascade: v.Cascade.String(), Summary: v.summary(),
		AppliesWhen: g.Acts(im.Object), Finalizers: g.Finalizers(im.Object),
		Deletions: v.deletions(im.Deleted), MayBeDeleted: v.deletions(im.MayGo),
		Direct: v.dependentDocuments(im.Direct), Indirect: v.dependentDocuments(im.Indirect), Served: v.dependentDocuments(im.Bereft),
		UnreadKinds: v.unlooked, Gaps: g.Gaps(),
	}
	if im.Remaker >= 0 {
		doc.RecreatedBy = &RecreatedByDocument{ID: g.Ref(im.Remaker).String(), Known: im.RemakerKnown}
	}
	for i := range v.Stacks {
		doc.Stacks = append(doc.Stacks, v.stackDocument(&v.Stacks[i]))
	}
	for i := range im.Deleted {
		doc.Deleted = append(doc.Deleted, doc.Deletions[i].ID)
	}
	for _, k := range im.Kept {
		doc.Retained = append(doc.Retained, RetainedDocument{ID: g.Ref(k.ID).String(), Cause: g.Ref(k.By).String(), Reason: k.Reason.String()})
	}
	return doc
}

func (v *impactView) stackDocument(s *graph.StackImpact) ImpactStackDocument {
	doc := ImpactStackDocument{Stack: s.Stack.Ref(v.Graph).String(), Effect: s.Effect.String(), Inferred: s.Inferred, Deleted: s.Deleted}
	if s.Gone {
		doc.Effect = "deleted"
	} else {
		doc.Cause = v.Graph.Ref(s.Because).String()
	}
	for _, place := range s.Members {
		doc.Objects = append(doc.Objects, v.Graph.Ref(v.all[place].ID).String())
	}
	return doc
}

func (v *impactView) deletions(all []graph.Deletion) []DeletionDocument {
	var out []DeletionDocument
	for i := range all {
		d := &all[i]
		out = append(out, DeletionDocument{
			ID: v.Graph.Ref(d.ID).String(), Cause: v.Graph.Ref(d.By).String(), Removal: d.Removal.String(), Why: d.Edge.Why(), Blocks: d.Blocks,
			Finalizers: v.Graph.Finalizers(d.ID),
		})
	}
	return out
}

func (v *impactView) dependentDocuments(all []graph.Dependent) []DependentDocument {
	g := v.Graph
	var out []DependentDocument
	for i := range all {
		d := &all[i]
		out = append(out, DependentDocument{
			ID: g.Ref(d.ID).String(), Effect: d.Effect.String(), Inferred: d.Inferred, Consequence: d.Follows, Cause: g.Ref(d.Cause).String(),
			Edge: edgeDocument(g, d.Edge), Optional: d.Effect == graph.DoesWithout, Controlled: refs(g, d.Below), Remaining: d.Left, Total: d.Of,
		})
	}
	return out
}
