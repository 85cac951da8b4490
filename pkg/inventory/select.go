package inventory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Query is what Index.Select selects by. All set fields must match.
type Query struct {
	Labels      map[string]string
	Expressions []metav1.LabelSelectorRequirement
	// Annotation, if set, must be on the row with a value that Match accepts. Its key must be one
	// that was given to New.
	Annotation string
	Match      func(value string) bool
	// Name, if set, must accept the name of the object.
	Name func(name string) bool
	// Key, if set, must be a name that Inventory.Key added to the row.
	Key string
}

// Index finds rows by kind, namespace and label. It is inverted: a label leads to the rows that
// carry it. It is built at the first query of a kind, after all objects were read.
type Index struct {
	inv   *Inventory
	kinds []*kindIndex
}

// Index returns an empty index over the rows that were read.
func (inv *Inventory) Index() *Index {
	return &Index{inv: inv}
}

// OfKind returns the rows of a kind that were read (see Inventory.WasRead), in a namespace or, if
// all is set, in every namespace.
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

// Select returns the rows that match the query, in no particular order.
func (x *Index) Select(gk schema.GroupKind, namespace string, all bool, q Query) []ID {
	rows := x.OfKind(gk, namespace, all)
	if len(rows) == 0 {
		return nil
	}
	want, possible := x.wanted(q.Labels)
	if !possible {
		return nil
	}
	rows, asked := x.shortest(rows, x.kind(gk), x.area(namespace, all), want, q)
	if asked == 0 && q.Name == nil || asked == 1 && len(want) == 1 && q.Name == nil {
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

// wanted returns the numbers of the labels, and false if no row carries one of them: then nothing
// matches.
func (x *Index) wanted(labels map[string]string) ([]pair, bool) {
	want := make([]pair, 0, len(labels))
	for k, v := range labels {
		ks, ok1 := x.inv.symbols.find(k)
		vs, ok2 := x.inv.symbols.find(v)
		if !ok1 || !ok2 {
			return nil, false
		}
		want = append(want, pair{ks, vs})
	}
	return want, true
}

// shortest returns the shortest of rows and the posting lists that the query selects, and the number
// of its requirements: those not met by that list are checked on its rows only.
func (x *Index) shortest(rows []ID, k *kindIndex, in area, want []pair, q Query) (best []ID, asked int) {
	best = rows
	take := func(list []ID) {
		if len(list) < len(best) {
			best = list
		}
	}
	for _, p := range want {
		take(x.carrying(k, in, p.key, p.value))
	}
	for _, e := range q.Expressions {
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			take(x.oneOf(k, in, e))
		case metav1.LabelSelectorOpExists:
			take(x.carryingKey(k, in, e.Key))
		}
	}
	asked = len(want) + len(q.Expressions)
	if q.Annotation != "" {
		take(x.carryingKey(k, in, noteKey(q.Annotation)))
		asked++
	}
	if q.Key != "" {
		take(x.carryingKey(k, in, keyKey(q.Key)))
		asked++
	}
	return best, asked
}

func (x *Index) matches(id ID, want []pair, q Query) bool {
	have := x.inv.labels(id)
	for _, w := range want {
		if !slices.ContainsFunc(have, func(p uint32) bool { return x.inv.pairList[p] == w }) {
			return false
		}
	}
	for _, e := range q.Expressions {
		if !x.holds(id, e) {
			return false
		}
	}
	if q.Annotation != "" {
		if v, ok := x.inv.Annotation(id, q.Annotation); !ok || !q.Match(v) {
			return false
		}
	}
	if q.Key != "" {
		if _, ok := x.inv.Label(id, keyKey(q.Key)); !ok {
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
	// An unknown operator selects nothing, rather than everything.
	return false
}
