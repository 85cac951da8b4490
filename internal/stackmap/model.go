// Package stackmap is the map of stacks: each stack as one card, each part that several of them need
// as one more, and who needs whom; and where the cards and lines are. ui/src/map_model.ts and
// map_layout.ts are the same for the page; testdata of internal/render holds both to equal numbers.
package stackmap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// Payer is what a stack pays for a part.
type Payer struct {
	Stack string
	Cost  int64
}

// Card is a stack, or a part that several cards need.
type Card struct {
	// Key is the name of the stack; Node is the top object, -1 for none.
	Key   string
	Stack *uistate.Stack
	Node  int
	// Group is the region that it stands in: its namespace, or its System app.
	Group  string
	Health int
	// Pods are all, and Well those that are Healthy.
	Pods, Well int
	// Cost is in hundredths, nil if unknown; Shared is what a stack pays for parts that others need too.
	Cost   *int64
	Shared int64
	Payers []Payer
	Users  int
}

// Evidence is an edge, with the node that it leaves.
type Evidence struct {
	Node int
	Edge uistate.Edge
}

// Line says that a card needs another one, the strongest evidence first.
type Line struct {
	From, To           int
	Evidence           []Evidence
	Inferred, Optional bool
}

// Port is the number of the port that a line is about: of the first evidence that has one; empty for none.
// The name does not fit between two cards.
func (l *Line) Port() string {
	for _, e := range l.Evidence {
		if first, _, _ := strings.Cut(e.Edge.Port, " and "); first != "" {
			return first[strings.LastIndexByte(first, ' ')+1:]
		}
	}
	return ""
}

// Map has the stacks in the order of their names, then the parts.
type Map struct {
	Cards []*Card
	Lines []*Line
}

// The relations of edges, and the flag of one that no stack follows.
const (
	owns = 1 + iota
	needs
	serves
)

const notFollowed = 1

// builder assigns nodes to cards.
type builder struct {
	state *uistate.State
	cards []*Card
	home  []int // the card of each node, -1 for none
	shown []bool
	above []int       // the owner of each node, -1 for none
	roots map[int]int // the card of each root
}

// New builds the map of the stacks of a state. What one card alone needs is in that card.
func New(p *uistate.State) *Map {
	b := &builder{state: p, home: make([]int, len(p.Nodes)), shown: make([]bool, len(p.Nodes)), above: make([]int, len(p.Nodes)), roots: map[int]int{}}
	b.stacks()
	b.group()
	b.absorb()
	m := &Map{Lines: b.lines()}
	b.sums()
	m.compact(b.cards)
	return m
}

func (b *builder) stacks() {
	order := make([]*uistate.Stack, 0, len(b.state.Stacks))
	for i := range b.state.Stacks {
		order = append(order, &b.state.Stacks[i])
	}
	slices.SortStableFunc(order, func(x, y *uistate.Stack) int { return cmp.Compare(x.Name, y.Name) })
	for _, s := range order {
		for _, at := range s.Tree {
			b.shown[at.Node] = b.state.Nodes[at.Node] != nil
		}
		for _, r := range s.Roots {
			b.roots[r] = len(b.cards)
		}
		c := &Card{Key: s.Name, Stack: s, Node: -1, Group: s.Namespace, Health: s.Health, Cost: s.Cost}
		if len(s.Roots) > 0 {
			c.Node = s.Roots[0]
		}
		if len(s.Pods) > 2 {
			c.Pods, c.Well = s.Pods[0], s.Pods[2]
		}
		b.cards = append(b.cards, c)
	}
}

// edges visits the edges of a relation between shown nodes.
func (b *builder) edges(relation int, visit func(from int, e uistate.Edge)) {
	for i, n := range b.state.Nodes {
		if !b.shown[i] {
			continue
		}
		for _, e := range n.Edges {
			if e.Relation == relation && b.shown[e.To] && e.To != i {
				visit(i, e)
			}
		}
	}
}

func (b *builder) top(i int) int {
	for steps := 0; b.above[i] >= 0 && steps < 64; steps++ {
		if _, root := b.roots[i]; root {
			break
		}
		i = b.above[i]
	}
	return i
}

// group finds the card of each node: that of its topmost owner, or of the one thing that it serves.
func (b *builder) group() {
	for i := range b.above {
		b.above[i] = -1
	}
	b.edges(owns, func(from int, e uistate.Edge) {
		if b.above[e.To] < 0 {
			b.above[e.To] = from
		}
	})
	var servers []int
	served := map[int][]int{}
	b.edges(serves, func(from int, e uistate.Edge) {
		if _, root := b.roots[from]; root || b.above[from] >= 0 {
			return
		}
		if served[from] == nil {
			servers = append(servers, from)
		}
		served[from] = append(served[from], e.To)
	})
	tops := b.tops(servers, served)
	byTop := map[int]int{}
	for i, t := range tops {
		b.home[i] = -1
		if !b.shown[i] {
			continue
		}
		at, ok := b.roots[t]
		if !ok {
			if at, ok = byTop[t]; !ok {
				at = len(b.cards)
				byTop[t] = at
				b.cards = append(b.cards, &Card{Node: t, Group: b.state.Namespaces[b.state.Nodes[t].Namespace]})
			}
		}
		b.home[i] = at
	}
}

