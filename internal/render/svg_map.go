package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/stackmap"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// mapStyle has the colours of the page (ui/src/base.css, map.css).
const mapStyle = `text{font:12px system-ui,sans-serif;fill:#182130}
.ground{fill:#f7f8fa}.region{fill:#eef1f5;stroke:#dce2ea}.card{fill:#fff;stroke:#cbd3de}.part{fill:#f0eff8;stroke:#867fb8}.broken{stroke:#d9483b;stroke-width:1.5}
.name{font-size:16px;font-weight:650}.title{font-size:18px;font-weight:600}.strong{font-weight:650}.faint{fill:#556173}.small{font-size:11px}
.line{fill:none;stroke:#7a879a;stroke-width:1.5}.halo{fill:none;stroke:#eef1f5;stroke-width:5}.inferred{stroke-dasharray:6 4}.arrow{fill:#7a879a}
.cause{fill:#fcecea}.good{fill:#39684e}.info{fill:#1f5aa6}.bad{fill:#b42318}.none{fill:#556173}
.dot{fill:none;stroke:#5f9177;stroke-width:8;stroke-linecap:round}.ill{fill:none;stroke:#d9483b;stroke-width:7;stroke-linecap:square}.own{fill:#5f7391}.share{fill:#b9c5d6}
@media (prefers-color-scheme:dark){text{fill:#e5eaf1}
.ground{fill:#0f141b}.region{fill:#151c26;stroke:#253040}.card{fill:#1b232e;stroke:#344153}.part{fill:#22233b;stroke:#7f7ab8}.broken{stroke:#e5675b}
.faint,.none{fill:#a3afbf}.line{stroke:#75849a}.halo{stroke:#151c26}.arrow{fill:#75849a}
.cause{fill:#301c20}.good{fill:#8dbfa2}.info{fill:#8ab8f5}.bad{fill:#ff9388}.dot{stroke:#6c9f83}.ill{stroke:#e5675b}.own{fill:#8497b3}.share{fill:#435370}}`

// mapDots are the most pods that a card shows one by one.
const mapDots = 12

// svgMap draws the map of the stacks as the page does.
type svgMap struct {
	*bufio.Writer
	state  *uistate.State
	stacks *stackmap.Map
	top    int64 // the largest cost of a stack
}

func drawMap(w io.Writer, p *uistate.State) error {
	m := &svgMap{Writer: bufio.NewWriter(w), state: p, stacks: stackmap.New(p), top: 1}
	for _, c := range m.stacks.Cards {
		if c.Stack != nil && c.Cost != nil {
			m.top = max(m.top, *c.Cost)
		}
	}
	at := m.stacks.Place()
	width, height := max(int(at.Width), svgLeast)+2*svgMargin, int(at.Height)+svgHead+40+2*svgMargin
	fmt.Fprintf(m, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="sysop-title" aria-describedby="sysop-desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(m, "<title id=\"sysop-title\">%s</title>\n<desc id=\"sysop-desc\">%s</desc>\n<style>%s</style>\n", svgText(p.Title), svgText(m.described()), mapStyle)
	fmt.Fprintf(m, `<rect class="ground" width="%d" height="%d"/><text class="title" x="%d" y="%d">%s</text>`, width, height, svgMargin, svgMargin+18, svgCut(p.Title, 80))
	fmt.Fprintf(m, `<text class="faint" x="%d" y="%d">%s</text>`+"\n", svgMargin, svgMargin+38, svgCut(strings.Join(filled(p.Source, p.At, svgPrices(p)), " · "), 100))
	fmt.Fprintf(m, `<g transform="translate(%d %d)">`+"\n", svgMargin, svgMargin+svgHead)
	for _, r := range at.Regions {
		m.region(r)
	}
	for i, l := range m.stacks.Lines {
		m.line(l, at.Paths[i])
	}
	for i, c := range m.stacks.Cards {
		m.card(c, at.Boxes[i])
	}
	fmt.Fprintln(m, "</g>")
	fmt.Fprintf(m, `<g transform="translate(%d %d)"><path class="line" d="M0 10h36"/><text class="faint" x="46" y="14">needs, as its spec says</text><path class="line inferred" d="M220 10h36"/><text class="faint" x="266" y="14">needs, inferred</text><rect class="part" x="400" y="2" width="36" height="16" rx="4"/><text class="faint" x="446" y="14">shared: stands once, its cost is split</text></g>`+"\n", svgMargin, height-svgMargin-14)
	fmt.Fprintln(m, "</svg>")
	return m.Flush()
}

