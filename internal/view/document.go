package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// APIVersion is that of every document but Preflight.
const APIVersion = document.APIVersion

// Head is the type of a document.
type Head = document.Head

// Number is an exact decimal. In JSON it is a number.
type Number = document.Number

// GraphDocument is the stack of some roots (docs/schema/graph.json). A graph has its nodes by
// number; documents have them by ID.
type GraphDocument struct {
	Head  `json:",inline"`
	Roots []string       `json:"roots"`
	Nodes []NodeDocument `json:"nodes"`
	Edges []EdgeDocument `json:"edges"`
	// Context is the owners above the roots, and who manages them, which are not part
	// of the stack.
	Context  []NodeDocument  `json:"context,omitempty"`
	Gaps     []object.Gap    `json:"gaps"`
	Problems []graph.Problem `json:"problems"`
}

// NodeDocument is a node: the identity of an object and what is known of it.
type NodeDocument struct {
	ID         string `json:"id"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	// State is present, missing, unread or virtual.
	State    string `json:"state"`
	Boundary bool   `json:"boundary"`
	Shared   bool   `json:"shared"`
	// Provenance says that it is in the stack for no more than that it makes what is needed
	// there, or that a maker needs it.
	Provenance bool `json:"provenance,omitempty"`
}

// EdgeDocument is an edge, by the ids of its ends.
type EdgeDocument struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Relation string `json:"relation"`
	Via      string `json:"via"`
	Why      string `json:"why"`
	Rule     string `json:"rule"`
	Inferred bool   `json:"inferred"`
	Optional bool   `json:"optional"`
}

// ProblemsDocument is what is wrong with a stack, alone
// (docs/schema/problems.json).
type ProblemsDocument struct {
	Head     `json:",inline"`
	Roots    []string        `json:"roots"`
	Problems []graph.Problem `json:"problems"`
	Gaps     []object.Gap    `json:"gaps"`
}

// PathDocument is a chain of edges, by ID (docs/schema/path.json).
type PathDocument struct {
	Head  `json:",inline"`
	From  string         `json:"from"`
	To    string         `json:"to"`
	Found bool           `json:"found"`
	Steps []StepDocument `json:"steps"`
	Gaps  []object.Gap   `json:"gaps"`
}

// StepDocument is an edge of a path; reversed says that the path walks it from to
// to from.
type StepDocument struct {
	EdgeDocument `json:",inline"`
	Reversed     bool `json:"reversed"`
}

func edgeDocument(g *graph.Graph, e graph.Edge) EdgeDocument {
	return edgeBetween(e, g.Ref(e.From).String(), g.Ref(e.To).String())
}

// edgeBetween is edgeDocument with the ids of both ends.
func edgeBetween(e graph.Edge, from, to string) EdgeDocument {
	return EdgeDocument{
		From: from, To: to, Relation: e.Relation.String(), Via: e.Via.String(),
		Why: e.Why(), Rule: e.Rule, Inferred: e.Inferred, Optional: e.Optional,
	}
}

func nodeDocument(g *graph.Graph, id graph.ID) NodeDocument {
	n := g.Node(id)
	return NodeDocument{
		ID: n.Ref.String(), APIVersion: n.APIVersion, Kind: n.Ref.Kind, Namespace: n.Ref.Namespace, Name: n.Ref.Name,
		UID: string(n.UID), State: n.State.String(), Boundary: n.Boundary,
	}
}

func HeadOf(kind string) Head { return Head{APIVersion: APIVersion, Kind: kind} }
