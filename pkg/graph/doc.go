// Package graph builds the relationship graph of the objects of a cluster or a
// snapshot, and answers what an application platform is asked of it: what
// belongs to this stack and why, how are these two related, what breaks if this
// one goes.
//
// Its words:
//
//   - Node: an object, by group, kind, namespace and name. One that is named by
//     another and is not there is a node too, marked missing; one that could not
//     be read is marked unread.
//   - Edge: From owns, needs or serves To, with how that is known and the field
//     and value that say so. Two nodes may have several edges.
//   - Stack of a set of roots: the roots, what members own, what members need,
//     and who serves members. A needed (or asked for) object that only serves
//     others, such as a Service, stands for them: what it serves, and the topmost
//     owners of that, belong to the stack as well.
//   - Maker of an object that is needed: a custom resource that owns it, by an owner
//     reference or by what a rule says, and does not own who needs it: a Certificate of
//     a Secret. The relation is owns, followed upward for makers alone. A maker belongs to
//     the stack as its provenance, with what it needs, and who makes that; not with what
//     else it owns or serves, nor with its own owners. What is made is of a built-in
//     kind and no workload; a workload or a manager is no maker.
//   - Boundary: an object that a stack stands on (a Node, a StorageClass, the
//     ServiceAccount "default"): shown, never followed.
//   - Shared: in the stack of more than one of the roots.
//
// Nothing here reads a cluster. A Builder takes objects as they stream past (it
// is an extractor of an inventory.Inventory), and Build resolves what they say
// about each other:
//
//	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
//	inv := inventory.New(nil, b.Extract)
//	inv.Add(...)
//	g := b.Build(inv)
//	root, _ := g.Find(ref)
//	stack := g.Stack([]graph.ID{root}, graph.StackOptions{})
//
// A Graph is immutable, and the same objects give the same graph, whatever the
// order in which they came.
//
// # Questions
//
// [Graph.Stack] says what belongs to objects, [Graph.Path] how two are related,
// [Graph.Impact] who would miss one, [Graph.FindStacks] which stacks there are without
// being named, [Graph.Makers] who makes an object. What could not be read is in [Graph.Gaps], and what cannot be so in
// [Graph.Problems]. No question fails: where something was not read the answer is smaller,
// and its nodes are [Unread], which is not [Missing].
//
// A Graph may be read by several goroutines at once. An [ID] is of one graph, and
// means nothing in the next one; what is kept for longer is an [object.Ref]. A graph says
// nothing of health, usage or cost: see the packages that have it as their ground.
package graph
