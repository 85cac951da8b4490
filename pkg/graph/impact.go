package graph

import (
	"slices"
)

// Impact is what the API server and its controllers do when an object is deleted, and what
// follows for others. It says what is known of the objects that were read: of those that
// were not, see Graph.Gaps and Unlooked.
type Impact struct {
	// Object is the one that is deleted.
	Object ID
	// Deleted is what is deleted along, in order; MayGo what a controller may delete along,
	// of which nothing is known.
	Deleted, MayGo []Deletion
	// Kept is what one would expect to be deleted along, and stays, in order.
	Kept []Kept
	// Direct is who needs the object itself or something deleted with it, or leads requests
	// to it, the worst first.
	Direct []Dependent
	// Indirect is who suffers in turn, the worst first: the owners of what breaks, the
	// Services in front of it, and who needs those.
	Indirect []Dependent
	// Bereft is what the object, or something deleted with it, was there for, and which goes
	// on without: an autoscaler's Deployment, what an Ingress leads to.
	Bereft []Dependent
	// Remaker makes the object anew once it is deleted, and RemakerKnown says that it surely
	// does: a ReplicaSet its pod. It is -1 where nobody is known to.
	Remaker      ID
	RemakerKnown bool
}

// ImpactOptions say how an object is deleted, and by which edges harm is followed.
type ImpactOptions struct {
	StackOptions
	// Cascade is the propagation policy of the deletion.
	Cascade Cascade
}

// Cascade is a propagation policy, as kubectl delete --cascade has it.
type Cascade uint8

// The policies.
const (
	// Background: the object goes at once, and what it owned is collected afterwards.
	Background Cascade = iota
	// Foreground: what it owns goes first; the object waits for that which blocks it
	// (blockOwnerDeletion).
	Foreground
	// Orphan: what it owns stays, without it as an owner.
	Orphan
)

// Cascades lists the policies.
func Cascades() []Cascade { return []Cascade{Background, Foreground, Orphan} }

func (c Cascade) String() string { return [...]string{"background", "foreground", "orphan"}[c] }

// Removal is why an object is deleted along with another one.
type Removal uint8

// The reasons.
const (
	// Collected: its last owner goes, and the garbage collector takes it.
	Collected Removal = iota + 1
	// InNamespace: the namespace that it is in goes.
	InNamespace
	// OfDefinition: the definition of its kind goes.
	OfDefinition
	// Reclaimed: it is the volume of a claim that goes, and its policy is Delete.
	Reclaimed
	// ByController: the controller of its owner deletes it.
	ByController
)

func (r Removal) String() string {
	return [...]string{Collected: "owner", InNamespace: "namespace", OfDefinition: "definition", Reclaimed: "reclaim policy", ByController: "controller"}[r]
}

// Deletion is an object that is deleted along.
type Deletion struct {
	ID ID
	// By is what takes it along: an owner, its namespace, its definition, its claim.
	By      ID
	Removal Removal
	// Edge is the evidence; it is zero for what is in a namespace, or of a definition, to
	// which none leads.
	Edge Edge
	// Blocks says that By waits for it where it is deleted in the foreground.
	Blocks bool
}

// Reason is why an object stays of which one would expect that it goes.
type Reason uint8

// The reasons.
const (
	// AnotherOwner is left.
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

// Kept is an object that stays although what it depends on goes.
type Kept struct {
	ID     ID
	By     ID
	Reason Reason
}

// Effect is what a deletion does to who is not deleted.
type Effect uint8

// The effects, the worst first.
const (
	// Breaks: at once.
	Breaks Effect = iota + 1
	// BreaksOnRestart: what runs goes on until it is started anew.
	BreaksOnRestart
	// LosesReplica: pods go or break, and others are left.
	LosesReplica
	// Degrades: it works, and lacks something.
	Degrades
	// Bereaved: what was there for its sake goes.
	Bereaved
	// OnlyNew: what is there is as it was, and what is made, grown or scheduled afterwards
	// fails.
	OnlyNew
	// DoesWithout: it was told to.
	DoesWithout
)

// Effects lists all of them, the worst first.
func Effects() []Effect {
	return []Effect{Breaks, BreaksOnRestart, LosesReplica, Degrades, Bereaved, OnlyNew, DoesWithout}
}

func (e Effect) String() string {
	return [...]string{
		Breaks: "breaks", BreaksOnRestart: "breaks on restart", LosesReplica: "loses a replica", Degrades: "degrades",
		Bereaved: "loses it", OnlyNew: "only new ones", DoesWithout: "does without",
	}[e]
}

// Broken says whether the effect is that something does not work, or will not once it is
// restarted.
func (e Effect) Broken() bool { return e == Breaks || e == BreaksOnRestart }

// Dependent is an object that a deletion does something to, and the edge by which.
type Dependent struct {
	ID     ID
	Effect Effect
	// Inferred says that this is a guess: somewhere between the two is an edge that is one,
	// or that holds only as long as nothing else takes the place of what goes.
	Inferred bool
	// Cause is the object it suffers from, one step nearer to what goes.
	Cause ID
	Edge  Edge
	// Follows says what that means for it, for people.
	Follows string
	// Below are objects that it controls, at any depth, to which the same happens by the
	// same cause.
	Below []ID
	// Left of Of pods are left, where it loses some.
	Left, Of int
}

// Impact returns what is deleted along with an object, and what that does to others.
//
// What it calls broken, and no guess, is what a diagnosis of the graph without these objects
// calls an error (Stack.Diagnose). Time grows with the edges of what is deleted and of what
// breaks; for a namespace, besides, with the graph.
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

// Gone returns the object and what is surely deleted along, in order.
func (im *Impact) Gone() []ID {
	gone := []ID{im.Object}
	for i := range im.Deleted {
		gone = append(gone, im.Deleted[i].ID)
	}
	slices.Sort(gone)
	return gone
}

// remaker returns who makes an object anew that is deleted.
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

// remakes tells the controllers of Kubernetes that make anew what they control.
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
