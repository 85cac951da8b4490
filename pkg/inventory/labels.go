package inventory

import (
	"hash/maphash"
	"strings"
)

// pairOf returns the number of a label and its value, since many rows carry the same pair.
func (inv *Inventory) pairOf(k, v string) uint32 {
	p := pair{inv.symbols.number(k), inv.symbols.number(v)}
	if n, ok := inv.pairNum.find(p.hash(), func(n uint32) bool { return inv.pairList[n] == p }); ok {
		return n
	}
	n := uint32(len(inv.pairList))
	inv.pairList = append(inv.pairList, p)
	inv.pairNum.add(n, func(n uint32) uint64 { return inv.pairList[n].hash() })
	return n
}

func (p pair) hash() uint64 { return maphash.Comparable(seed, p) }

// Label returns the value of a label of the row.
func (inv *Inventory) Label(id ID, name string) (string, bool) {
	k, ok := inv.symbols.find(name)
	if !ok {
		return "", false
	}
	for _, p := range inv.labels(id) {
		if inv.pairList[p].key == k {
			return inv.symbols.list[inv.pairList[p].value], true
		}
	}
	return "", false
}

// Labels returns the labels of the row.
func (inv *Inventory) Labels(id ID) map[string]string {
	out := map[string]string{}
	for _, p := range inv.labels(id) {
		if k := inv.symbols.list[inv.pairList[p].key]; !isOwn(k) {
			out[k] = inv.symbols.list[inv.pairList[p].value]
		}
	}
	return out
}

// Annotation returns the value of an annotation of the row, if its key was given to New.
func (inv *Inventory) Annotation(id ID, name string) (string, bool) {
	return inv.Label(id, noteKey(name))
}

func (inv *Inventory) labels(id ID) []uint32 {
	r := &inv.rows[id]
	return inv.pairs[r.labels : r.labels+uint32(r.nlabels)]
}

// Key adds a name by which a Query finds the last filled row. As with Named, only the function that
// an Extractor returns may call it.
func (inv *Inventory) Key(id ID, text string) {
	r := &inv.rows[id]
	if int(r.labels)+int(r.nlabels) == len(inv.pairs) && r.nlabels < 1<<16-1 {
		inv.pairs = append(inv.pairs, inv.pairOf(keyKey(text), ""))
		r.nlabels++
	}
}

// No label has a colon, so these keys never collide with labels.

func noteKey(k string) string { return "annotation:" + k }

func keyKey(k string) string { return "key:" + k }

func isOwn(k string) bool { return strings.HasPrefix(k, "annotation:") || strings.HasPrefix(k, "key:") }
