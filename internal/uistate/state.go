// Package uistate makes what the page draws: the objects that were read, the stacks that they are
// in, with the health, usage and cost of each, and the evidence of each edge. Objects, kinds and
// namespaces are numbers, which they keep as long as the page lives (Numbering); money is rounded
// so that it adds up at every place of a tree. It reads nothing, and knows no HTTP and no markup.
package uistate

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// State is what the page shows (docs/schema/ui-state.json). Whatever is absent is unknown or
// nothing; Parts says why.
//
// A node keeps its number as long as the page lives. What is gone leaves a null behind.
type State struct {
	document.Head `json:",inline"`
	Version       string `json:"version"` // of the program
	Title         string `json:"title"`
	// At is when it was read, RFC 3339.
	At string `json:"at"`
	// Mode is live, snapshot (which does not change), or file (which has no server to ask).
	Mode string `json:"mode"`
	// Source says where it comes from: the context of a kubeconfig, or a snapshot.
	Source string `json:"source,omitempty"`
	// Flags are those of the page's own command that make another one read the same, by name, without
	// a secret; a file has none.
	Flags map[string]string `json:"flags,omitempty"`
	// Namespace is the one that is asked about; empty where all are.
	Namespace string `json:"namespace,omitempty"`
	// View is the view that opens first; empty for the stacks, or the only stack.
	View string `json:"view,omitempty"`
	// Address is what the page shows first, as it stands behind the # of its address; it goes before
	// View.
	Address string `json:"address,omitempty"`
	// Impact is what the impact command tells (docs/schema/impact.json) of the object that Address names
	// as impact; a file and a picture have it, which cannot ask.
	Impact   any    `json:"impact,omitempty"`
	Currency string `json:"currency,omitempty"`
	Prices   string `json:"prices,omitempty"`
	// SharedAmong is among which stacks the cost of what several need is split: alone,
	// requested, namespace or cluster.
	SharedAmong string `json:"sharedAmong,omitempty"`
	// Window is what costs are of; left out for a month at the rates of now.
	Window document.Window `json:"window,omitzero"`

	Kinds      []Kind   `json:"kinds"`
	Namespaces []string `json:"namespaces"` // the first is empty: of the whole cluster
	Labels     []string `json:"labels"`     // key=value
	Rules      []string `json:"rules"`      // names of the rules that edges have
	Nodes      []*Node  `json:"nodes"`
	Stacks     []Stack  `json:"stacks"`
	// Costs are the totals by something else than stacks.
	Costs []Costs `json:"costs,omitempty"`
	// Objects is how many were read: more than Nodes where the page cannot hold all. What is in
	// trouble is always held.
	Objects int `json:"objects"`
	// Parts gives the reason for each part that is absent: health, cost, usage, history, checks,
	// regulation, manifest, events, compose. A part that is present has no entry.
	Parts map[string]string `json:"parts,omitempty"`
	Notes []document.Note   `json:"notes,omitempty"`
	Gaps  []object.Gap      `json:"gaps,omitempty"`
}

// Kind is a kind of objects.
type Kind struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
}

// Node is an object. Numbers point into the lists of the State.
type Node struct {
	Kind      int    `json:"k"`
	Namespace int    `json:"s,omitempty"`
	Name      string `json:"n"`
	// State is missing, unread or virtual; empty for what was read.
	State    string `json:"t,omitempty"`
	Boundary bool   `json:"b,omitempty"`
	// Health is 1 to 6, the best first: Healthy, Suspended, Unknown, Progressing, Missing,
	// Degraded; 0 for what says nothing.
	Health  int    `json:"h,omitempty"`
	Reason  string `json:"r,omitempty"`
	Message string `json:"m,omitempty"`
	// Since and Created are seconds of Unix time.
	Since   int64 `json:"i,omitempty"`
	Created int64 `json:"c,omitempty"`
	Labels  []int `json:"l,omitempty"`
	// Edges leave the node.
	Edges []Edge `json:"e,omitempty"`
	Usage *Usage `json:"u,omitempty"`
	// Events are the last warnings about it.
	Events []Event `json:"v,omitempty"`
}

// Edge is an edge to another node.
type Edge struct {
	To int `json:"t"`
	// Relation is 1 to 3: owns, needs, serves.
	Relation int `json:"r"`
	// Via is owner, label, annotation, spec or env.
	Via  string `json:"v"`
	Why  string `json:"w,omitempty"`
	Rule int    `json:"u"`
	// Port is that of the Service which the edge leads to, or from to pods: its name and number ("mysql 3306").
	Port string `json:"p,omitempty"`
	// Inferred is that of a guess, Optional of one whose reference is optional.
	Inferred bool `json:"i,omitempty"`
	Optional bool `json:"o,omitempty"`
	// Follow says how far a stack follows it, as a sum: 1 not at all (it is aside), 2 no further (a
	// leaf), 4 only from a manager that is a root. The page needs it to show what is affected.
	Follow int `json:"f,omitempty"`
}

