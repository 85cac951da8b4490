package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/stackmap"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// mapStyle has the colours of the page (ui/src/base.css, map.css).
const mapStyle = `text{font:12px system-ui,sans-serif;fill:#182130}
.ground{fill:#f7f8fa}.region{fill:#eef1f5;stroke:#dce2ea}.card{fill:#fff;stroke:#cbd3de}.part{fill:#f0eff8;stroke:#867fb8}.broken{stroke:#d9483b;stroke-width:1.5}
.name{font-size:16px;font-weight:650}.long{font-size:12px}.title{font-size:18px;font-weight:600}.strong{font-weight:650}.faint{fill:#556173}.small{font-size:11px}.port{font-size:10px;paint-order:stroke;stroke:#eef1f5;stroke-width:4}
.line{fill:none;stroke:#7a879a;stroke-width:1.5}.halo{fill:none;stroke:#eef1f5;stroke-width:5}.inferred{stroke-dasharray:6 4}.arrow{fill:#7a879a}
.cause{fill:#fcecea}.good{fill:#39684e}.info{fill:#1f5aa6}.bad{fill:#b42318}.none{fill:#556173}
.dot{fill:none;stroke:#5f9177;stroke-width:8;stroke-linecap:round}.ill{fill:none;stroke:#d9483b;stroke-width:7;stroke-linecap:square}.own{fill:#5f7391}.share{fill:#b9c5d6}.toned{fill:#fff}.edge{fill:#cbd3de}
@media (prefers-color-scheme:dark){text{fill:#e5eaf1}
.ground{fill:#0f141b}.region{fill:#151c26;stroke:#253040}.card{fill:#1b232e;stroke:#344153}.part{fill:#22233b;stroke:#7f7ab8}.broken{stroke:#e5675b}
.faint,.none{fill:#a3afbf}.line{stroke:#75849a}.halo,.port{stroke:#151c26}.arrow{fill:#75849a}
.cause{fill:#301c20}.good{fill:#8dbfa2}.info{fill:#8ab8f5}.bad{fill:#ff9388}.dot{stroke:#6c9f83}.ill{stroke:#e5675b}.own{fill:#8497b3}.share{fill:#435370}.toned{fill:#1b232e}.edge{fill:#344153}}`

const (
	// mapDots are the most pods that a card shows one by one.
	mapDots = 12
	// mapTone is how much of the colour of costs the most expensive card has, beside a strip of so many
	// pixels that has all of it.
	mapTone, mapStrip = 0.22, 6
)

// svgMap draws the map of the stacks as the page does.
type svgMap struct {
	*bufio.Writer
	state  *uistate.State
	choice stackmap.Choice
	stacks *stackmap.Map
	top    int64 // the largest cost of a card
}

func drawMap(w io.Writer, p *uistate.State) error {
	choice, err := stackmap.ParseChoice(p.Address)
	if err != nil {
		return err
	}
	m := &svgMap{Writer: bufio.NewWriter(w), state: p, choice: choice, stacks: stackmap.New(p).Shown(p, choice), top: 1}
	if len(m.stacks.Cards) == 0 && len(p.Stacks) > 0 {
		return fmt.Errorf("there is no stack to draw at %q: leave out its namespaces or System apps", p.Address)
	}
	for _, c := range m.stacks.Cards {
		if c.Cost != nil {
			m.top = max(m.top, *c.Cost)
		}
	}
	at := m.stacks.Place()
	width, height := max(int(at.Width), svgLeast)+2*svgMargin, int(at.Height)+svgHead+40+2*svgMargin
	fmt.Fprintf(m, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="sysop-title" aria-describedby="sysop-desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(m, "<title id=\"sysop-title\">%s</title>\n<desc id=\"sysop-desc\">%s</desc>\n<style>%s</style>\n", svgText(p.Title), svgText(m.described()), mapStyle)
	fmt.Fprintf(m, `<rect class="ground" width="%d" height="%d"/><text class="title" x="%d" y="%d">%s</text>`, width, height, svgMargin, svgMargin+18, svgCut(p.Title, 80))
	fmt.Fprintf(m, `<text class="faint" x="%d" y="%d">%s</text>`+"\n", svgMargin, svgMargin+38, svgCut(strings.Join(filled(m.restriction("namespace ", choice.Namespaces), m.restriction("System app ", choice.Apps), p.Source, p.At, svgPrices(p)), " · "), 100))
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
	fmt.Fprintf(m, `<g transform="translate(%d %d)"><path class="line" d="M0 10h36"/><text class="faint" x="46" y="14">needs, as its spec says</text><path class="line inferred" d="M220 10h36"/><text class="faint" x="266" y="14">needs, inferred</text><rect class="part" x="400" y="2" width="36" height="16" rx="4"/><text class="faint" x="446" y="14">shared: stands once, its cost is split</text>`, svgMargin, height-svgMargin-14)
	if choice.Tone {
		fmt.Fprintf(m, `<rect class="toned" x="680" y="2" width="36" height="16"/><rect class="own" x="680" y="2" width="36" height="16" fill-opacity="%g"/><rect class="own" x="680" y="2" width="%d" height="16"/><text class="faint" x="726" y="14">%s</text>`, mapTone, mapStrip, svgText(strings.TrimSpace("darker: costs more, up to "+p.Currency+" "+cents(m.top))))
	}
	fmt.Fprintln(m, "</g>")
	fmt.Fprintln(m, "</svg>")
	return m.Flush()
}

