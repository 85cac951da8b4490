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
	// hub says how many lines it would have; empty where they are drawn.
	hub  string
	x, y int
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
	references    map[int]int      // to each node
	width, height int
}

func newScene(p *uistate.State, s *uistate.Stack, refs map[int]int) *svgScene {
	sc := &svgScene{state: p, stack: s, of: map[int]*svgCard{}, references: refs}
	roots := sc.fold(sc.tree())
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
	slices.SortStableFunc(siblings, func(a, b *svgCard) int { return cmp.Compare(sc.rank(a), sc.rank(b)) })
	alike := func(c *svgCard) likeness {
		n := sc.state.Nodes[c.node]
		return likeness{c.place.How, n.State, n.Kind}
	}
	for _, c := range siblings {
		c.children = sc.fold(c.children)
		if c.leaf && !c.place.Again && sc.health(c) < trouble {
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
			out = append(out, sc.joined(group))
		}
	}
	return out
}

// rank has ConfigMaps last among siblings.
func (sc *svgScene) rank(c *svgCard) int {
	if sc.state.Kinds[sc.state.Nodes[c.node].Kind].Kind == "ConfigMap" {
		return 1
	}
	return 0
}

func (sc *svgScene) joined(group []*svgCard) *svgCard {
	f := *group[0]
	f.worst = 0
	for i, c := range group {
		f.fold = append(f.fold, c.node)
		f.worst = max(f.worst, sc.health(c))
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

// maxLines of a relation at a card are drawn; a card with more is a hub, which has a count in place of
// them (ui/src/graph_scene.ts).
const maxLines = 12

// cross finds the edges between cards that are not of the tree. A line leads to a workload, not to
// each of its pods, and those of a relation between the same two are one.
func (sc *svgScene) cross() {
	type ends struct {
		from, to *svgCard
		relation int
	}
	type hub struct {
		at       *svgCard
		relation int
	}
	seen, degree := map[ends]bool{}, map[hub]int{}
	var lines []svgLine
	hubOf := func(l svgLine) hub {
		if l.edge.Relation == 3 {
			return hub{l.from, 3}
		}
		return hub{l.to, l.edge.Relation}
	}
	for _, card := range sc.cards {
		from := sc.owner(card)
		for _, n := range card.nodes() {
			for _, e := range sc.state.Nodes[n].Edges {
				to := sc.of[e.To]
				if to == nil || to == card || to.parent == card || card.parent == to {
					continue
				}
				if e.Relation == 3 {
					to = sc.owner(to)
				}
				if to == from || to.parent == from || from.parent == to || seen[ends{from, to, e.Relation}] {
					continue
				}
				seen[ends{from, to, e.Relation}] = true
				l := svgLine{from, to, e}
				lines = append(lines, l)
				degree[hubOf(l)]++
			}
		}
	}
	for _, l := range lines {
		h := hubOf(l)
		switch n := degree[h]; {
		case n <= maxLines:
			sc.lines = append(sc.lines, l)
		case h.relation == 3:
			h.at.hub = fmt.Sprintf("serves %d", n)
		default:
			h.at.hub = fmt.Sprintf("%d need it", n)
		}
	}
}

// owner is the card of a workload for one of its replicas, and else the card itself.
func (sc *svgScene) owner(c *svgCard) *svgCard {
	for c.parent != nil && sc.hanging(c).Relation == 1 && slices.Contains([]string{"Pod", "ReplicaSet", "Job"}, sc.state.Kinds[sc.state.Nodes[c.node].Kind].Kind) {
		c = c.parent
	}
	return c
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
	if sc.optional(c.node) {
		return 0
	}
	if n.Health == 0 && n.State == "missing" {
		return 5
	}
	return n.Health
}

// optional reports whether a node is missing, and all that refers to it says that it is optional.
func (sc *svgScene) optional(node int) bool {
	return sc.state.Nodes[node].State == "missing" && sc.references[node] == onlyOptional
}

// How a node is referred to.
const (
	onlyOptional = 1 + iota
	required
)

func references(p *uistate.State) map[int]int {
	out := map[int]int{}
	for _, n := range p.Nodes {
		if n == nil {
			continue
		}
		for _, e := range n.Edges {
			if e.Optional {
				out[e.To] = max(out[e.To], onlyOptional)
			} else {
				out[e.To] = required
			}
		}
	}
	return out
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
