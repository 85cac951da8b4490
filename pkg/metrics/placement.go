package metrics

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Attribution says to which stacks the things of a reading belong. Every place has one
// path to each of its stacks.
type Attribution struct {
	// Stacks are the roots, in order.
	Stacks []object.Ref
	// Weights are those that a stack asks for (annotation sysop.dev/share-weight); 1
	// where there is none.
	Weights map[object.Ref]decimal.Decimal
	// Of maps pods, claims and Services, by reference, to where they belong. What is
	// not in it belongs to no stack.
	Of map[object.Ref]Path
}

// Path is where a thing belongs.
type Path struct {
	// Stacks that it is in, in order. More than one share it.
	Stacks []object.Ref
	// Path leads from the topmost owner to the owner of the thing: custom resources first, then
	// workloads. It is empty if the thing is a root itself or has no owner; a stack whose root is
	// not on it comes above the first.
	Path []object.Ref
}