// Usage is what a pod, a claim or a load balancer uses and asks for: CPU in millicores, the
// rest in bytes. An absent figure is unknown, or was not requested.
type Usage struct {
	CPU           *int64 `json:"c,omitempty"`
	Memory        *int64 `json:"m,omitempty"`
	Storage       *int64 `json:"s,omitempty"`
	CPURequest    *int64 `json:"cr,omitempty"`
	MemoryRequest *int64 `json:"mr,omitempty"`
	CPULimit      *int64 `json:"cl,omitempty"`
	MemoryLimit   *int64 `json:"ml,omitempty"`
	Claimed       *int64 `json:"sc,omitempty"`
	// Unmeasured is why usage is unknown.
	Unmeasured string `json:"w,omitempty"`
}

// Event is a warning.
type Event struct {
	Reason  string `json:"r"`
	Message string `json:"m"`
	Count   int    `json:"c,omitempty"`
	Last    int64  `json:"l,omitempty"`
}

// NewEvent is a warning that was seen last at a time.
func NewEvent(reason, message string, count int, last time.Time) Event {
	return Event{reason, message, count, unix(last)}
}

// Stack is a stack: a tree of its members, each at one place, and what it costs.
//
// Money is in hundredths of the currency, of a month (or of the window), rounded so that it adds up: the
// Cost of a place is its Own and that of the places right below it; the Cost of the stack is that
// of its places at depth 0 and of its Rest.
type Stack struct {
	// Name is a ROOT that means it.
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	GroupedBy string `json:"groupedBy,omitempty"`
	// Roots are nodes.
	Roots []int `json:"roots"`
	// Tree is the places in preorder.
	Tree []Position `json:"tree"`
	// Objects is how many are in it, without boundaries.
	Objects int     `json:"objects"`
	Health  int     `json:"health,omitempty"`
	Since   int64   `json:"since,omitempty"`
	Causes  []Cause `json:"causes,omitempty"`
	// Pods counts: all, measured, Healthy; absent where pods were not counted.
	Pods []int `json:"pods,omitempty"`
	// Usage is the sum of what is known.
	Usage *Usage         `json:"usage,omitempty"`
	Cost  *int64         `json:"cost,omitempty"`
	Rest  []Unattributed `json:"rest,omitempty"`
	// Created is seconds of Unix time.
	Created int64 `json:"created,omitempty"`
	// Cluster says that it is one of the cluster itself, as its DNS is.
	Cluster bool `json:"cluster,omitempty"`
}

// Position is a node at its place in a stack.
type Position struct {
	Node  int `json:"n"`
	Depth int `json:"d,omitempty"`
	// How says why it hangs there: root, owned, needed, serving, behind, made.
	How string `json:"w,omitempty"`
	// Again says that it has its place elsewhere, and is only mentioned here: nothing below it, and
	// it costs nothing here.
	Again bool `json:"a,omitempty"`
	// Shared says that other stacks have it as well.
	Shared bool `json:"s,omitempty"`
	// Peer says that the stack may be well without it (it does not count).
	Peer bool `json:"x,omitempty"`
	// Below is the health of what is below it.
	Below int    `json:"b,omitempty"`
	Cost  *int64 `json:"c,omitempty"`
	// Own is what it costs by itself, Share the part of that which this stack pays ("1/3"; empty
	// where it pays all), Path the nodes by which the cost goes to the stack, topmost first.
	Own   *int64 `json:"o,omitempty"`
	Share string `json:"p,omitempty"`
	Path  []int  `json:"y,omitempty"`
	// Charges are what Own is made of, by what is paid for: cpu, memory, storage, ...
	Charges map[string]int64 `json:"g,omitempty"`
	// Whole is what all that share it pay, with what is below; absent where it is not shared.
	Whole int64 `json:"q,omitempty"`
}

// Cause is a cause of the health of a stack.
type Cause struct {
	Node int `json:"n"`
	// Of is who leads to it; -1 for a root.
	Of int `json:"o"`
}

// Unattributed is what a stack pays that is at none of its places: idle, overhead, something gone.
type Unattributed struct {
	Name string `json:"name"`
	Cost int64  `json:"cost"`
}

// Costs are the totals by stack, namespace or the values of a label.
type Costs struct {
	// GroupBy is stack, namespace, or label KEY.
	GroupBy string    `json:"groupBy"`
	Rows    []CostRow `json:"rows"`
	Total   int64     `json:"total"`
	// Parts are those of the total: they are the same for every grouping, and may differ from the sum
	// of the rows, which are rounded each, by some hundredths.
	Parts map[string]int64 `json:"parts,omitempty"`
}

// CostRow is what one of them costs.
type CostRow struct {
	Name string `json:"name"`
	Pods int    `json:"pods,omitempty"`
	Cost int64  `json:"cost"`
	// Parts are by what is paid for.
	Parts map[string]int64 `json:"parts,omitempty"`
}

// Delta is the difference of a State to the one before: whatever is absent is as it was.
type Delta struct {
	// At is that of the new State.
	At string `json:"at"`
	// Head are the fields of the State but for Nodes and Stacks, where one of them changed.
	Head *State `json:"head,omitempty"`
	// Nodes are those that changed, by number; null for one that is gone.
	Nodes map[int]*Node `json:"nodes,omitempty"`
	// Stacks are those that changed, by name; null for one that is gone. Order is that of all, where
	// it changed.
	Stacks map[string]*Stack `json:"stacks,omitempty"`
	Order  []string          `json:"order,omitempty"`
}
