package stackmap

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// The sizes of cards and the distances between them, in pixels. Each stack has the room of a broken
// one, so that news does not move a card.
const (
	StackWidth   = 268
	PartWidth    = 256
	stackHeight  = 112 // of a healthy one
	brokenHeight = 160
	between      = 100 // two columns, for lines
	gap          = 20
	inside       = 20 // a region
	HeadHeight   = 38 // of a region
	bend         = 8
	lane         = 10
	// Listed is how many payers the card of a part lists.
	Listed = 5
	// PayersAt is where the first of them is.
	PayersAt  = 89
	RowHeight = 18
)

// Box is a rectangle.
type Box struct{ X, Y, Width, Height float64 }

// Region is the box of a namespace, or of a System app; of what has none, its name is empty.
type Region struct {
	Box
	Name  string
	Cards []int
}

// Path is how a line goes, as the d of an SVG path, and where it ends. Back says that it arrives at
// the right of a card.
type Path struct {
	D    string
	X, Y float64
	Back bool
}

// Placed is where all is: boxes by card, and paths by line.
type Placed struct {
	Width, Height float64
	Regions       []Region
	Boxes         []Box
	Paths         []Path
}

func height(c *Card) float64 {
	if c.Stack != nil {
		return brokenHeight
	}
	rows := min(len(c.Payers), Listed)
	if len(c.Payers) > Listed {
		rows++
	}
	switch {
	case rows > 0:
		return float64(84 + rows*RowHeight + 10)
	case c.Health > 0 || c.Pods > 0:
		return 84
	}
	return 60
}

// depths are how far each card is from one that needs nothing. Lines that would close a circle do
// not count.
func (m *Map) depths() []int {
	out, depth, open := make([][]int, len(m.Cards)), make([]int, len(m.Cards)), map[int]bool{}
	for _, l := range m.Lines {
		if !l.Optional {
			out[l.From] = append(out[l.From], l.To)
		}
	}
	for i := range depth {
		depth[i] = -1
	}
	var visit func(int) int
	visit = func(i int) int {
		if depth[i] >= 0 {
			return depth[i]
		}
		open[i] = true
		d := 0
		for _, to := range out[i] {
			if !open[to] {
				d = max(d, visit(to)+1)
			}
		}
		delete(open, i)
		depth[i] = d
		return d
	}
	for i := range m.Cards {
		visit(i)
	}
	return depth
}

// plan is the map while it is placed.
type plan struct {
	*Map
	column     []int
	left       []float64 // of each column
	names      []string  // the regions, that of what has none last
	stacks     map[string]bool
	linked     map[int]bool
	lastColumn int // the last column of regions with stacks
	// starts are the first columns that each depth of a wide map has, with the end of the last one; nil
	// for a map of few stacks, whose depths are its columns. Cards without a line are at depth home.
	starts []int
	home   int
	boxes  []Box
	rank   []int
	// used are the lines in the lanes of each column, and at each height.
	lanes    []int
	channels map[float64]int
	ways     map[[2]int]*way // by the columns of their ends
}

