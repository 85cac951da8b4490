package regulate

import (
	"maps"
	"slices"
)

// needs has the needs of apps: direct as observed, and all transitively.
type needs struct {
	direct, all map[string]map[string]bool
}

// noHistory recalls nothing.
func noHistory(string) []string { return nil }

// needsOf reads the needs of a state, and the recalled ones. A need of an app for itself is
// dropped.
func needsOf(w *SystemState, recalled func(app string) []string) needs {
	n := needs{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for i := range w.Apps {
		a := &w.Apps[i]
		if n.direct[a.Name] != nil {
			continue // as App: the first of a name counts
		}
		n.direct[a.Name] = map[string]bool{}
		for _, need := range a.Needs {
			if need.App != a.Name {
				n.direct[a.Name][need.App] = true
			}
		}
		for _, need := range recalled(a.Name) {
			n.direct[a.Name][need] = true
		}
	}
	for app := range n.direct {
		n.all[app] = reach(app, n.direct)
	}
	return n
}

// reach returns the nodes reachable from a node; the node itself only through a cycle.
func reach(from string, edges map[string]map[string]bool) map[string]bool {
	found, open := map[string]bool{}, []string{from}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for to := range edges[at] {
			if !found[to] {
				found[to] = true
				open = append(open, to)
			}
		}
	}
	return found
}

// dependencies returns what an app needs transitively, by name, without itself.
func (n needs) dependencies(app string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n.all[app])), func(o string) bool { return o == app })
}

// first reports that a comes before b if dependencies come first: b needs a transitively, or
// both need each other and a has the smaller name.
func (n needs) first(a, b string) bool {
	if a == b || !n.all[b][a] {
		return false
	}
	return !n.all[a][b] || a < b
}

// last reports that a comes before b if dependencies come last. Apps that need each other are
// ordered by name, too.
func (n needs) last(a, b string) bool {
	if a == b || !n.all[a][b] {
		return false
	}
	return !n.all[b][a] || a < b
}

// levelsOf numbers steps so that each has a higher number than the ones before it. The order has
// no cycles; an edge that closed one would be dropped.
func levelsOf(steps []Step, before func(a, b *Step) bool) []int {
	levels, open := make([]int, len(steps)), make([]bool, len(steps))
	done := make([]bool, len(steps))
	var level func(i int) int
	level = func(i int) int {
		if done[i] || open[i] {
			return levels[i]
		}
		open[i] = true
		for k := range steps {
			if k != i && before(&steps[k], &steps[i]) {
				levels[i] = max(levels[i], level(k)+1)
			}
		}
		open[i], done[i] = false, true
		return levels[i]
	}
	for i := range steps {
		level(i)
	}
	return levels
}
