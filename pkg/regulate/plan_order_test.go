package regulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// appsOf is a world of apps and what each needs: a, b needs a, c needs a b.
func appsOf(text string) *regulate.SystemState {
	w := &regulate.SystemState{}
	for one := range strings.SplitSeq(text, ",") {
		words := strings.Fields(one)
		a := regulate.AppState{Name: words[0]}
		for _, to := range words[1:] {
			if to != "needs" {
				a.Needs = append(a.Needs, regulate.Need{App: to})
			}
		}
		w.Apps = append(w.Apps, a)
	}
	return w
}

func TestNeighbours(t *testing.T) {
	chain := "db, web needs db, worker needs broker db, broker, edge needs web, far needs edge worker"
	for _, c := range []struct {
		apps, of string
		cascade  bool
		want     string
	}{
		{chain, "db", false, "web:db worker:db"},
		{chain, "db", true, "web:db worker:db edge:web:db far:worker:db"},
		{chain, "broker", false, "worker:broker"},
		{chain, "far", true, ""},
		{chain, "nobody", true, ""},
		{"a needs b, b needs a", "a", true, "b:a"},
		{"a needs b, b needs c, c needs a", "a", true, "c:a b:c:a"},
		{"a needs a", "a", true, ""},
	} {
		var got []string
		for _, n := range regulate.Neighbours(appsOf(c.apps), c.of, c.cascade) {
			text := n.App
			for _, step := range n.Way {
				text += ":" + step.App
			}
			got = append(got, text)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("neighbours of %s in %s: %q, want %q", c.of, c.apps, g, c.want)
		}
	}
}

// Whatever the needs: every app is in one wave, and after all that it needs, unless the two need
// each other.
func TestRandomWaves(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 3))
		n := 1 + random.IntN(9)
		var text, names []string
		for i := range n {
			one := fmt.Sprintf("t%d", i)
			names = append(names, one)
			for range random.IntN(3) {
				one += fmt.Sprintf(" t%d", random.IntN(n))
			}
			text = append(text, one)
		}
		w := appsOf(strings.Join(text, ","))
		waves := regulate.RecoverOrder(w, names)
		wave := map[string]int{}
		for i, apps := range waves {
			for _, name := range apps {
				if _, twice := wave[name]; twice {
					t.Fatalf("seed %d: %s is in %v twice", seed, name, waves)
				}
				wave[name] = i
			}
		}
		if len(wave) != n {
			t.Fatalf("seed %d: %v of %v", seed, waves, text)
		}
		reaches := func(from, to string) bool {
			return from == to || slices.ContainsFunc(regulate.Neighbours(w, from, true), func(n regulate.Neighbour) bool { return n.App == to })
		}
		for i := range w.Apps {
			name := w.Apps[i].Name
			for _, need := range w.Apps[i].Needs {
				if wave[need.App] >= wave[name] && !reaches(name, need.App) {
					t.Fatalf("seed %d: %v, and %s needs %s", seed, waves, name, need.App)
				}
			}
		}
	}
}

func TestWaves(t *testing.T) {
	w := appsOf("db, web needs db, worker needs broker db, broker, edge needs web, a needs b, b needs a")
	show := func(waves [][]string) string {
		var out []string
		for _, wave := range waves {
			out = append(out, strings.Join(wave, " "))
		}
		return strings.Join(out, " | ")
	}
	for _, c := range []struct{ apps, stop, back string }{
		{"web worker edge", "worker edge | web", "web worker | edge"},
		{"edge db", "edge | db", "db | edge"},
		{"db web worker broker edge", "worker edge | web broker | db", "db broker | web worker | edge"},
		{"a b", "a | b", "a | b"},
		{"", "", ""},
	} {
		apps := strings.Fields(c.apps)
		if stop, back := show(regulate.StopOrder(w, apps)), show(regulate.RecoverOrder(w, apps)); stop != c.stop || back != c.back {
			t.Errorf("%s: stopped %s and let go %s, want %s and %s", c.apps, stop, back, c.stop, c.back)
		}
	}
}