// Place puts the cards in columns: who needs is left of what it needs.
func (m *Map) Place() *Placed {
	p := &plan{Map: m, stacks: map[string]bool{}, linked: map[int]bool{}, boxes: make([]Box, len(m.Cards)), channels: map[float64]int{}, ways: map[[2]int]*way{}}
	for _, l := range m.Lines {
		p.linked[l.From], p.linked[l.To] = true, true
	}
	for _, c := range m.Cards {
		if c.Stack != nil {
			p.stacks[c.Group] = true
		}
		if !slices.Contains(p.names, c.Group) {
			p.names = append(p.names, c.Group)
		}
	}
	slices.SortFunc(p.names, func(a, b string) int {
		if (a == "") != (b == "") {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
	p.columns()
	p.order()
	p.widen()
	for c := range slices.Max(append(p.column, p.lastColumn)) + 2 {
		p.left = append(p.left, float64(inside+c*(StackWidth+between)))
	}
	p.lanes = make([]int, len(p.left))
	out := p.regions()
	out.Boxes, out.Paths = p.boxes, p.routes()
	return out
}

// isRight reports whether a card is in a region without stacks, which is right of all that may need it.
func (p *plan) isRight(i int) bool { return !p.stacks[p.Cards[i].Group] }

func (p *plan) columns() {
	depth := p.depths()
	last := 0
	for _, d := range depth {
		last = max(last, d)
	}
	first := last
	for i, d := range depth {
		p.column = append(p.column, last-d)
		switch {
		case p.isRight(i):
			first = min(first, last-d)
		case p.linked[i]:
			p.lastColumn = max(p.lastColumn, last-d)
		}
	}
	for i := range p.column {
		if p.isRight(i) {
			p.column[i] += p.lastColumn + 1 - first
		}
	}
}

// widen gives the depths of many stacks several columns each, so that the map is about as wide as
// high.
func (p *plan) widen() {
	depths, stacks := p.lastColumn+1, 0
	cards := make([]int, depths)
	for i, c := range p.Cards {
		if c.Stack != nil {
			stacks++
		}
		if p.linked[i] && !p.isRight(i) {
			cards[p.column[i]]++
		}
	}
	wanted := int(math.Sqrt(0.8 * float64(stacks)))
	if wanted <= depths {
		return
	}
	for d := range cards {
		if cards[d] > cards[p.home] {
			p.home = d
		}
	}
	for i := range p.Cards {
		if !p.linked[i] && !p.isRight(i) {
			cards[p.home]++
		}
	}
	wide := slices.Repeat([]int{1}, depths)
	for range wanted - depths {
		most := 0
		for d := range wide {
			if cards[d]*wide[most] > cards[most]*wide[d] {
				most = d
			}
		}
		wide[most]++
	}
	p.starts = []int{0}
	for d, n := range wide {
		p.starts = append(p.starts, p.starts[d]+n)
	}
	p.lastColumn = wanted - 1
	for i := range p.column {
		if p.isRight(i) {
			p.column[i] += wanted - depths
		}
	}
}

// order ranks the cards in their columns: by the mean of what they are linked to, a few times over.
func (p *plan) order() {
	near := make([][]int, len(p.Cards))
	for i, c := range p.Cards {
		p.rank = append(p.rank, slices.Index(p.names, c.Group)*10_000+i)
	}
	for _, l := range p.Lines {
		if !l.Optional {
			near[l.From], near[l.To] = append(near[l.From], l.To), append(near[l.To], l.From)
		}
	}
	for range 6 {
		wanted := make([]float64, len(p.Cards))
		for i := range wanted {
			wanted[i] = float64(p.rank[i])
			if len(near[i]) > 0 {
				sum := 0
				for _, j := range near[i] {
					sum += p.rank[j]
				}
				wanted[i] = float64(sum) / float64(len(near[i]))
			}
		}
		for _, mine := range p.cells() {
			var places []int
			for _, i := range mine {
				places = append(places, p.rank[i])
			}
			slices.Sort(places)
			slices.SortFunc(mine, func(a, b int) int { return cmp.Or(cmp.Compare(wanted[a], wanted[b]), a-b) })
			for n, i := range mine {
				p.rank[i] = places[n]
			}
		}
	}
}

// cells are the cards of each column of each region.
func (p *plan) cells() [][]int {
	type cell struct {
		region string
		column int
	}
	var out [][]int
	number := map[cell]int{}
	for i, c := range p.Cards {
		key := cell{c.Group, p.column[i]}
		at, ok := number[key]
		if !ok {
			at = len(out)
			number[key] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], i)
	}
	return out
}

func (p *plan) regions() *Placed {
	out, s := &Placed{}, &shelf{next: slices.Clone(p.starts)}
	right := 0.0
	for _, name := range p.names {
		r := Region{Name: name}
		for i, c := range p.Cards {
			if c.Group == name {
				r.Cards = append(r.Cards, i)
			}
		}
		from, to := 0, p.lastColumn
		switch {
		case !p.stacks[name]:
			from, to, r.Y = p.lastColumn+1, len(p.left)-2, right
			p.fill(&r, from, to)
		case p.starts == nil:
			r.Y = s.bottom
			p.fill(&r, from, to)
		default:
			from, to = p.grid(&r, s)
		}
		bottom := 0.0
		for _, i := range r.Cards {
			bottom = max(bottom, p.boxes[i].Y+p.boxes[i].Height)
		}
		r.X, r.Width, r.Height = p.left[from]-inside, p.left[to]-p.left[from]+StackWidth+2*inside, bottom-r.Y+inside
		out.Regions = append(out.Regions, r)
		if p.stacks[name] {
			s.bottom = max(s.bottom, r.Y+r.Height+gap)
		} else {
			right = r.Y + r.Height + gap
		}
	}
	out.Width, out.Height = p.left[len(p.left)-2]+StackWidth+inside, max(s.bottom, right, gap)-gap
	return out
}

// shelf is a row of regions that stand side by side in a wide map: its top, the end of its highest
// one, and the first free column of each depth.
type shelf struct {
	top, bottom float64
	next        []int
}

// grid places the cards of a region of a wide map in rows, and returns its first and last column. A
// region of one depth stands beside others; one of several is as wide as the map.
func (p *plan) grid(r *Region, s *shelf) (from, to int) {
	lists, used := make([][]int, len(p.starts)-1), []int{}
	for _, i := range r.Cards {
		d := p.home
		if p.linked[i] {
			d = p.column[i]
		}
		lists[d] = append(lists[d], i)
	}
	fits := true
	for d, list := range lists {
		slices.SortFunc(list, func(a, b int) int { return p.place(a) - p.place(b) })
		if len(list) > 0 {
			used = append(used, d)
			fits = fits && s.next[d]+min(len(list), p.starts[d+1]-p.starts[d]) <= p.starts[d+1]
		}
	}
	if len(used) > 1 || !fits {
		s.top, s.next = s.bottom, slices.Clone(p.starts)
	}
	r.Y, from, to = s.top, 0, p.lastColumn
	high := make([]float64, len(p.left))
	for _, d := range used {
		n := min(len(lists[d]), p.starts[d+1]-p.starts[d])
		for at, i := range lists[d] {
			c := s.next[d] + at%n
			width := PartWidth
			if p.Cards[i].Stack != nil {
				width = StackWidth
			}
			p.column[i], p.boxes[i] = c, Box{p.left[c], r.Y + HeadHeight + high[c], float64(width), height(p.Cards[i])}
			high[c] += p.boxes[i].Height + gap
		}
		if len(used) == 1 {
			from, to = s.next[d], s.next[d]+n-1
			s.next[d] += n
		}
	}
	if len(used) > 1 {
		s.next = slices.Clone(p.starts[1:]) // full
	}
	return from, to
}

// fill places the cards of a region: those with lines in their columns, the others in rows below.
func (p *plan) fill(r *Region, from, to int) {
	columns, high := make([][]int, len(p.left)), make([]float64, len(p.left))
	tallest := 0.0
	for _, i := range r.Cards {
		if p.linked[i] {
			columns[p.column[i]] = append(columns[p.column[i]], i)
		}
	}
	for c, list := range columns {
		slices.SortFunc(list, func(a, b int) int { return p.rank[a] - p.rank[b] })
		for n, i := range list {
			if n > 0 {
				high[c] += gap
			}
			high[c] += height(p.Cards[i])
		}
		tallest = max(tallest, high[c])
	}
	for c, list := range columns {
		top := r.Y + HeadHeight + round((tallest-high[c])/2)
		for _, i := range list {
			width := PartWidth
			if p.Cards[i].Stack != nil {
				width = StackWidth
			}
			p.boxes[i] = Box{p.left[c], top, float64(width), height(p.Cards[i])}
			top += p.boxes[i].Height + gap
		}
	}
	rowsTop, n, row := r.Y+HeadHeight, 0, to-from+1
	if tallest > 0 {
		rowsTop += tallest + gap
	}
	for _, i := range r.Cards {
		if !p.linked[i] {
			p.boxes[i] = Box{p.left[from+n%row], rowsTop + float64(n/row*(brokenHeight+gap)), StackWidth, brokenHeight}
			n++
		}
	}
}

// place orders the cards of a region: those without a line come last.
func (p *plan) place(i int) int {
	if p.linked[i] {
		return p.rank[i]
	}
	return p.rank[i] + 100_000_000
}

// round is that of JavaScript.
func round(v float64) float64 { return math.Floor(v + 0.5) }

type point struct{ x, y float64 }

// routes leads lines from the right of a card to the left of another one, at the row of who pays
// where the part lists it.
func (p *plan) routes() []Path {
	order := make([]int, len(p.Lines))
	for i := range order {
		order[i] = i
	}
	top := func(card int) float64 { return p.boxes[card].Y }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(top(p.Lines[a].To), top(p.Lines[b].To)), cmp.Compare(top(p.Lines[a].From), top(p.Lines[b].From)))
	})
	leaving, arriving := map[int][]int{}, map[int][]int{}
	for _, i := range order {
		l := p.Lines[i]
		leaving[l.From], arriving[l.To] = append(leaving[l.From], i), append(arriving[l.To], i)
	}
	for _, list := range arriving {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(top(p.Lines[a].From), top(p.Lines[b].From)) })
	}
	paths := make([]Path, len(p.Lines))
	for _, i := range order {
		l := p.Lines[i]
		y2, listed := p.row(l)
		if !listed {
			y2 = port(p.boxes[l.To], arriving[l.To], i)
		}
		y1 := port(p.boxes[l.From], leaving[l.From], i)
		if math.Abs(y1-y2) < 2*bend {
			y1 = y2 // no tiny step
		}
		points := p.route(l, y1, y2)
		end := points[len(points)-1]
		paths[i] = Path{rounded(points), end.x, end.y, end.x > p.boxes[l.To].X}
	}
	return paths
}

