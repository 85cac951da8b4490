package relation

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// family is a function that reads an object for several rules at once.
type family struct {
	read func(o object.Object, emit func(member int, l Link))
}

// Together makes rules of one function that reads an object for all of them: it
// hands on each link with the place of its rule in the list. What they share is
// worth more than one reading: a pod template that has to be decoded, a walk
// through all fields. They may read whole objects. Each rule still works alone.
func Together(rules []Rule, read func(o object.Object, emit func(member int, l Link))) []Rule {
	f := &family{read}
	out := slices.Clone(rules)
	for i := range out {
		out[i].family, out[i].member = f, i
		out[i].Links = func(o object.Object, emit Emit) {
			read(o, func(member int, l Link) {
				if member == i {
					emit(l)
				}
			})
		}
	}
	return out
}

// members are the rules of a family that are in a set, by their place in it: their
// numbers in the set, or none.
type members struct {
	*family
	number []int
}

const none = -1

// join puts rule number i among those of its family.
func (s *Set) join(i int, r *Rule) {
	for _, gk := range r.From {
		list := s.families[gk]
		at := slices.IndexFunc(list, func(m *members) bool { return m.family == r.family })
		if at < 0 {
			at = len(list)
			list = append(list, &members{family: r.family})
			s.families[gk] = list
		}
		m := list[at]
		for len(m.number) <= r.member {
			m.number = append(m.number, none)
		}
		m.number[r.member] = i
	}
}

func (m *members) links(o object.Object, emit func(rule int, l Link)) {
	m.read(o, func(member int, l Link) {
		if member < len(m.number) && m.number[member] != none {
			emit(m.number[member], l)
		}
	})
}
