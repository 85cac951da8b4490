package regulate

// Neighbour is an app that needs another one, with the evidence.
type Neighbour struct {
	App string
	// Way leads from it to the other app, one need a step.
	Way []Need
}

// Neighbours returns the apps that need an app, transitively if cascade is set: the nearest
// first, then in the order of the state. An app is no neighbour of itself.
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

// StopOrder returns apps in the waves in which they are stopped: dependents first. Those of one
// wave are stopped concurrently.
func StopOrder(w *SystemState, apps []string) [][]string {
	return waves(apps, needsOf(w, noHistory).last)
}

// RecoverOrder returns apps in the waves in which they are recovered: dependencies first.
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