func (p *plan) route(l *Line, y1, y2 float64) []point {
	a, b, from, to := p.boxes[l.From], p.boxes[l.To], p.column[l.From], p.column[l.To]
	if from >= to { // it closes a circle: around, from the right side to the right side
		x := max(a.X+a.Width, b.X+b.Width) + between - lane
		return []point{{a.X + a.Width, y1}, {x, y1}, {x, y2}, {b.X + b.Width + 1, y2}}
	}
	points := []point{{a.X + a.Width, y1}}
	turn := func(x, y float64) { points = append(points, point{x, points[len(points)-1].y}, point{x, y}) }
	y := y1
	if to > from+1 {
		y = p.between(from, to).channel(y1, y2)
		key := round(y)
		y += float64(p.channels[key]%3*4 - 4)
		p.channels[key]++
		if y != y1 {
			turn(p.lane(from), y)
		}
	}
	if y != y2 {
		turn(p.lane(to-1), y2)
	}
	return append(points, point{b.X - 1, y2})
}

func (p *plan) lane(column int) float64 {
	x := p.left[column] + StackWidth + 20 + float64(p.lanes[column]%6*lane)
	p.lanes[column]++
	return x
}

// port spreads the lines of a side over the upper part of a card, which a healthy one has too.
func port(b Box, lines []int, line int) float64 {
	return round(b.Y + min(b.Height, stackHeight)*float64(slices.Index(lines, line)+1)/float64(len(lines)+1))
}

