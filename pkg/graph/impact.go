package graph

import (
	"slices"
)

// Impact is what the API server and its controllers do when an object is deleted, and the effect on
// others. It covers the objects that were read: for the others see Graph.Gaps and Unlooked.
type Impact struct {
	// Object is the object that is deleted.
	Object ID
	// Deleted is what is deleted with it, in order; MayGo what a controller may delete with it,
	// which is unknown.
	Deleted, MayGo []Deletion
	// Kept is what stays although one would expect its deletion, in order.
	Kept []Kept
	// Direct are the objects that need the deleted ones, or route requests to them, worst first.
	Direct []Dependent
	// Indirect are the objects that depend on Direct ones, worst first: owners of what breaks, the
	// Services in front of it, and what needs those.
	Indirect []Dependent
	// Bereft is what the deleted objects served, and which works without them: an autoscaler's
	// Deployment, the Services of an Ingress.
	Bereft []Dependent
	// Remaker recreates the object once it is deleted, or is -1 if nothing does; RemakerKnown is
	// set if that is certain: a ReplicaSet its pod.
	Remaker      ID
	RemakerKnown bool
}

// ImpactOptions select the kind of deletion, and the edges that are followed.
type ImpactOptions struct {
	StackOptions
	// Cascade is the propagation policy of the deletion.
	Cascade Cascade
}

// Cascade is a propagation policy, as kubectl delete --cascade has it.
type Cascade uint8

// The policies.
const (
	// Background: the object is deleted at once, and what it owned is garbage collected afterwards.
	Background Cascade = iota
	// Foreground: what it owns is deleted first; the object waits for those with
	// blockOwnerDeletion.
	Foreground
	// Orphan: what it owns stays, without it as an owner.
	Orphan
)

// Cascades lists the policies.
func Cascades() []Cascade { return []Cascade{Background, Foreground, Orphan} }

func (c Cascade) String() string { return [...]string{"background", "foreground", "orphan"}[c] }

// Removal is why an object is deleted with another one.
type Removal uint8

// The reasons.
const (
	// Collected: its last owner is deleted, and the garbage collector deletes it.
	Collected Removal = iota + 1
	// InNamespace: its namespace is deleted.
	InNamespace
	// OfDefinition: the definition of its kind is deleted.
	OfDefinition
	// Reclaimed: it is the volume of a deleted claim, and its policy is Delete.
	Reclaimed
	// ByController: the controller of its owner deletes it.
	ByController
)

func (r Removal) String() string {
	return [...]string{Collected: "owner", InNamespace: "namespace", OfDefinition: "definition", Reclaimed: "reclaim policy", ByController: "controller"}[r]
}

// Deletion is an object that is deleted with another.
type Deletion struct {
	ID ID
	// By is the object that causes it: an owner, its namespace, its definition, its claim.
	By      ID
	Removal Removal
	// Edge is the evidence; it is zero for objects of a namespace or a definition, which have none.
	Edge Edge
	// Blocks is set if By waits for it in a foreground deletion.
	Blocks bool
}

// Reason is why an object stays although one would expect its deletion.
type Reason uint8

// The reasons.
const (
	// AnotherOwner remains.
	AnotherOwner Reason = iota + 1
	// Orphaned: the policy of the deletion is Orphan.
	Orphaned
	// Retained: it is a volume whose policy is not Delete; it becomes Released.
	Retained
	// NotCleared: the controller of its owner is known not to delete it.
	NotCleared
)

func (r Reason) String() string {
	return [...]string{AnotherOwner: "another owner", Orphaned: "orphaned", Retained: "retained", NotCleared: "not cleared"}[r]
}

// Kept is an object that stays although what it depends on is deleted.
type Kept struct {
	ID     ID
	By     ID
	Reason Reason
}

// Effect is what a deletion does to an object that is not deleted.
type Effect uint8