func (m *svgMap) region(r stackmap.Region) {
	name := r.Namespace
	if name == "" {
		name = "For the whole cluster"
	}
	stacks, broken := 0, 0
	for _, i := range r.Cards {
		if c := m.stacks.Cards[i]; c.Stack != nil {
			stacks++
			if c.Health > trouble {
				broken++
			}
		}
	}
	summary := `<tspan class="faint">shared</tspan>`
	switch {
	case broken > 0:
		summary = fmt.Sprintf(`<tspan class="bad">✖ %d of %d</tspan>`, broken, stacks)
	case stacks == 1:
		summary = `<tspan class="faint">1 stack</tspan>`
	case stacks > 0:
		summary = fmt.Sprintf(`<tspan class="faint">%d stacks</tspan>`, stacks)
	}
	fmt.Fprintf(m, `<rect class="region" x="%g" y="%g" width="%g" height="%g" rx="14"/><text class="strong" x="%g" y="%g">%s %s</text>`+"\n", r.X, r.Y, r.Width, r.Height, r.X+20, r.Y+24, svgCut(name, 40), summary)
}

func (m *svgMap) line(l *stackmap.Line, p stackmap.Path) {
	if l.Optional {
		return
	}
	class, tip := "line", 7.0
	if l.Inferred {
		class = "line inferred"
	}
	if p.Back {
		tip = -7
	}
	first := l.Evidence[0]
	fmt.Fprintf(m, `<path class="halo" d="%s"/><path class="%s" d="%s"><title>%s</title></path><path class="arrow" d="M%g %gl%g -4v8Z"/>`+"\n", p.D, class, p.D,
		svgText(fmt.Sprintf("%s needs %s: %s", m.ref(first.Node), m.ref(first.Edge.To), first.Edge.Why)), p.X, p.Y, -tip)
	anchor := "end"
	if p.Back {
		anchor = "start"
	}
	if port := l.Port(); port != "" {
		fmt.Fprintf(m, `<text class="small faint" x="%g" y="%g" text-anchor="%s">%s</text>`+"\n", p.X-1.5*tip, p.Y-4, anchor, svgCut(port, 14))
	}
}

// ref is KIND/NAME.
func (m *svgMap) ref(node int) string {
	n := m.state.Nodes[node]
	return m.state.Kinds[n.Kind].Kind + "/" + n.Name
}

// title is the kind and the name of a card.
func (m *svgMap) title(c *stackmap.Card) (kind, name string) {
	if c.Stack == nil {
		kind, name, _ = strings.Cut(m.ref(c.Node), "/")
		return kind, name
	}
	parts := strings.Split(c.Key, "/")
	kind, _, _ = strings.Cut(parts[0], ".")
	if len(parts) == 1 {
		return "", c.Key
	}
	return kind, parts[len(parts)-1]
}

func (m *svgMap) card(c *stackmap.Card, b stackmap.Box) {
	kind, name := m.title(c)
	class, height := "card", b.Height
	bad := c.Health > trouble
	switch {
	case c.Stack == nil:
		class = "card part"
		fmt.Fprintf(m, `<rect class="%s" x="%g" y="%g" width="%g" height="%g" rx="8"/>`, class, b.X+4, b.Y+4, b.Width, height)
	case !bad:
		height = 112
	}
	if bad {
		class += " broken"
	}
	fmt.Fprintf(m, `<g transform="translate(%g %g)"><rect class="%s" width="%g" height="%g" rx="8"/><text class="faint" x="12" y="21">%s</text><text class="name" x="12" y="43">%s</text>`, b.X, b.Y, class, b.Width, height, svgCut(kind, 24), svgCut(name, 27))
	if c.Cost != nil {
		fmt.Fprintf(m, `<text class="strong" x="%g" y="21" text-anchor="end">%s</text>`, b.Width-12, cents(*c.Cost))
	}
	if h := svgHealth[c.Health]; h.word != "" {
		fmt.Fprintf(m, `<text class="strong %s" x="12" y="66">%s %s</text>`, h.tone, h.glyph, h.word)
	}
	m.pods(c, b.Width)
	if c.Stack == nil {
		m.payers(c, b.Width)
	} else {
		m.foot(c, height)
		if bad {
			m.cause(c, b.Width)
		}
	}
	fmt.Fprintln(m, "</g>")
}

