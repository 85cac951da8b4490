package regulate

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

// RecoverOrder returns some apps in the waves in which they are recovered: what is needed comes
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
