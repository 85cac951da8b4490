// Package graph builds the relationship graph of the objects of a cluster or a snapshot. It answers
// what belongs to a stack and why, how two objects are related, and what breaks if one is deleted.
//
// Its terms:
//
//   - Node: an object, by group, kind, namespace and name. One that another object refers to and
//     that does not exist is a node too, marked missing; one that could not be read is marked
//     unread.
//   - Edge: From owns, needs or serves To, with its evidence: the field and the value. Two nodes
//     may have several edges.
//   - Stack of a set of roots: the roots, what members own, what members need, and what serves
//     members. A root or a needed object that only serves others, such as a Service, includes
//     what it serves, and the topmost owners of that.
//   - Maker of a needed object: a custom resource that owns it, by an owner reference or by a
//     rule, and does not own the object that needs it: a Certificate of a Secret. The relation is
//     owns, followed upward for makers alone. A maker is in the stack as its provenance, with
//     what it needs and the makers of that, but without what else it owns or serves, and without
//     its own owners. What is made is of a built-in kind and no workload; a workload or a manager
//     is no maker.
//   - Boundary: an object that stacks share (a Node, a StorageClass, the ServiceAccount
//     "default"): shown, never followed.
//   - Shared: in the stack of more than one of the roots.
//
// The package does no I/O. A Builder collects objects as they stream by (it is an extractor of an
// inventory.Inventory), and Build resolves their references:
//
//	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
//	inv := inventory.New(nil, b.Extract)
//	inv.Add(...)
//	g := b.Build(inv)
//	root, _ := g.Find(ref)
//	stack := g.Stack([]graph.ID{root}, graph.StackOptions{})
//
// A Graph is immutable, and the same objects give the same graph, in whatever order they arrive.
//
// # Questions
//
// [Graph.Stack] returns what belongs to objects, [Graph.Path] how two are related, [Graph.Impact]
// what depends on one, [Graph.FindStacks] the stacks without given roots, [Graph.Makers] the makers
// of an object. [Graph.Gaps] has what could not be read, and [Graph.Problems] invalid references.
// No method fails: if something was not read the answer is smaller, and its nodes are [Unread],
// which is not [Missing].
//
// A Graph is safe for concurrent use. An [ID] is valid in one graph only; store an [object.Ref]
// instead. A graph has no health, usage or cost: see the packages that build on it.
package graph
