package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// MaxGrowth is what the aliases of one stream may add to it by default, in bytes. Text is
// not shared once it is written out, so it counts as well as nodes do.
const MaxGrowth = 16 << 20

const (
	// nodeBytes is what a node counts in addition to its text.
	nodeBytes = 16
	// maxDepth is how deep a document may be nested, its aliases written out.
	maxDepth = 200
	// endless is the size of a node that contains itself, and a bound of all sizes.
	endless = 1 << 40
)

// Growth bounds what the aliases of one stream add to it when they are written out: all
// documents of it count together. The zero value lets nothing grow.
type Growth struct {
	// Left is how many bytes may still be added.
	Left int
}

// Take counts what the aliases of a document add. It is an error where that is more than is
// left, where an alias contains itself, and where the document is nested too deep.
func (g *Growth) Take(root *yaml.Node) error {
	m := measure{known: map[*yaml.Node]extent{}, open: map[*yaml.Node]bool{}}
	e, err := m.extent(root, 0)
	if err != nil {
		return err
	}
	if e.added == 0 {
		return nil
	}
	if g.Left -= e.added; g.Left < 0 {
		g.Left = 0
		return fmt.Errorf("line %d: its aliases expand to far more than it holds", m.biggest.Line)
	}
	return nil
}

// extent is how large a node is with its aliases written out, in bytes, how much of that they
// add, and how deep it is nested.
type extent struct {
	size, added, height int
}

type measure struct {
	known map[*yaml.Node]extent
	// open are the nodes above the one that is measured.
	open map[*yaml.Node]bool
	// biggest is the alias that adds most.
	biggest       *yaml.Node
	biggestGrowth int
}

func (m *measure) extent(n *yaml.Node, depth int) (extent, error) {
	if e, ok := m.known[n]; ok {
		return e, nil
	}
	if depth > maxDepth {
		return extent{}, tooDeep(n)
	}
	if n.Kind == yaml.AliasNode {
		return m.alias(n, depth)
	}
	m.open[n] = true
	e := extent{size: nodeBytes + len(n.Value)}
	for _, child := range n.Content {
		b, err := m.extent(child, depth+1)
		if err != nil {
			return extent{}, err
		}
		e.size, e.added, e.height = min(e.size+b.size, endless), min(e.added+b.added, endless), max(e.height, b.height+1)
	}
	delete(m.open, n)
	if e.height > maxDepth {
		return extent{}, tooDeep(n)
	}
	m.known[n] = e
	return e, nil
}

func (m *measure) alias(n *yaml.Node, depth int) (extent, error) {
	if m.open[n.Alias] {
		return extent{}, fmt.Errorf("line %d: the alias *%s contains itself", n.Line, n.Value)
	}
	e, err := m.extent(n.Alias, depth+1)
	if err != nil {
		return extent{}, err
	}
	if e.added = e.size; e.added > m.biggestGrowth {
		m.biggest, m.biggestGrowth = n, e.added
	}
	return e, nil
}

func tooDeep(n *yaml.Node) error {
	return fmt.Errorf("line %d: it is nested more than %d deep", n.Line, maxDepth)
}
