package layout

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the coordinates of the fixtures")

// fixture is a forest and its layout, which ui/test/layout.test.mjs holds the page to as well.
type fixture struct {
	Options struct {
		Across, Between, Apart, Aspect int
	} `json:"options"`
	// Cards are [number of the parent or -1, width, height]. Made is there instead for a forest that
	// both tests make.
	Cards []card `json:"cards,omitempty"`
	Made  *made  `json:"made,omitempty"`
	// Boxes are in preorder; of one that is made there is the sum of them alone.
	Boxes  [][2]int `json:"boxes,omitempty"`
	Sum    int      `json:"sum"`
	Width  int      `json:"width"`
	Height int      `json:"height"`
}

type card [3]int

type made struct{ Seed, Count, Reach, Roots int }

// cards makes a forest: every card hangs below one of the last Reach, one in Roots below none.
// The generator is that of Park and Miller.
func (m made) cards() []card {
	x := m.Seed
	random := func(n int) int {
		x = x * 48271 % 2147483647
		return x % n
	}
	cards := make([]card, m.Count)
	for i := range cards {
		parent := -1
		if i > 0 && random(m.Roots) > 0 {
			parent = max(0, i-1-random(m.Reach))
		}
		cards[i] = card{parent, 100 + 30*random(5), 31 + 20*random(4)}
	}
	return cards
}

func forestOf(cards []card) []*Node {
	var roots []*Node
	nodes := make([]*Node, len(cards))
	for i, c := range cards {
		nodes[i] = &Node{Width: c[1], Height: c[2]}
		if c[0] < 0 {
			roots = append(roots, nodes[i])
		} else {
			nodes[c[0]].Children = append(nodes[c[0]].Children, nodes[i])
		}
	}
	return roots
}

func sum(boxes []Box) int {
	s := 0
	for _, b := range boxes {
		s = (s*31 + b.X*7 + b.Y) % 2147483647
	}
	return s
}

func read(t testing.TB, path string) fixture {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

func (f fixture) roots() []*Node {
	if f.Made != nil {
		return forestOf(f.Made.cards())
	}
	return forestOf(f.Cards)
}

func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	return paths
}

func TestFixtures(t *testing.T) {
	for _, path := range fixtures(t) {
		f := read(t, path)
		p := Layout(f.roots(), Options(f.Options))
		got := f
		got.Width, got.Height, got.Sum, got.Boxes = p.Width, p.Height, sum(p.Boxes), nil
		for _, b := range p.Boxes {
			if f.Made == nil {
				got.Boxes = append(got.Boxes, [2]int{b.X, b.Y})
			}
		}
		if *update {
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			f = got
		}
		if !slices.Equal(got.Boxes, f.Boxes) || got.Sum != f.Sum || got.Width != f.Width || got.Height != f.Height {
			t.Errorf("%s: got %v, %d, %d by %d, want %v, %d, %d by %d", path, got.Boxes, got.Sum, got.Width, got.Height, f.Boxes, f.Sum, f.Width, f.Height)
		}
		if len(p.Boxes) == 0 {
			t.Errorf("%s: nothing is placed", path)
		}
		holds(t, path, f.roots(), Options(f.Options), p)
	}
}

// holds tells whether a layout is tidy.
func holds(t *testing.T, what string, roots []*Node, o Options, p Result) {
	t.Helper()
	var nodes []*Node
	box := map[*Node]Box{}
	var walk func([]*Node)
	walk = func(level []*Node) {
		for _, n := range level {
			box[n] = p.Boxes[len(nodes)]
			nodes = append(nodes, n)
			walk(n.Children)
		}
	}
	walk(roots)
	if len(nodes) != len(p.Boxes) {
		t.Fatalf("%s: %d boxes of %d cards", what, len(p.Boxes), len(nodes))
	}
	for _, n := range nodes {
		b := box[n]
		if b.X < 0 || b.Y < 0 || b.X+n.Width > p.Width || b.Y+n.Height > p.Height {
			t.Errorf("%s: %v is outside of %d by %d", what, b, p.Width, p.Height)
		}
		for i, c := range n.Children {
			if box[c].X < b.X+n.Width+o.Across {
				t.Errorf("%s: the child at %v is not right of its parent at %v", what, box[c], b)
			}
			if i > 0 && box[c].Y < box[n.Children[i-1]].Y+n.Children[i-1].Height+o.Between {
				t.Errorf("%s: the sibling at %v is not below the one before", what, box[c])
			}
		}
		if k := len(n.Children); k > 0 {
			first, last := n.Children[0], n.Children[k-1]
			if off := box[first].Y + box[last].Y + last.Height - 2*b.Y - n.Height; off < -2 || off > 2 {
				t.Errorf("%s: the parent at %v is off the middle of its children by %d halves", what, b, off)
			}
		}
	}
	if k, l := overlap(nodes, box); k != nil {
		t.Errorf("%s: cards overlap at %v and %v", what, box[k], box[l])
	}
}