// tops returns the topmost owner of each node, or of the one thing that it serves.
func (b *builder) tops(servers []int, served map[int][]int) []int {
	tops := make([]int, len(b.above))
	for i := range tops {
		tops[i] = b.top(i)
	}
	// An Ingress serves a Service, which serves pods.
	for range 3 {
		for _, from := range servers {
			first := tops[served[from][0]]
			if !slices.ContainsFunc(served[from], func(to int) bool { return tops[to] != first }) {
				tops[from] = first
			}
		}
		for i := range tops {
			if b.shown[i] {
				tops[i] = tops[b.top(i)]
			}
		}
	}
	return tops
}

// needed visits the edges by which a card needs another one.
func (b *builder) needed(visit func(from, to, node int, e uistate.Edge)) {
	for i, n := range b.state.Nodes {
		if b.home[i] < 0 {
			continue
		}
		for _, e := range n.Edges {
			if e.Relation == needs && e.Follow&notFollowed == 0 && b.home[e.To] >= 0 && b.home[e.To] != b.home[i] {
				visit(b.home[i], b.home[e.To], i, e)
			}
		}
	}
}

// absorb puts a part that one card alone needs into that card, and so on.
func (b *builder) absorb() {
	into := make([]map[int]bool, len(b.cards))
	b.needed(func(from, to, _ int, _ uistate.Edge) {
		if into[to] == nil {
			into[to] = map[int]bool{}
		}
		into[to][from] = true
	})
	merged := make([]int, len(b.cards))
	for i := range merged {
		merged[i] = i
	}
	find := func(i int) int {
		for merged[i] != i {
			i = merged[i]
		}
		return i
	}
	for again := true; again; {
		again = false
		for i, c := range b.cards {
			if c.Stack != nil || merged[i] != i {
				continue
			}
			users := map[int]bool{}
			for u := range into[i] {
				users[find(u)] = true
			}
			delete(users, i)
			if len(users) != 1 {
				continue
			}
			for u := range users {
				merged[i], again = u, true
			}
		}
	}
	for i, at := range b.home {
		if at >= 0 {
			b.home[i] = find(at)
		}
	}
}

func (b *builder) lines() []*Line {
	var out []*Line
	byEnds := map[[2]int]*Line{}
	b.needed(func(from, to, node int, e uistate.Edge) {
		l := byEnds[[2]int{from, to}]
		if l == nil {
			l = &Line{From: from, To: to, Inferred: true, Optional: true}
			byEnds[[2]int{from, to}] = l
			out = append(out, l)
		}
		l.Evidence = append(l.Evidence, Evidence{node, e})
		l.Inferred, l.Optional = l.Inferred && e.Inferred, l.Optional && e.Optional
	})
	number := func(flag bool) int {
		if flag {
			return 1
		}
		return 0
	}
	for _, l := range out {
		slices.SortStableFunc(l.Evidence, func(x, y Evidence) int {
			return cmp.Or(number(x.Edge.Optional)-number(y.Edge.Optional), number(x.Edge.Inferred)-number(y.Edge.Inferred), x.Node-y.Node)
		})
	}
	return out
}

// sums adds health, pods and costs.
func (b *builder) sums() {
	counts := map[int]bool{} // whether an object counts for the health of a stack that has it
	for _, c := range b.cards {
		if c.Stack == nil {
			continue
		}
		for _, at := range c.Stack.Tree {
			if at.Again || b.home[at.Node] < 0 {
				continue
			}
			counts[at.Node] = counts[at.Node] || !at.Peer
			if at.Own == nil || *at.Own == 0 {
				continue
			}
			card := b.cards[b.home[at.Node]]
			card.pay(c.Key, *at.Own)
			if card != c {
				c.Shared += *at.Own
			}
		}
	}
	b.conditions(counts)
	for _, c := range b.cards {
		if c.Stack != nil || len(c.Payers) == 0 {
			continue
		}
		var sum int64
		for _, p := range c.Payers {
			sum += p.Cost
		}
		c.Cost = &sum
	}
}

// conditions adds the health and the pods of parts that no stack is the card of.
func (b *builder) conditions(counts map[int]bool) {
	for i, n := range b.state.Nodes {
		if b.home[i] < 0 || b.cards[b.home[i]].Stack != nil {
			continue
		}
		c, health := b.cards[b.home[i]], n.Health
		if health == 0 && n.State == "missing" {
			health = 5
		}
		if counts[i] {
			c.Health = max(c.Health, health)
		}
		if k := b.state.Kinds[n.Kind]; k.Kind == "Pod" && k.Group == "" {
			c.Pods++
			if n.Health == 1 {
				c.Well++
			}
		}
	}
}

func (c *Card) pay(stack string, cost int64) {
	for i := range c.Payers {
		if c.Payers[i].Stack == stack {
			c.Payers[i].Cost += cost
			return
		}
	}
	c.Payers = append(c.Payers, Payer{stack, cost})
}

// compact drops the parts that no card needs, and numbers the others again.
func (m *Map) compact(cards []*Card) {
	needed := map[int]bool{}
	for _, l := range m.Lines {
		needed[l.To] = true
	}
	number := map[int]int{}
	for i, c := range cards {
		if c.Stack != nil || needed[i] {
			number[i] = len(m.Cards)
			m.Cards = append(m.Cards, c)
		}
	}
	m.Lines = slices.DeleteFunc(m.Lines, func(l *Line) bool {
		_, from := number[l.From]
		_, to := number[l.To]
		return !from || !to
	})
	for _, l := range m.Lines {
		l.From, l.To = number[l.From], number[l.To]
		if !l.Optional {
			m.Cards[l.To].Users++
		}
	}
}