// The effects, the worst first.
const (
	// Breaks: at once.
	Breaks Effect = iota + 1
	// BreaksOnRestart: what runs continues until its next start.
	BreaksOnRestart
	// LosesReplica: some pods are deleted or break, and others remain.
	LosesReplica
	// Degrades: it works, with something missing.
	Degrades
	// Bereaved: what served it is deleted.
	Bereaved
	// OnlyNew: existing objects are unaffected, and what is created, scaled up or scheduled later
	// fails.
	OnlyNew
	// DoesWithout: its reference is optional.
	DoesWithout
)

func (e Effect) String() string {
	return [...]string{
		Breaks: "breaks", BreaksOnRestart: "breaks on restart", LosesReplica: "loses a replica", Degrades: "degrades",
		Bereaved: "loses it", OnlyNew: "only new ones", DoesWithout: "does without",
	}[e]
}

// Broken reports whether the object does not work, or will not after a restart.
func (e Effect) Broken() bool { return e == Breaks || e == BreaksOnRestart }

// Dependent is an object that a deletion affects, with the edge by which it does.
type Dependent struct {
	ID     ID
	Effect Effect
	// Inferred is set if an edge on the way is inferred, or holds only until another object
	// replaces what is deleted.
	Inferred bool
	// Cause is the object on which it depends, one step nearer to what is deleted.
	Cause ID
	Edge  Edge
	// Follows describes the effect for people.
	Follows string
	// Below are objects that it controls, at any depth, with the same effect and cause.
	Below []ID
	// Left of Of pods remain, if it loses some.
	Left, Of int
}

// Impact returns what is deleted with an object, and what that does to others.
//
// What it calls broken and not inferred is an error in Stack.Diagnose on the graph without these
// objects. Time grows with the edges of what is deleted and of what breaks; for a namespace, also
// with the graph.
func (g *Graph) Impact(id ID, o ImpactOptions) Impact {
	c := collector{g: g, opts: o, root: id, gone: map[ID]bool{id: true}, left: map[ID]int{}, lost: map[ID]ID{}}
	c.run()
	im := Impact{Object: id, Deleted: c.deleted, MayGo: c.mayGo, Kept: c.kept}
	im.Remaker, im.RemakerKnown = g.remaker(id, o.StackOptions)
	h := harm{g: g, opts: o.StackOptions, gone: c.gone, found: map[ID]*Dependent{}, grade: map[ID]grade{}, fronts: map[ID]bool{}}
	h.run(c.order)
	im.Direct, im.Indirect = h.direct, h.through
	im.Bereft = h.bereft(c.order)
	return im
}

// Gone returns the object and what is certainly deleted with it, in order.
func (im *Impact) Gone() []ID {
	gone := []ID{im.Object}
	for i := range im.Deleted {
		gone = append(gone, im.Deleted[i].ID)
	}
	slices.Sort(gone)
	return gone
}

// remaker returns the object that recreates a deleted one.
func (g *Graph) remaker(id ID, o StackOptions) (maker ID, known bool) {
	r := g.Ref(id)
	if owner, ok := g.controller(id); ok && g.State(owner) == Present {
		return owner, remakes(g.Ref(owner).Kind, g.Ref(owner).Group, r.Kind)
	}
	if makers := g.climbable(id, o); len(makers) > 0 && isCustom(g, makers[0]) {
		return makers[0], false
	}
	if managers := g.managersOf(id, o); len(managers) > 0 && g.State(managers[0]) == Present {
		return managers[0], false
	}
	return -1, false
}

// remakes reports whether a controller of Kubernetes recreates the objects of a kind that it
// controls.
func remakes(owner, group, kind string) bool {
	switch owner {
	case "ReplicaSet", "StatefulSet", "DaemonSet":
		return group == "apps" && kind == "Pod"
	case "ReplicationController":
		return group == "" && kind == "Pod"
	case "Job":
		return group == "batch" && kind == "Pod"
	case "Deployment":
		return group == "apps" && kind == "ReplicaSet"
	case "Service":
		return group == "" && kind == "EndpointSlice"
	}
	return false
}
