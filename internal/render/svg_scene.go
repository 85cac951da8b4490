package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	places "github.com/kubectl-sysop/kubectl-sysop/internal/layout" // layout is that of columns here
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// The size of a card and the distances, those of ui/src/graph_scene.ts.
const (
	cardWidth  = 232
	cardHeight = 74
	// minNodes equal leaves stand by themselves; more are one card (ui/src/shape.ts).
	minNodes = 3
	// trouble is the first number of health that needs attention.
	trouble = 4
)

func distances(aspect int) places.Options {
	return places.Options{Across: 56, Between: 18, Apart: 48, Aspect: aspect}
}

// svgCard is a card: an object at its place, or a fold of equal leaves.
type svgCard struct {
	node  int
	place uistate.Position
	// fold is the nodes of a fold.
	fold     []int
	parent   *svgCard
	children []*svgCard
	// leaf says that nothing is below it, not even a mention.
	leaf  bool
	worst int
	cost  *int64
	x, y  int
}

// nodes returns the nodes of a card.
func (c *svgCard) nodes() []int {
	if c.fold != nil {
		return c.fold
	}
	return []int{c.node}
}

// svgLine is an edge between two cards beside the tree.
type svgLine struct {
	from, to *svgCard
	edge     uistate.Edge
}

// svgScene is a stack as it is drawn.
type svgScene struct {
	state         *uistate.State
	stack         *uistate.Stack
	cards         []*svgCard // in preorder
	lines         []svgLine
	of            map[int]*svgCard // by node
	width, height int
}

func newScene(p *uistate.State, s *uistate.Stack) *svgScene {
	sc := &svgScene{state: p, stack: s, of: map[int]*svgCard{}}
	roots := sc.tree()
	roots = sc.fold(roots)
	var nodes []*places.Node
	for _, r := range roots {
		nodes = append(nodes, sc.add(r))
	}
	placed := places.Layout(nodes, distances(160))
	for i, b := range placed.Boxes {
		sc.cards[i].x, sc.cards[i].y = b.X, b.Y
	}
	sc.width, sc.height = placed.Width, placed.Height
	sc.cross()
	return sc
}

// tree makes a card of each place. What is mentioned again has its card elsewhere.
func (sc *svgScene) tree() []*svgCard {
	var roots, path []*svgCard
	for _, place := range sc.stack.Tree {
		path = path[:min(place.Depth, len(path))]
		n := sc.state.Nodes[place.Node]
		if n == nil {
			continue
		}
		c := &svgCard{node: place.Node, place: place, leaf: true, worst: max(n.Health, place.Below), cost: place.Cost}
		if len(path) > 0 {
			c.parent = path[len(path)-1]
			c.parent.leaf = false
		}
		switch {
		case place.Again && c.parent != nil:
			continue
		case c.parent == nil:
			roots = append(roots, c)
		default:
			c.parent.children = append(c.parent.children, c)
		}
		path = append(path, c)
	}
	return roots
}

// fold makes one card of the leaves among siblings that are equal: of a kind, hanging the same way,
// none of them in trouble. It does the same below them.
func (sc *svgScene) fold(siblings []*svgCard) []*svgCard {
	type likeness struct {
		how, state string
		kind       int
	}
	groups, equal := map[likeness][]*svgCard{}, map[*svgCard]bool{}
	alike := func(c *svgCard) likeness {
		n := sc.state.Nodes[c.node]
		return likeness{c.place.How, n.State, n.Kind}
	}
	for _, c := range siblings {
		c.children = sc.fold(c.children)
		if n := sc.state.Nodes[c.node]; c.leaf && !c.place.Again && n.Health < trouble && n.State != "missing" {
			groups[alike(c)] = append(groups[alike(c)], c)
			equal[c] = true
		}
	}
	var out []*svgCard
	for _, c := range siblings {
		group := groups[alike(c)]
		switch {
		case len(group) <= minNodes || !equal[c]:
			out = append(out, c)
		case group[0] == c:
			out = append(out, joined(group))
		}
	}
	return out
}

func joined(group []*svgCard) *svgCard {
	f := *group[0]
	for i, c := range group {
		f.fold = append(f.fold, c.node)
		f.worst = max(f.worst, c.worst)
		if i > 0 && c.cost != nil {
			sum := *c.cost
			if f.cost != nil {
				sum += *f.cost
			}
			f.cost = &sum
		}
	}
	return &f
}

func (sc *svgScene) add(c *svgCard) *places.Node {
	sc.cards = append(sc.cards, c)
	for _, n := range c.nodes() {
		sc.of[n] = c
	}
	n := &places.Node{Width: cardWidth, Height: cardHeight}
	for _, child := range c.children {
		n.Children = append(n.Children, sc.add(child))
	}
	return n
}

// cross finds the edges between cards that are not of the tree; those of a relation and a via
// between the same two cards are one.
func (sc *svgScene) cross() {
	type likeness struct {
		from, to *svgCard
		relation int
		via      string
	}
	seen := map[likeness]bool{}
	for _, from := range sc.cards {
		for _, n := range from.nodes() {
			for _, e := range sc.state.Nodes[n].Edges {
				to := sc.of[e.To]
				l := likeness{from, to, e.Relation, e.Via}
				if to == nil || to == from || seen[l] || to.parent == from || from.parent == to {
					continue
				}
				seen[l] = true
				sc.lines = append(sc.lines, svgLine{from, to, e})
			}
		}
	}
}

// hanging is the edge by which a card hangs below its parent.
func (sc *svgScene) hanging(c *svgCard) uistate.Edge {
	if c.place.How != "owned" {
		for _, pair := range [][2]int{{c.parent.node, c.node}, {c.node, c.parent.node}} {
			for _, e := range sc.state.Nodes[pair[0]].Edges {
				if e.To == pair[1] {
					return e
				}
			}
		}
	}
	switch c.place.How {
	case "owned":
		return uistate.Edge{Relation: 1, Via: "owner"}
	case "needed":
		return uistate.Edge{Relation: 2, Via: "spec"}
	}
	return uistate.Edge{Relation: 3, Via: "spec"}
}

// health is what a card shows as its own: of a fold the worst in it.
func (sc *svgScene) health(c *svgCard) int {
	n := sc.state.Nodes[c.node]
	if c.fold != nil {
		return c.worst
	}
	if n.Health == 0 && n.State == "missing" {
		return 5
	}
	return n.Health
}

// names are the two lines that say what a card is.
func (sc *svgScene) names(c *svgCard) (kind, name string) {
	n := sc.state.Nodes[c.node]
	kind = sc.state.Kinds[n.Kind].Kind
	if c.fold == nil {
		return kind, n.Name
	}
	return "group", fmt.Sprintf("%d %s", len(c.fold), plural(kind))
}

// plural is that of a kind.
func plural(kind string) string {
	ends := func(with ...string) bool {
		return slices.ContainsFunc(with, func(e string) bool { return strings.HasSuffix(kind, e) })
	}
	switch {
	case ends("points"):
		return kind
	case ends("s", "x", "ch", "sh"):
		return kind + "es"
	case ends("y") && !ends("ay", "ey", "iy", "oy", "uy"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}

// selectCards are the worst cards, for a description.
func (sc *svgScene) selectCards(most int) []*svgCard {
	var bad []*svgCard
	for _, c := range sc.cards {
		if sc.health(c) >= trouble {
			bad = append(bad, c)
		}
	}
	slices.SortStableFunc(bad, func(a, b *svgCard) int { return cmp.Compare(sc.health(b), sc.health(a)) })
	return bad[:min(most, len(bad))]
}
