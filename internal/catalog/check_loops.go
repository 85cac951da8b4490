package catalog

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// place is one version of an entry of a catalog: indices of both.
type place struct{ item, version int }

// loops reports packages that require each other in a cycle: none of them could be first. A
// cycle is reported once, at the version that comes first in it.
func (k *checker) loops() {
	w := &walk{c: k.c, state: map[place]int{}, providers: map[string][]place{}}
	for i := range k.c.items {
		for v := range k.c.items[i].Versions {
			for _, a := range k.c.items[i].Provided(&k.c.items[i].Versions[v]) {
				w.providers[a.Kind] = append(w.providers[a.Kind], place{i, v})
			}
		}
	}
	reported := map[string]bool{}
	for i := range k.c.items {
		for v := range k.c.items[i].Versions {
			w.from(place{i, v}, func(loop []place) {
				names := w.names(loop)
				key := strings.Join(slices.Sorted(slices.Values(names[1:])), " ")
				if reported[key] {
					return
				}
				reported[key] = true
				first := loop[0]
				k.report(k.c.items[first.item], false, []any{"versions", first.version, "requires"}, "these need each other, so none can be installed first: %s", strings.Join(w.words(loop), " needs "))
			})
		}
	}
}

// walk follows the versions by what they require.
type walk struct {
	c         *Catalogue
	state     map[place]int // 0 not seen, 1 on the way, 2 done
	way       []place
	providers map[string][]place // by kind
}

// from follows the requirements of a version, and passes on each cycle that it closes.
func (w *walk) from(p place, closed func([]place)) {
	switch w.state[p] {
	case 1:
		i := slices.Index(w.way, p)
		closed(append(slices.Clone(w.way[i:]), p))
		return
	case 2:
		return
	}
	w.state[p] = 1
	w.way = append(w.way, p)
	for _, need := range w.c.items[p.item].Versions[p.version].Requires {
		for _, next := range w.satisfying(need, p) {
			w.from(next, closed)
		}
	}
	w.way = w.way[:len(w.way)-1]
	w.state[p] = 2
}

// satisfying returns the versions that meet what must be there. Of an API that several packages
// provide none is followed, since any of them may be chosen; what a package provides itself
// it does not need from others.
func (w *walk) satisfying(need solve.Requirement, p place) []place {
	if need.Optional {
		return nil
	}
	var all []place
	if need.Package == "" {
		for _, b := range w.providers[need.API.Kind] {
			if b.item != w.providers[need.API.Kind][0].item || b.item == p.item {
				return nil
			}
			all = append(all, b)
		}
		return all
	}
	i, ok := w.c.index(need.Package)
	if !ok || i == p.item {
		return nil
	}
	for v := range w.c.items[i].Versions {
		if inRange(w.c.items[i].Versions[v].Version, need.Range) {
			all = append(all, place{i, v})
		}
	}
	return all
}

func (w *walk) names(loop []place) []string {
	var all []string
	for _, p := range loop {
		all = append(all, w.c.items[p.item].Name)
	}
	return all
}

func (w *walk) words(loop []place) []string {
	var all []string
	for _, p := range loop {
		all = append(all, w.c.items[p.item].Name+" "+w.c.items[p.item].Versions[p.version].Version)
	}
	return all
}
