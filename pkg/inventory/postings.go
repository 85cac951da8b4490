package inventory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindIndex lists the rows of a kind. Its labels are inverted by the first query with a label, and
// the values of a key by the first query for that key: most kinds, and the keys with the most
// values (pod-template-hash), are never queried.
type kindIndex struct {
	all   []ID
	byNS  map[uint32][]ID
	byKey map[uint32]*keyIndex
}

// keyIndex lists the rows that carry a label, with any value.
type keyIndex struct {
	rows  []ID
	lists [4]map[posting][]ID
}

// posting is the key of a list of rows: namespace and value. Either is 0 in a list that does not
// depend on it.
type posting struct{ ns, value uint32 }

// The parts of the number of keyIndex.lists.
const (
	everywhere = 1 << iota
	anyValue
)

// area is a namespace, or all of them.
type area struct {
	ns  uint32
	all bool
}

func (x *Index) area(namespace string, all bool) area {
	ns, _ := x.inv.symbols.find(namespace)
	return area{ns, all}
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

// build sorts every row into the lists of its kind in one pass: a pass for each queried kind would
// visit all rows each time.
func (x *Index) build() {
	x.kinds = make([]*kindIndex, len(x.inv.kinds))
	for num := range x.kinds {
		x.kinds[num] = &kindIndex{byNS: map[uint32][]ID{}}
	}
	for i := range x.inv.rows {
		if r := &x.inv.rows[i]; r.present || r.unread {
			k := x.kinds[r.kind]
			k.all = append(k.all, ID(i))
			k.byNS[r.ns] = append(k.byNS[r.ns], ID(i))
		}
	}
}

// carrying returns the rows that carry the label with the value.
func (x *Index) carrying(k *kindIndex, in area, key, value uint32) []ID {
	return x.postings(k, in, key, 0)[in.posting(value)]
}

// carryingKey returns the rows that carry the label, with any value.
func (x *Index) carryingKey(k *kindIndex, in area, key string) []ID {
	n, ok := x.inv.symbols.find(key)
	if !ok {
		return nil
	}
	return x.postings(k, in, n, anyValue)[in.posting(0)]
}

// oneOf returns the rows that carry the label with one of the values.
func (x *Index) oneOf(k *kindIndex, in area, e metav1.LabelSelectorRequirement) []ID {
	key, ok := x.inv.symbols.find(e.Key)
	if !ok {
		return nil
	}
	var rows []ID
	for _, v := range slices.Compact(slices.Sorted(slices.Values(e.Values))) {
		if value, ok := x.inv.symbols.find(v); ok {
			rows = append(rows, x.carrying(k, in, key, value)...)
		}
	}
	return rows
}

func (a area) posting(value uint32) posting {
	if a.all {
		return posting{value: value}
	}
	return posting{a.ns, value}
}

func (x *Index) postings(k *kindIndex, in area, key uint32, which int) map[posting][]ID {
	if k.byKey == nil {
		x.invert(k)
	}
	rows := k.byKey[key]
	if rows == nil {
		return nil
	}
	if in.all {
		which |= everywhere
	}
	if rows.lists[which] == nil {
		rows.lists[which] = x.list(rows.rows, key, which)
	}
	return rows.lists[which]
}

func (x *Index) invert(k *kindIndex) {
	k.byKey = map[uint32]*keyIndex{}
	for _, id := range k.all {
		for _, p := range x.inv.labels(id) {
			key := x.inv.pairList[p].key
			if k.byKey[key] == nil {
				k.byKey[key] = &keyIndex{}
			}
			k.byKey[key].rows = append(k.byKey[key].rows, id)
		}
	}
}

func (x *Index) list(rows []ID, key uint32, which int) map[posting][]ID {
	lists := map[posting][]ID{}
	for _, id := range rows {
		var at posting
		if which&everywhere == 0 {
			at.ns = x.inv.rows[id].ns
		}
		if which&anyValue == 0 {
			for _, p := range x.inv.labels(id) {
				if x.inv.pairList[p].key == key {
					at.value = x.inv.pairList[p].value
				}
			}
		}
		lists[at] = append(lists[at], id)
	}
	return lists
}
