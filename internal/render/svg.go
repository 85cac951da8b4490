package render

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	places "github.com/kubectl-sysop/kubectl-sysop/internal/layout"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// svgHealth says health by glyph and word, by its number in a UIState (ui/src/words.ts).
var svgHealth = [...]struct{ glyph, word, tone string }{
	{"", "", "none"},
	{"✔", "Healthy", "good"},
	{"‖", "Suspended", "none"},
	{"?", "Unknown", "none"},
	{"◌", "Progressing", "info"},
	{"○", "Missing", "bad"},
	{"✖", "Degraded", "bad"},
}

var svgRelations = [...]string{"", "owns", "needs", "serves"}

// svgVias are the ways an edge is known, as they are in the legend.
var svgVias = [...]string{"owner", "label", "annotation", "spec", "env"}

// svgStyle has dashes and colours of the page (ui/src/graph_draw.ts, page.css, graph.css). There
// are no variables: not all that draw SVG know them.
const svgStyle = `text{font:13px system-ui,sans-serif;fill:#14202e}
.ground{fill:#f5f7fa}.card{fill:#fff;stroke:#c3ccd6}.fold{stroke-width:3}
.name{font-weight:600}.small{font-size:12px}.faint{fill:#526070}.head{font-size:18px;font-weight:600}
.edge{fill:none;stroke-width:1.5}.cross{stroke-opacity:.4}
.owns{stroke:#68788a}.needs{stroke:#7038a8}.serves{stroke:#0a6b70}
.label{stroke-dasharray:7 4}.annotation{stroke-dasharray:2 4}.spec{stroke-dasharray:10 3 2 3}.env{stroke-dasharray:5 2}
.good{fill:#39684e}.info{fill:#0b5cad}.bad{fill:#b3141f}.none{fill:#526070}
.impact{fill:none;stroke:#b0135f;stroke-width:2}.inferred{stroke-dasharray:6 4}text.impact{fill:#b0135f;stroke:none;font-size:12px;font-weight:600}
@media (prefers-color-scheme:dark){text{fill:#e7edf4}
.ground{fill:#18212d}.card{fill:#0f1620;stroke:#3a4757}.faint,.none{fill:#a3b1c0}
.owns{stroke:#8796a8}.needs{stroke:#c79bf5}.serves{stroke:#5cc8cc}
.good{fill:#8dbfa2}.info{fill:#7db8ff}.bad{fill:#ff8a8f}
.impact{stroke:#ff7eb6}text.impact{fill:#ff7eb6}}`

// Room around a drawing, and above the cards of a stack.
const (
	svgMargin  = 24
	svgHead    = 64 // of the whole
	svgSection = 44 // of a stack
	svgLegend  = 56
	svgLeast   = 920 // so wide that the legend has room
)

// svg draws a UIState as ui/ does: the map of its stacks where the page opens with it, and else each
// stack.
func svg(w io.Writer, a view.Output, _ Options) error {
	p := a.UIState
	if p.View == "stacks" {
		return drawMap(w, p)
	}
	var scenes []*svgScene
	var sections []*places.Node
	refs := references(p)
	for i := range p.Stacks {
		sc := newScene(p, &p.Stacks[i], refs)
		scenes = append(scenes, sc)
		sections = append(sections, &places.Node{Width: max(sc.width, 3*cardWidth), Height: svgSection + sc.height})
	}
	placed := places.Layout(sections, places.Options{Apart: 64, Aspect: 160})
	width, height := max(placed.Width, svgLeast)+2*svgMargin, placed.Height+svgHead+svgLegend+2*svgMargin

	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="sysop-title" aria-describedby="sysop-desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(out, "<title id=\"sysop-title\">%s</title>\n<desc id=\"sysop-desc\">%s</desc>\n", svgText(p.Title), svgText(described(scenes)))
	fmt.Fprintf(out, "<style>%s</style>\n", svgStyle)
	fmt.Fprintf(out, `<rect class="ground" width="%d" height="%d"/>`+"\n", width, height)
	fmt.Fprintf(out, `<text class="head" x="%d" y="%d">%s</text>`+"\n", svgMargin, svgMargin+18, svgCut(p.Title, 80))
	fmt.Fprintf(out, `<text class="faint" x="%d" y="%d">%s</text>`+"\n", svgMargin, svgMargin+38, svgCut(strings.Join(filled(p.Source, p.At, svgPrices(p)), " · "), 100))
	for i, sc := range scenes {
		fmt.Fprintf(out, `<g transform="translate(%d %d)">`+"\n", svgMargin+placed.Boxes[i].X, svgMargin+svgHead+placed.Boxes[i].Y)
		sc.write(out)
		fmt.Fprintln(out, "</g>")
	}
	legend(out, svgMargin, height-svgLegend)
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// svgPrices names the price book in words.
func svgPrices(p *uistate.State) string {
	if p.Prices == "default" {
		return "OpenCost's public prices"
	}
	return p.Prices
}