// overlap finds two cards that share a point: it sweeps from left to right, and looks at all that
// have begun and not ended.
func overlap(nodes []*Node, box map[*Node]Box) (one, other *Node) {
	order := slices.Clone(nodes)
	slices.SortStableFunc(order, func(a, b *Node) int { return box[a].X - box[b].X })
	var open []*Node
	for _, n := range order {
		b := box[n]
		open = slices.DeleteFunc(open, func(m *Node) bool { return box[m].X+m.Width <= b.X })
		for _, m := range open {
			if box[m].Y < b.Y+n.Height && b.Y < box[m].Y+m.Height {
				return m, n
			}
		}
		open = append(open, n)
	}
	return nil, nil
}

var usual = Options{Across: 48, Between: 12, Apart: 40, Aspect: 160}

func TestAnyForestIsTidy(t *testing.T) {
	for seed := 1; seed <= 60; seed++ {
		m := made{Seed: seed * 7919, Count: 10 + seed*5, Reach: 1 + seed%17, Roots: 2 + seed%30}
		roots := forestOf(m.cards())
		o := usual
		o.Aspect = 20 * (1 + seed%20)
		p := Layout(roots, o)
		holds(t, fmt.Sprintf("%+v", m), roots, o, p)
		if again := Layout(roots, o); !slices.Equal(again.Boxes, p.Boxes) {
			t.Errorf("%+v: another layout of the same", m)
		}
	}
}

// The window is filled: no side is much longer than the aspect wants, once there are enough trees.
func TestTreesArePackedToTheWindow(t *testing.T) {
	for _, aspect := range []int{50, 100, 160, 240} {
		o := usual
		o.Aspect = aspect
		p := Layout(forestOf(made{Seed: 5, Count: 2000, Reach: 6, Roots: 4}.cards()), o)
		if got := p.Width * 100 / p.Height; got < aspect*7/10 || got > aspect*14/10 {
			t.Errorf("%d by %d is an aspect of %d, not about %d", p.Width, p.Height, got, aspect)
		}
	}
}

// Work is that of comparing outlines: below one step a card, however the cards hang.
func TestWorkIsLinear(t *testing.T) {
	comb := make([]card, 0, 10_000)
	for i := range 5000 {
		comb = append(comb, card{2*i - 2, 100, 40}, card{2 * i, 100, 40})
	}
	comb[0][0] = -1
	for name, cards := range map[string][]card{
		"bushy": made{Seed: 3, Count: 10_000, Reach: 30, Roots: 10_000}.cards(),
		"deep":  made{Seed: 3, Count: 10_000, Reach: 2, Roots: 10_000}.cards(),
		"many":  made{Seed: 3, Count: 10_000, Reach: 9, Roots: 20}.cards(),
		"comb":  comb,
	} {
		f := newForest(forestOf(cards))
		for at := 0; at < len(f.nodes); at += f.size[at] {
			f.place(at, usual)
		}
		if f.steps > len(cards) {
			t.Errorf("%s: %d steps for %d cards", name, f.steps, len(cards))
		}
	}
}

func TestDeepChainsHaveRoom(t *testing.T) {
	const deep = 50_000
	cards := make([]card, deep)
	for i := range cards {
		cards[i] = card{i - 1, 10, 10}
	}
	p := Layout(forestOf(cards), Options{Across: 1, Between: 1, Apart: 1, Aspect: 100})
	if last := p.Boxes[deep-1]; last.X != 11*(deep-1) || last.Y != 0 {
		t.Errorf("the last card is at %v", last)
	}
}

func TestNothing(t *testing.T) {
	if p := Layout(nil, usual); len(p.Boxes) != 0 || p.Width != 0 || p.Height != 0 {
		t.Errorf("nothing takes %v", p)
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{60, 2000, 10_000} {
		roots := forestOf(made{Seed: 11, Count: n, Reach: 30, Roots: 60}.cards())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Layout(roots, usual)
			}
		})
	}
}
