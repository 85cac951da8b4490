package regulate_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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

func TestOrder(t *testing.T) {
	for text, want := range map[string]string{
		"a":                                    "a",
		"web needs db, db":                     "db | web",
		"a, b, c":                              "a | b | c",
		"a needs b, b needs a, c":              "a b | c",
		"a needs b c, b needs c, c":            "c | b | a",
		"z, a needs z, m":                      "z | a | m",
		"c needs a, a needs b, b needs a d, d": "d | a b | c",
		"a needs a, b":                         "a | b",
		"a needs nobody":                       "a",
	} {
		var got []string
		for _, group := range regulate.Order(appsOf(text)) {
			got = append(got, strings.Join(group, " "))
		}
		if g := strings.Join(got, " | "); g != want {
			t.Errorf("%s: %s, want %s", text, g, want)
		}
	}
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

// Whatever the needs: every app is in the order once, after all that it needs but those of
// its own group; apps of one group need each other; and every app that is reached backwards
// is a neighbour.
func TestRandomOrders(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 3))
		n := 1 + random.IntN(9)
		var text []string
		for i := range n {
			one := fmt.Sprintf("t%d", i)
			for range random.IntN(3) {
				one += fmt.Sprintf(" t%d", random.IntN(n))
			}
			text = append(text, one)
		}
		w := appsOf(strings.Join(text, ","))
		order := regulate.Order(w)
		if again := regulate.Order(w); !reflect.DeepEqual(order, again) {
			t.Fatalf("seed %d: %v and %v", seed, order, again)
		}
		place := map[string]int{}
		for i, group := range order {
			for _, name := range group {
				if _, twice := place[name]; twice {
					t.Fatalf("seed %d: %s is in %v twice", seed, name, order)
				}
				place[name] = i
			}
		}
		if len(place) != n {
			t.Fatalf("seed %d: %v of %v", seed, order, text)
		}
		for i := range w.Apps {
			for _, need := range w.Apps[i].Needs {
				if place[need.App] > place[w.Apps[i].Name] {
					t.Fatalf("seed %d: %v, and %s needs %s", seed, order, w.Apps[i].Name, need.App)
				}
			}
		}
		for _, group := range order {
			for _, a := range group {
				all := regulate.Neighbours(w, a, true)
				for _, b := range group {
					if a != b && !slices.ContainsFunc(all, func(n regulate.Neighbour) bool { return n.App == b }) {
						t.Fatalf("seed %d: %s and %s are one group, and %s does not reach %s", seed, a, b, b, a)
					}
				}
				for _, one := range all {
					if place[one.App] < place[a] || one.Way[len(one.Way)-1].App != a {
						t.Fatalf("seed %d: %s is a neighbour of %s by %v, in %v", seed, one.App, a, one.Way, order)
					}
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
