package inventory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Query is what Index.Select looks for. All requirements must hold.
type Query struct {
	Labels      map[string]string
	Expressions []metav1.LabelSelectorRequirement
	// Annotation, where set, must be on the row with a value that Match accepts;
	// its key must be among those that New was told to keep.
	Annotation string
	Match      func(value string) bool
	// Name, where set, must accept the name of the object.
	Name func(name string) bool
}

// Index finds rows by kind, namespace and label. It is inverted: a label leads
// to the rows that carry it. It is made for the kinds that are asked for, once,
// after reading.
type Index struct {
	inv   *Inventory
	kinds []*kindIndex
}

type kindIndex struct {
	all    []ID
	byNS   map[uint32][]ID
	byPair map[nsPair][]ID
}

type nsPair struct{ ns, pair uint32 }

// Index returns an empty index over the present rows.
func (inv *Inventory) Index() *Index {
	return &Index{inv: inv}
}

// OfKind returns the rows of a kind that were read, in a namespace or, where all
// is set, in every one.
func (x *Index) OfKind(gk schema.GroupKind, namespace string, all bool) []ID {
	k := x.kind(gk)
	switch {
	case k == nil:
		return nil
	case all:
		return k.all
	}
	ns, ok := x.inv.symbols.find(namespace)
	if !ok {
		return nil
	}
	return k.byNS[ns]
}

// Select returns the rows that the query finds, in no particular order.
func (x *Index) Select(gk schema.GroupKind, namespace string, all bool, q Query) []ID {
	want, possible := x.wanted(q.Labels)
	if !possible {
		return nil
	}
	rows := x.OfKind(gk, namespace, all)
	if len(want) > 0 && !all {
		rows = x.shortest(gk, namespace, want)
	}
	if len(want) < 2 && len(q.Expressions) == 0 && q.Annotation == "" && q.Name == nil && (!all || len(want) == 0) {
		return rows
	}
	var found []ID
	for _, id := range rows {
		if x.matches(id, want, q) {
			found = append(found, id)
		}
	}
	return found
}

// wanted returns the numbers of the label pairs; a pair that no row carries
// makes a match impossible.
func (x *Index) wanted(labels map[string]string) ([]uint32, bool) {
	want := make([]uint32, 0, len(labels))
	for k, v := range labels {
		ks, ok1 := x.inv.symbols.find(k)
		vs, ok2 := x.inv.symbols.find(v)
		p, ok3 := x.inv.pairNum[pair{ks, vs}]
		if !ok1 || !ok2 || !ok3 {
			return nil, false
		}
		want = append(want, p)
	}
	return want, true
}

// shortest returns the shortest of the posting lists: the others need only be
// checked on its rows.
func (x *Index) shortest(gk schema.GroupKind, namespace string, want []uint32) []ID {
	k := x.kind(gk)
	ns, ok := x.inv.symbols.find(namespace)
	if k == nil || !ok {
		return nil
	}
	byPair := x.postings(k)
	best := byPair[nsPair{ns, want[0]}]
	for _, p := range want[1:] {
		if rows := byPair[nsPair{ns, p}]; len(rows) < len(best) {
			best = rows
		}
	}
	return best
}

func (x *Index) matches(id ID, want []uint32, q Query) bool {
	have := x.inv.labels(id)
	for _, p := range want {
		if !slices.Contains(have, p) {
			return false
		}
	}
	for _, e := range q.Expressions {
		if !x.holds(id, e) {
			return false
		}
	}
	if q.Annotation != "" {
		if v, ok := x.inv.Note(id, q.Annotation); !ok || !q.Match(v) {
			return false
		}
	}
	return q.Name == nil || q.Name(x.inv.rows[id].name)
}

func (x *Index) holds(id ID, e metav1.LabelSelectorRequirement) bool {
	v, ok := x.inv.Label(id, e.Key)
	switch e.Operator {
	case metav1.LabelSelectorOpIn:
		return ok && slices.Contains(e.Values, v)
	case metav1.LabelSelectorOpNotIn:
		return !ok || !slices.Contains(e.Values, v)
	case metav1.LabelSelectorOpExists:
		return ok
	case metav1.LabelSelectorOpDoesNotExist:
		return !ok
	}
	// An operator that nobody knows selects nothing, rather than everything.
	return false
}

func (x *Index) kind(gk schema.GroupKind) *kindIndex {
	num, ok := x.inv.kindNum[gk]
	if !ok {
		return nil
	}
	if x.kinds == nil {
		x.build()
	}
	return x.kinds[num]
}

// build sorts every row into the lists of its kind in one pass: asking for one
// kind after the other would pass over all rows each time.
func (x *Index) build() {
	x.kinds = make([]*kindIndex, len(x.inv.kinds))
	for num := range x.kinds {
		x.kinds[num] = &kindIndex{byNS: map[uint32][]ID{}}
	}
	for i := range x.inv.rows {
		if r := &x.inv.rows[i]; r.present {
			k := x.kinds[r.kind]
			k.all = append(k.all, ID(i))
			k.byNS[r.ns] = append(k.byNS[r.ns], ID(i))
		}
	}
}

// postings inverts the labels of a kind, at the first question by label: most
// kinds are never asked for one.
func (x *Index) postings(k *kindIndex) map[nsPair][]ID {
	if k.byPair == nil {
		k.byPair = map[nsPair][]ID{}
		for _, id := range k.all {
			for _, p := range x.inv.labels(id) {
				at := nsPair{x.inv.rows[id].ns, p}
				k.byPair[at] = append(k.byPair[at], id)
			}
		}
	}
	return k.byPair
}
