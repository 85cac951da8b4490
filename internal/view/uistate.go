package view

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// UIState is what the page shows: the objects that were read, the stacks that they are in, with
// each one's health, usage and cost, and why each edge is there
// (docs/schema/ui-state.json). It is made for machines that draw: objects, kinds and namespaces
// are numbers, and whatever is absent is unknown or nothing. Parts says of what is not in it
// why not.
//
// A node keeps its number as long as the page lives. What is gone leaves a null behind.
type UIState struct {
	Head    `json:",inline"`
	Version string `json:"version"` // of the program
	Title   string `json:"title"`
	// At is when it was read, RFC 3339.
	At string `json:"at"`
	// Mode is live, snapshot (which does not change), or file (which has no server to ask).
	Mode string `json:"mode"`
	// Source says where it comes from: the context of a kubeconfig, or a snapshot.
	Source string `json:"source,omitempty"`
	// Namespace is the one that is asked about; empty where all are.
	Namespace string `json:"namespace,omitempty"`
	// View is the view that opens first; empty for the stacks, or the only stack.
	View     string `json:"view,omitempty"`
	Currency string `json:"currency,omitempty"`
	Prices   string `json:"prices,omitempty"`
	// Window is what costs are of; left out for a month at the rates of now.
	Window WindowDocument `json:"window,omitzero"`

	Kinds      []UIKind  `json:"kinds"`
	Namespaces []string  `json:"namespaces"` // the first is empty: of the whole cluster
	Labels     []string  `json:"labels"`     // key=value
	Rules      []string  `json:"rules"`      // names of the rules that edges have
	Nodes      []*UINode `json:"nodes"`
	Stacks     []UIStack `json:"stacks"`
	// Costs are the totals by something else than stacks.
	Costs []UICosts `json:"costs,omitempty"`
	// Objects is how many were read: more than Nodes where the page cannot hold all. What is in
	// trouble is always held.
	Objects int `json:"objects"`
	// Parts gives the reason for each part that is absent: health, cost, usage, history, checks,
	// regulation, manifest, events, compose. A part that is present has no entry.
	Parts map[string]string `json:"parts,omitempty"`
	Notes []NoteDocument    `json:"notes,omitempty"`
	Gaps  []object.Gap      `json:"gaps,omitempty"`
}

// UIKind is a kind of objects.
type UIKind struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
}

// UINode is an object. Numbers point into the lists of the UIState.
type UINode struct {
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
	Edges []UIEdge `json:"e,omitempty"`
	Usage *UIUsage `json:"u,omitempty"`
	// Events are the last warnings about it.
	Events []UIEvent `json:"v,omitempty"`
}

// UIEdge is an edge to another node.
type UIEdge struct {
	To int `json:"t"`
	// Relation is 1 to 3: owns, needs, serves.
	Relation int `json:"r"`
	// Via is owner, label, annotation, spec or env.
	Via  string `json:"v"`
	Why  string `json:"w,omitempty"`
	Rule int    `json:"u"`
	// Inferred is that of a guess, Optional of one whose reference is optional.
	Inferred bool `json:"i,omitempty"`
	Optional bool `json:"o,omitempty"`
	// Follow says how far a stack follows it, as a sum: 1 not at all (it is aside), 2 no further (a
	// leaf), 4 only from a manager that is a root. The page needs it to show what is affected.
	Follow int `json:"f,omitempty"`
}

// UIUsage is what a pod, a claim or a load balancer uses and asks for: CPU in millicores, the
// rest in bytes. An absent figure is unknown, or was not requested.
type UIUsage struct {
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

// UIEvent is a warning.
type UIEvent struct {
	Reason  string `json:"r"`
	Message string `json:"m"`
	Count   int    `json:"c,omitempty"`
	Last    int64  `json:"l,omitempty"`
}

// UIStack is a stack: a tree of its members, each at one place, and what it costs.
//
// Money is in hundredths of the currency, of a month (or of the window), rounded so that it adds up: the
// Cost of a place is its Own and that of the places right below it; the Cost of the stack is that
// of its places at depth 0 and of its Rest.
type UIStack struct {
	// Name is a ROOT that means it.
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	GroupedBy string `json:"groupedBy,omitempty"`
	// Roots are nodes.
	Roots []int `json:"roots"`
	// Tree is the places in preorder.
	Tree []UIPosition `json:"tree"`
	// Objects is how many are in it, without boundaries.
	Objects int       `json:"objects"`
	Health  int       `json:"health,omitempty"`
	Since   int64     `json:"since,omitempty"`
	Causes  []UICause `json:"causes,omitempty"`
	// Pods counts: all, measured, Healthy; absent where pods were not counted.
	Pods []int `json:"pods,omitempty"`
	// Usage is the sum of what is known.
	Usage *UIUsage         `json:"usage,omitempty"`
	Cost  *int64           `json:"cost,omitempty"`
	Rest  []UIUnattributed `json:"rest,omitempty"`
	// Created is seconds of Unix time.
	Created int64 `json:"created,omitempty"`
	// Cluster says that it is one of the cluster itself, as its DNS is.
	Cluster bool `json:"cluster,omitempty"`
}

// UIPosition is a node at its place in a stack.
type UIPosition struct {
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
}

// UICause is a cause of the health of a stack.
type UICause struct {
	Node int `json:"n"`
	// Of is who leads to it; -1 for a root.
	Of int `json:"o"`
}

// UIUnattributed is what a stack pays that is at none of its places: idle, overhead, something gone.
type UIUnattributed struct {
	Name string `json:"name"`
	Cost int64  `json:"cost"`
}

// UICosts are the totals by namespace or by the values of a label.
type UICosts struct {
	// GroupBy is namespace, or label KEY.
	GroupBy string      `json:"groupBy"`
	Rows    []UICostRow `json:"rows"`
	Total   int64       `json:"total"`
}

// UICostRow is what one of them costs.
type UICostRow struct {
	Name string `json:"name"`
	Pods int    `json:"pods,omitempty"`
	Cost int64  `json:"cost"`
	// Parts are by what is paid for.
	Parts map[string]int64 `json:"parts,omitempty"`
}

// UIDelta is the difference of a UIState to the one before: whatever is absent is as it was.
type UIDelta struct {
	// At is that of the new UIState.
	At string `json:"at"`
	// Head are the fields of the UIState but for Nodes and Stacks, where one of them changed.
	Head *UIState `json:"head,omitempty"`
	// Nodes are those that changed, by number; null for one that is gone.
	Nodes map[int]*UINode `json:"nodes,omitempty"`
	// Stacks are those that changed, by name; null for one that is gone. Order is that of all, where
	// it changed.
	Stacks map[string]*UIStack `json:"stacks,omitempty"`
	Order  []string            `json:"order,omitempty"`
}
