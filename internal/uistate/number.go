package uistate

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// Numbering gives the objects of one session their numbers, and the kinds, namespaces, labels
// and rules that are written with them: who has a number keeps it, from State to State. It
// is for one State at a time.
type Numbering struct {
	nodes      numbers[object.Ref]
	kinds      numbers[Kind]
	namespaces numbers[string]
	labels     numbers[string]
	rules      numbers[string]
}

// NewNumbering returns one that has given no number yet.
func NewNumbering() *Numbering {
	n := &Numbering{}
	n.namespaces.indexOf("") // of what is in none
	return n
}

// numbers gives numbers, from 0, in the order of the first use.
type numbers[T comparable] struct {
	at  map[T]int
	all []T
}

func (n *numbers[T]) indexOf(item T) int {
	if at, known := n.at[item]; known {
		return at
	}
	if n.at == nil {
		n.at = map[T]int{}
	}
	n.at[item] = len(n.all)
	n.all = append(n.all, item)
	return len(n.all) - 1
}

// list is all that have a number, for a State to keep.
func (n *numbers[T]) list() []T { return append(make([]T, 0, len(n.all)), n.all...) }
