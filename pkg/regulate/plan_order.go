package regulate

import (
	"slices"
)

// Order returns the apps in the order of what they need, what is needed first. Apps that
// need each other, in a ring, are one group; the apps of a group, and groups of which
// neither needs the other, are in the order of the world.
func Order(w *SystemState) [][]string {
	needs := w.needs()
	group := rings(needs)
	var out [][]string
	done := make([]bool, len(w.Apps))
	ready := func(i int) bool {
		for j := range needs {
			if group[j] != group[i] {
				continue
			}
			for _, to := range needs[j] {
				if group[to] != group[i] && !done[to] {
					return false
				}
			}
		}
		return true
	}
	for range w.Apps {
		i := slices.IndexFunc(indices(len(w.Apps)), func(i int) bool { return !done[i] && ready(i) })
		if i < 0 {
			break
		}
		var names []string
		for j := range w.Apps {
			if group[j] == group[i] {
				done[j] = true
				names = append(names, w.Apps[j].Name)
			}
		}
		out = append(out, names)
	}
	return out
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// needs returns what each app needs, by place.
func (w *SystemState) needs() [][]int {
	place := make(map[string]int, len(w.Apps))
	for i := range w.Apps {
		place[w.Apps[i].Name] = i
	}
	out := make([][]int, len(w.Apps))
	for i := range w.Apps {
		for _, n := range w.Apps[i].Needs {
			if j, in := place[n.App]; in && j != i {
				out[i] = append(out[i], j)
			}
		}
	}
	return out
}

// rings gives apps that need each other, over however many others, one number.
func rings(needs [][]int) []int {
	reach := make([][]bool, len(needs))
	for i := range needs {
		reach[i] = make([]bool, len(needs))
		for next := slices.Clone(needs[i]); len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			if !reach[i][at] {
				reach[i][at] = true
				next = append(next, needs[at]...)
			}
		}
	}
	group := make([]int, len(needs))
	for i := range needs {
		group[i] = i
		for j := range i {
			if reach[i][j] && reach[j][i] {
				group[i] = group[j]
				break
			}
		}
	}
	return group
}

// Neighbour is an app that needs another one, and how that is known.
type Neighbour struct {
	App string
	// Way leads from it to the other app, a need a step: one alone where it needs that
	// directly.
	Way []Need
}

// Neighbours returns the apps that need an app, those at any depth where cascade is set:
// the nearest first, and of those equally near in the order of the world. An app is no
// neighbour of itself.
func Neighbours(w *SystemState, app string, cascade bool) []Neighbour {
	var out []Neighbour
	seen := map[string]bool{app: true}
	ring := []Neighbour{{App: app}}
	for len(ring) > 0 {
		var next []Neighbour
		for i := range w.Apps {
			one := &w.Apps[i]
			if seen[one.Name] {
				continue
			}
			for _, to := range ring {
				if n, needs := one.need(to.App); needs {
					seen[one.Name] = true
					next = append(next, Neighbour{one.Name, append([]Need{n}, to.Way...)})
					break
				}
			}
		}
		out = append(out, next...)
		if ring = next; !cascade {
			break
		}
	}
	return out
}

func (a *AppState) need(app string) (Need, bool) {
	for _, n := range a.Needs {
		if n.App == app {
			return n, true
		}
	}
	return Need{}, false
}

// StopOrder returns some apps in the waves in which they are stopped: who needs others comes
// first. Those of one wave are stopped side by side.
func StopOrder(w *SystemState, apps []string) [][]string {
	return waves(apps, needsOf(w, noHistory).last)
}

// RecoverOrder returns some apps in the waves in which they are let go: what is needed comes
// first.
func RecoverOrder(w *SystemState, apps []string) [][]string {
	return waves(apps, needsOf(w, noHistory).first)
}

func waves(apps []string, before func(a, b string) bool) [][]string {
	steps := make([]Step, len(apps))
	for i, app := range apps {
		steps[i].App = app
	}
	var out [][]string
	for i, level := range levelsOf(steps, func(a, b *Step) bool { return before(a.App, b.App) }) {
		for len(out) <= level {
			out = append(out, nil)
		}
		out[level] = append(out[level], apps[i])
	}
	return out
}
