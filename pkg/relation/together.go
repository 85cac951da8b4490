package relation

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// family is a function that reads an object for several rules at once.
type family struct {
	read func(o object.Object, emit func(member int, l Link))
}

// Together returns rules that share one function: it reads an object for all of them and emits each
// link with the index of its rule. Use it where the shared work is costly: decoding a pod template,
// or walking all fields. The rules may read whole objects. Each rule still works alone.
func Together(rules []Rule, read func(o object.Object, emit func(member int, l Link))) []Rule {
	f := &family{read}
	out := slices.Clone(rules)
	for i := range out {
		out[i].family, out[i].member = f, i
		out[i].Links = func(o object.Object, emit EmitFunc) {
			read(o, func(member int, l Link) {
				if member == i {
					emit(l)
				}
			})
		}
	}
	return out
}

// members are the rules of a family in a set that read the same kinds: their numbers in the set by
// their index in the family, or none.
type members struct {
	*family
	from   []schema.GroupKind
	number []int
}

const none = -1

// join adds rule number i to those of its family.
func (s *Set) join(i int, r *Rule) {
	var m *members
	for _, have := range s.families[r.From[0]] {
		if have.family == r.family && (&have.from[0] == &r.From[0] && len(have.from) == len(r.From) || slices.Equal(have.from, r.From)) {
			m = have
		}
	}
	if m == nil {
		m = &members{family: r.family, from: r.From}
		for _, gk := range r.From {
			s.families[gk] = append(s.families[gk], m)
		}
	}
	for len(m.number) <= r.member {
		m.number = append(m.number, none)
	}
	m.number[r.member] = i
}

func (m *members) links(o object.Object, emit func(rule int, l Link)) {
	m.read(o, func(member int, l Link) {
		if member < len(m.number) && m.number[member] != none {
			emit(m.number[member], l)
		}
	})
}