// row is the row of a part that lists the payer.
func (p *plan) row(l *Line) (float64, bool) {
	at := slices.IndexFunc(p.Cards[l.To].Payers, func(x Payer) bool { return x.Stack == p.Cards[l.From].Key })
	if p.Cards[l.To].Stack != nil || p.Cards[l.From].Stack == nil || at < 0 || at >= Listed {
		return 0, false
	}
	return p.boxes[l.To].Y + PayersAt + float64(at*RowHeight) + RowHeight/2, true
}

// way is the cards between two columns, and the heights at which a line passes them.
type way struct {
	cards []Box
	free  []float64
}

func (w *way) isFree(y float64) bool {
	return !slices.ContainsFunc(w.cards, func(c Box) bool { return y > c.Y-6 && y < c.Y+c.Height+6 })
}

// between returns the way between two columns, which many lines go.
func (p *plan) between(from, to int) *way {
	key := [2]int{from, to}
	if w, ok := p.ways[key]; ok {
		return w
	}
	w, tried := &way{}, map[float64]bool{}
	for j, box := range p.boxes {
		if p.column[j] > from && p.column[j] < to {
			w.cards = append(w.cards, box)
		}
	}
	for _, c := range w.cards {
		for _, y := range []float64{c.Y - 10, c.Y + c.Height + 10} {
			if !tried[y] && w.isFree(y) {
				w.free = append(w.free, y)
			}
			tried[y] = true
		}
	}
	p.ways[key] = w
	return w
}

// channel is the height at which a line passes with the least detour.
func (w *way) channel(y1, y2 float64) float64 {
	detour := func(y float64) float64 { return math.Abs(y-y1) + math.Abs(y-y2) }
	free := slices.Clone(w.free)
	for _, y := range []float64{y1, y2} {
		if w.isFree(y) {
			free = append(free, y)
		}
	}
	if len(free) == 0 {
		return y1
	}
	return slices.MinFunc(free, func(a, b float64) int { return cmp.Or(cmp.Compare(detour(a), detour(b)), cmp.Compare(a, b)) })
}

// rounded is a path through points, with rounded corners.
func rounded(points []point) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	d := "M" + number(points[0].x) + "," + number(points[0].y)
	for i := 1; i < len(points); i++ {
		at, before := points[i], points[i-1]
		if i == len(points)-1 {
			return d + "L" + number(at.x) + " " + number(at.y)
		}
		after := points[i+1]
		r := min(bend, (math.Abs(at.x-before.x)+math.Abs(at.y-before.y))/2, (math.Abs(after.x-at.x)+math.Abs(after.y-at.y))/2)
		d += fmt.Sprintf("L%s %sQ%s %s %s %s", number(at.x+sign(before.x-at.x)*r), number(at.y+sign(before.y-at.y)*r),
			number(at.x), number(at.y), number(at.x+sign(after.x-at.x)*r), number(at.y+sign(after.y-at.y)*r))
	}
	return d
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