// write draws a stack: its head, lines, and the cards over them.
func (sc *svgScene) write(out *bufio.Writer) {
	h := svgHealth[sc.stack.Health]
	fmt.Fprintf(out, `<text class="name" x="0" y="14">%s</text>`+"\n", svgCut(sc.stack.Name, 90))
	summary := filled(counted(sc.stack.Objects), sc.total())
	fmt.Fprintf(out, `<text x="0" y="32"><tspan class="%s">%s</tspan> <tspan class="faint">%s</tspan></text>`+"\n", h.tone, svgText(strings.TrimSpace(h.glyph+" "+h.word)), svgText(strings.Join(summary, " · ")))
	fmt.Fprintf(out, `<g transform="translate(0 %d)">`+"\n", svgSection)
	for _, l := range sc.lines {
		fmt.Fprintf(out, `<path class="edge cross %s %s" d="%s"><title>%s</title></path>`+"\n", relation(l.edge), via(l.edge), bend(l.from, l.to), svgText(sc.says(l)))
	}
	for _, c := range sc.cards {
		if c.parent != nil {
			e := sc.hanging(c)
			fmt.Fprintf(out, `<path class="edge %s %s" d="%s"/>`+"\n", relation(e), via(e), elbow(c.parent, c))
			if number := e.Port[strings.LastIndexByte(e.Port, ' ')+1:]; number != "" && !strings.HasSuffix(e.Port, " more") {
				fmt.Fprintf(out, `<text class="small faint" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", c.x-3, c.y+cardHeight/2-4, svgText(number))
			}
		}
	}
	sc.impact(out, func() {
		for _, c := range sc.cards {
			sc.card(out, c)
		}
	})
	fmt.Fprintln(out, "</g>")
}

// card draws a card. Its text has the columns that a wide font has room for.
func (sc *svgScene) card(out *bufio.Writer, c *svgCard) {
	kind, name := sc.names(c)
	own, parts := sc.health(c), 0
	if c.fold == nil {
		parts = c.place.Below
	}
	h, cost := svgHealth[own], sc.money(c.cost)
	class := "card"
	if c.fold != nil {
		class = "card fold"
	}
	if c.place.Shared {
		kind += " · shared"
	}
	if c.hub != "" {
		kind += " · " + c.hub
	}
	fmt.Fprintf(out, `<g transform="translate(%d %d)"><title>%s</title>`, c.x, c.y, svgText(sc.full(c)))
	fmt.Fprintf(out, `<rect class="%s" width="%d" height="%d" rx="6"/><rect class="%s" width="5" height="%d" rx="2"/>`, class, cardWidth, cardHeight, h.tone, cardHeight)
	fmt.Fprintf(out, `<text class="faint" x="14" y="20">%s</text>`, svgCut(kind, 26-width(cost)))
	if cost != "" {
		fmt.Fprintf(out, `<text x="%d" y="20" text-anchor="end">%s</text>`, cardWidth-9, svgText(cost))
	}
	fmt.Fprintf(out, `<text class="name" x="14" y="41">%s</text><text class="small" x="14" y="62">`, svgCut(name, 23))
	if h.word != "" {
		fmt.Fprintf(out, `<tspan class="%s">%s %s</tspan>`, h.tone, h.glyph, h.word)
	}
	if c.fold == nil && sc.optional(c.node) {
		fmt.Fprint(out, `<tspan class="faint">optional, missing</tspan>`)
	}
	reason := sc.state.Nodes[sc.worst(c)].Reason
	switch {
	case parts > max(own, 1):
		b := svgHealth[parts]
		fmt.Fprintf(out, ` <tspan class="%s">below: %s %s</tspan>`, b.tone, b.glyph, b.word)
	case own >= trouble && reason != "":
		fmt.Fprintf(out, ` <tspan class="faint">%s</tspan>`, svgCut(reason, 24-width(h.word)))
	}
	fmt.Fprintln(out, `</text></g>`)
}

// worst is the node of a card that is worst, and the first where all are well.
func (sc *svgScene) worst(c *svgCard) int {
	worst := c.node
	for _, n := range c.fold {
		if sc.state.Nodes[n].Health > sc.state.Nodes[worst].Health {
			worst = n
		}
	}
	return worst
}

// full is all that a card says, uncut.
func (sc *svgScene) full(c *svgCard) string {
	kind, name := sc.names(c)
	n := sc.state.Nodes[sc.worst(c)]
	title := kind + " " + name
	if c.fold != nil {
		title = name
	}
	text := []string{title, svgHealth[sc.health(c)].word, n.Reason, n.Message, sc.money(c.cost)}
	if sc.health(c) < trouble {
		text[2], text[3] = "", ""
	}
	return strings.Join(filled(text...), ", ")
}

// says tells an edge in words.
func (sc *svgScene) says(l svgLine) string {
	_, from := sc.names(l.from)
	_, to := sc.names(l.to)
	text := fmt.Sprintf("%s %s %s, by %s", from, relation(l.edge), to, via(l.edge))
	if l.edge.Why != "" {
		text += ": " + l.edge.Why
	}
	if l.edge.Port != "" {
		text += ", port " + l.edge.Port
	}
	if l.edge.Inferred {
		text += " (inferred)"
	}
	return text
}

// money is hundredths, with the currency.
func (sc *svgScene) money(c *int64) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace(cents(*c) + " " + sc.state.Currency)
}

// svgSharing says what a cost means that is not shared with all other stacks (ui/src/words.ts).
var svgSharing = map[string]string{"alone": " alone, for all that it needs", "requested": ", shared among the requested stacks", "namespace": ", shared within the namespace"}

// total is what the stack costs, and among which stacks this is shared if not among all.
func (sc *svgScene) total() string {
	cost := sc.money(sc.stack.Cost)
	if cost == "" {
		return ""
	}
	return cost + svgSharing[sc.state.SharedAmong]
}

func described(scenes []*svgScene) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Stacks: %d.", len(scenes))
	for _, sc := range scenes {
		fmt.Fprintf(&b, " %s: %s.", sc.stack.Name, strings.Join(filled(svgHealth[sc.stack.Health].word, counted(sc.stack.Objects), sc.total()), ", "))
		for _, c := range sc.selectCards(5) {
			fmt.Fprintf(&b, " %s.", sc.full(c))
		}
	}
	return b.String()
}

// relation and via become classes, and so are of those that there are.
func relation(e uistate.Edge) string {
	if e.Relation > 0 && e.Relation < len(svgRelations) {
		return svgRelations[e.Relation]
	}
	return "owns"
}

func via(e uistate.Edge) string {
	for _, v := range svgVias {
		if e.Via == v {
			return v
		}
	}
	return "spec"
}

// elbow leads from the right of a card to the left of its child.
func elbow(p, c *svgCard) string {
	x, y, to := p.x+cardWidth, p.y+cardHeight/2, c.y+cardHeight/2
	if y == to {
		return fmt.Sprintf("M%d %dH%d", x, y, c.x)
	}
	r := min(8, max(to-y, y-to))
	if to < y {
		r = -r
	}
	return fmt.Sprintf("M%d %dh28V%dq0 %d %d %dH%d", x, y, to-r, r, max(r, -r), r, c.x)
}

// bend is a curve between two cards wherever they are.
func bend(from, to *svgCard) string {
	x1, x2, by1, by2 := from.x+cardWidth, to.x+cardWidth, 1, 1
	switch {
	case x1 <= to.x:
		x2, by2 = to.x, -1
	case x2 <= from.x:
		x1, by1 = from.x, -1
	}
	reach := min(max(40, max(x2-x1, x1-x2)/2), 160)
	y1, y2 := from.y+cardHeight/2, to.y+cardHeight/2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+reach*by1, y1, x2+reach*by2, y2, x2, y2)
}

func legend(out *bufio.Writer, x, y int) {
	fmt.Fprintf(out, `<g transform="translate(%d %d)">`, x, y)
	for i, h := range svgHealth[1:] {
		fmt.Fprintf(out, `<text class="%s" x="%d" y="14">%s %s</text>`, h.tone, i*120, h.glyph, h.word)
	}
	at := 0
	// Relations differ in colour, how they are known in dashes.
	for _, r := range svgRelations[1:] {
		fmt.Fprintf(out, `<path class="edge %s" d="M%d 34h32"/><text x="%d" y="38">%s</text>`, r, at, at+38, r)
		at += 90
	}
	at += 24
	for _, v := range svgVias {
		fmt.Fprintf(out, `<path class="edge owns %s" d="M%d 34h32"/><text x="%d" y="38">via %s</text>`, v, at, at+38, v)
		at += 38 + 8*len("via "+v) + 16
	}
	fmt.Fprintln(out, `</g>`)
}

func counted(objects int) string {
	if objects == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", objects)
}

func filled(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// svgCut is text of so many columns at most.
func svgCut(s string, most int) string { return svgText(cutMiddle(clean(s), max(most, 4))) }

// svgText makes text of a cluster safe in XML: what XML may not hold is shown as an escape.
func svgText(s string) string {
	var b strings.Builder
	// A Builder has no errors.
	_ = xml.EscapeText(&b, []byte(clean(s)))
	return b.String()
}