// restriction says which stacks are shown, if not all are.
func (m *svgMap) restriction(kind string, chosen []string) string {
	if len(chosen) == 0 {
		return ""
	}
	return kind + strings.Join(chosen, ", ")
}

func (m *svgMap) region(r stackmap.Region) {
	name := r.Name
	switch {
	case name == "" && m.choice.ByApp:
		name = "Of no System app"
	case name == "":
		name = "For the whole cluster"
	}
	stacks, broken, priced := 0, 0, false
	var sum int64
	for _, i := range r.Cards {
		c := m.stacks.Cards[i]
		if c.Stack == nil {
			continue
		}
		stacks++
		if c.Health > trouble {
			broken++
		}
		if c.Cost != nil {
			priced, sum = true, sum+*c.Cost
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
	fmt.Fprintf(m, `<rect class="region" x="%g" y="%g" width="%g" height="%g" rx="14"/><text class="strong" x="%g" y="%g">%s %s</text>`, r.X, r.Y, r.Width, r.Height, r.X+20, r.Y+24, svgCut(name, 30), summary)
	if priced {
		fmt.Fprintf(m, `<text class="faint" x="%g" y="%g" text-anchor="end">%s</text>`, r.X+r.Width-20, r.Y+24, svgText(strings.TrimSpace(m.state.Currency+" "+cents(sum))))
	}
	fmt.Fprintln(m)
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
		fmt.Fprintf(m, `<text class="port faint" x="%g" y="%g" text-anchor="%s">%s</text>`+"\n", p.X-1.5*tip, p.Y-4, anchor, svgText(port))
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
	if m.choice.Tone {
		class += " toned"
	}
	fmt.Fprintf(m, `<g transform="translate(%g %g)"><rect class="%s" width="%g" height="%g" rx="8"/>`, b.X, b.Y, class, b.Width, height)
	m.tone(c, b.Width, height)
	size := "name"
	if len(name) > 24 {
		size = "name long"
	}
	fmt.Fprintf(m, `<text class="faint" x="12" y="21">%s</text><text class="%s" x="12" y="43">%s</text>`, svgCut(kind, 24), size, svgCut(name, 30))
	if c.Cost != nil {
		fmt.Fprintf(m, `<text class="strong" x="%g" y="21" text-anchor="end">%s</text>`, b.Width-12, cents(*c.Cost))
	} else if c.Stack != nil {
		fmt.Fprintf(m, `<text class="faint" x="%g" y="21" text-anchor="end">no cost</text>`, b.Width-12)
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

// tone has a card darker the more it costs, with a strip at its left.
func (m *svgMap) tone(c *stackmap.Card, width, height float64) {
	if !m.choice.Tone {
		return
	}
	share := 0.0
	if c.Cost != nil {
		share = float64(max(*c.Cost, 0)) / float64(m.top)
	}
	strip := fmt.Sprintf("M8 .75A7.25 7.25 0 0 0 .75 8V%gA7.25 7.25 0 0 0 8 %gQ%d %g %d %gV8Q%d 2 8 .75Z", height-8, height-.75, mapStrip, height-2, mapStrip, height-8, mapStrip)
	fmt.Fprintf(m, `<rect class="own" x=".75" y=".75" width="%g" height="%g" rx="7.25" fill-opacity="%.3f"/><path class="edge" d="%s"/><path class="own" d="%s" fill-opacity="%.3f"/>`, width-1.5, height-1.5, mapTone*share, strip, strip, share)
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
		if c.Stack.Pods != nil && c.Pods == 0 {
			fmt.Fprintf(m, `<text class="small faint" x="256" y="%g" text-anchor="end">no pod runs now</text>`, height-13)
		}
		return
	}
	part := func(v int64) float64 { return float64(max(v, 0)) / float64(m.top) * 90 }
	own, text := *c.Cost-c.Shared, "all its own"
	switch {
	case c.Shared > 0:
		text = cents(own) + " own + " + cents(c.Shared) + " shared"
	case m.state.SharedAmong == "alone":
		text = "all that it needs"
	}
	fmt.Fprintf(m, `<rect class="own" x="12" y="%g" width="%.1f" height="6" rx="2"/><rect class="share" x="%.1f" y="%g" width="%.1f" height="6" rx="2"/><text class="small faint" x="256" y="%g" text-anchor="end">%s</text>`,
		height-20, part(own), 12+part(own), height-20, part(c.Shared), height-13, text)
}

func (m *svgMap) cause(c *stackmap.Card, width float64) {
	text, context := m.firstCause(c)
	x := 1.0
	if m.choice.Tone {
		x = mapStrip
	}
	if text != "" {
		fmt.Fprintf(m, `<rect class="cause" x="%g" y="78" width="%g" height="46"/><text class="strong bad" x="12" y="97">%s</text><text x="12" y="114">%s</text>`, x, width-1-x, svgCut(text, 32), svgCut(context, 34))
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
	stacks := slices.DeleteFunc(slices.Clone(m.stacks.Cards), func(c *stackmap.Card) bool { return c.Stack == nil })
	fmt.Fprintf(&b, "Stacks: %d.", len(stacks))
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

// cents writes hundredths, with commas as the page has them.
func cents(c int64) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	whole := strconv.FormatInt(c/100, 10)
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return fmt.Sprintf("%s%s.%02d", sign, whole, c%100)
}
