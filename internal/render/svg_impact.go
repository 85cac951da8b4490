package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// svgMark says what a deletion does to an object.
type svgMark struct {
	rank     int // the larger the worse
	text     string
	inferred bool
}

// svgSpread is an object that a deletion does something to, and by what.
type svgSpread struct {
	id, cause string
	mark      svgMark
	inferred  bool // the line
}

// spread lists what an impact marks, as ui/src/impact_marks.ts does.
func spread(im view.ImpactDocument) []svgSpread {
	all := []svgSpread{{id: im.Object, mark: svgMark{2, "✖ deleted", false}}}
	for _, list := range [][]view.DependentDocument{im.Direct, im.Indirect, im.Served} {
		for _, d := range list {
			m := effect(d)
			all = append(all, svgSpread{d.ID, d.Cause, m, d.Edge.Inferred})
			for _, part := range d.Controlled {
				all = append(all, svgSpread{part, d.ID, m, false})
			}
		}
	}
	for _, d := range im.Deletions {
		all = append(all, svgSpread{d.ID, d.Cause, svgMark{2, "✖ deleted with it", false}, false})
	}
	for _, d := range im.MayBeDeleted {
		all = append(all, svgSpread{d.ID, d.Cause, svgMark{1, "▲ may be deleted", false}, false})
	}
	return all
}

// effect says an effect as the page does (ui/src/impact_document.ts).
func effect(d view.DependentDocument) svgMark {
	breaks := strings.HasPrefix(d.Effect, "breaks")
	text := d.Effect
	if d.Inferred {
		if breaks {
			text = strings.Replace(text, "breaks", "may break", 1)
		}
		text += " (inferred)"
	}
	switch {
	case (breaks || d.Effect == "deleted") && !d.Inferred:
		return svgMark{2, "✖ " + text, false}
	case d.Effect == "only new ones" || d.Effect == "does without":
		return svgMark{0, "· " + text, d.Inferred}
	}
	return svgMark{1, "▲ " + text, d.Inferred}
}

// impact draws what the impact of the UI state marks in a stack: lines from what causes it, and over the
// cards, which are written between, a ring and words each.
func (sc *svgScene) impact(out *bufio.Writer, cards func()) {
	im, _ := sc.state.Impact.(view.ImpactDocument)
	byRef := map[string]*svgCard{}
	for n, c := range sc.of {
		byRef[sc.ref(n)] = c
	}
	marks, drawn := map[*svgCard]svgMark{}, map[[2]*svgCard]bool{}
	for _, s := range spread(im) {
		to, from := byRef[s.id], byRef[s.cause]
		if to == nil {
			continue
		}
		if had, found := marks[to]; !found || s.mark.rank > had.rank {
			marks[to] = s.mark
		}
		if from != nil && to.isBelow(from) {
			from = to.parent
		}
		ends := [2]*svgCard{from, to}
		if from == nil || from == to || drawn[ends] {
			continue
		}
		drawn[ends] = true
		d := bend(from, to)
		if to.parent == from {
			d = elbow(from, to)
		}
		fmt.Fprintf(out, `<path class="impact%s" d="%s"/>`+"\n", dashed(s.inferred), d)
	}
	cards()
	for _, c := range sc.cards {
		if m, found := marks[c]; found {
			fmt.Fprintf(out, `<rect class="impact%s" x="%d" y="%d" width="%d" height="%d" rx="8"/><text class="impact" x="%d" y="%d">%s</text>`+"\n",
				dashed(m.inferred), c.x-2, c.y-2, cardWidth+4, cardHeight+4, c.x+4, c.y-5, svgText(m.text))
		}
	}
}

// isBelow reports whether a card hangs below another one.
func (c *svgCard) isBelow(top *svgCard) bool {
	for p := c.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}

func dashed(inferred bool) string {
	if inferred {
		return " inferred"
	}
	return ""
}

// ref is a node as Kind.group/namespace/name.
func (sc *svgScene) ref(node int) string {
	n := sc.state.Nodes[node]
	kind := sc.state.Kinds[n.Kind]
	return strings.Join(filled(strings.Join(filled(kind.Kind, kind.Group), "."), sc.state.Namespaces[n.Namespace], n.Name), "/")
}