func (m *svgMap) pods(c *stackmap.Card, width float64) {
	if c.Stack == nil {
		fmt.Fprintf(m, `<text class="faint" x="%g" y="66" text-anchor="end">%d need it</text>`, width-12, c.Users)
		return
	}
	if c.Pods == 0 {
		return
	}
	fmt.Fprintf(m, `<text x="%g" y="66" text-anchor="end">%d/%d</text>`, width-12, c.Well, c.Pods)
	for i := 0; i < c.Pods && c.Pods <= mapDots; i++ {
		class := "dot"
		if i >= c.Well {
			class = "ill"
		}
		fmt.Fprintf(m, `<path class="%s" d="M%g 62h0"/>`, class, width-50-float64(12*(c.Pods-1-i)))
	}
}

func (m *svgMap) payers(c *stackmap.Card, width float64) {
	for i, p := range c.Payers[:min(len(c.Payers), stackmap.Listed)] {
		y := stackmap.PayersAt + i*stackmap.RowHeight + 13
		fmt.Fprintf(m, `<text class="small" x="12" y="%d">%s</text><text class="small" x="%g" y="%d" text-anchor="end">%s</text>`, y, svgCut(p.Stack[strings.LastIndex(p.Stack, "/")+1:], 24), width-12, y, cents(p.Cost))
	}
	if more := len(c.Payers) - stackmap.Listed; more > 0 {
		fmt.Fprintf(m, `<text class="small" x="12" y="%d">and %d more</text>`, stackmap.PayersAt+stackmap.Listed*stackmap.RowHeight+13, more)
	}
}

// foot has the cost as a bar: own, and shares of what others need too.
func (m *svgMap) foot(c *stackmap.Card, height float64) {
	if c.Cost == nil {
		return
	}
	part := func(v int64) float64 { return float64(max(v, 0)) / float64(m.top) * 90 }
	own, text := *c.Cost-c.Shared, "all its own"
	if c.Shared > 0 {
		text = cents(own) + " own + " + cents(c.Shared) + " shared"
	}
	fmt.Fprintf(m, `<rect class="own" x="12" y="%g" width="%.1f" height="6" rx="2"/><rect class="share" x="%.1f" y="%g" width="%.1f" height="6" rx="2"/><text class="small faint" x="256" y="%g" text-anchor="end">%s</text>`,
		height-20, part(own), 12+part(own), height-20, part(c.Shared), height-13, text)
}

func (m *svgMap) cause(c *stackmap.Card, width float64) {
	text, context := m.firstCause(c)
	if text != "" {
		fmt.Fprintf(m, `<rect class="cause" x="1" y="78" width="%g" height="46"/><text class="strong bad" x="12" y="97">%s</text><text x="12" y="114">%s</text>`, width-2, svgCut(text, 32), svgCut(context, 34))
	}
}

// firstCause is the first cause of a stack, and how it concerns the stack.
func (m *svgMap) firstCause(c *stackmap.Card) (text, context string) {
	causes := slices.DeleteFunc(slices.Clone(c.Stack.Causes), func(x uistate.Cause) bool { return m.state.Nodes[x.Node] == nil })
	if len(causes) == 0 {
		return "", ""
	}
	first := causes[0]
	n, ref, more := m.state.Nodes[first.Node], m.ref(first.Node), ""
	if len(causes) > 1 {
		more = fmt.Sprintf(", and %d more", len(causes)-1)
	}
	context = n.Message
	if first.Of >= 0 && m.state.Nodes[first.Of] != nil {
		context = "needed by " + m.ref(first.Of)
	}
	switch {
	case n.State == "missing":
		return ref + " is missing" + more, context
	case n.Reason != "":
		return n.Reason + more, ref
	}
	return svgHealth[n.Health].word + more, ref
}

// described tells the map in words.
func (m *svgMap) described() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Stacks: %d.", len(m.state.Stacks))
	for _, c := range m.stacks.Cards {
		_, name := m.title(c)
		if c.Stack == nil {
			fmt.Fprintf(&b, " %s: %d need it.", m.ref(c.Node), c.Users)
			continue
		}
		cause := ""
		if c.Health > trouble {
			cause, _ = m.firstCause(c)
		}
		cost := ""
		if c.Cost != nil {
			cost = strings.TrimSpace(cents(*c.Cost) + " " + m.state.Currency)
		}
		fmt.Fprintf(&b, " %s: %s.", name, strings.Join(filled(svgHealth[c.Health].word, cause, cost), ", "))
	}
	return b.String()
}

// cents writes hundredths.
func cents(c int64) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}
