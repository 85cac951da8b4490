package metrics

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"github.com/shopspring/decimal"
)

// Figures of a window are G(To) - G(From), where G(t) is what is known from the
// samples up to t. So two adjacent windows add up to the whole, whatever lies at the
// moment between them: each sample adds what it makes known, in the window that it is
// in. All of it is in integers; the only rounding is in the very last step.

// Times are in milliseconds.
const (
	second = int64(1000)
	// staleness is how long a sample of a gauge can stand for the time before it; as
	// long as Prometheus takes a series for alive.
	staleness = 300 * second
	// reach is how far apart two samples of a counter may be. Over more than that
	// nobody can say when it was used.
	reach = 3600 * second
	// How long before a window samples matter to it. For a gauge that is the interval
	// across its beginning, what overlaps that, and whether that was the first of a run.
	// Of CPU an interval across it can be as long as reach; requests overlap that, and
	// so do intervals of other containers, which can be as long.
	backGauge   = 4 * staleness
	backRequest = reach + 4*staleness
	backCounter = reach
	backCPU     = 2*reach + staleness
	lookBack    = backCPU + staleness
	// lookAhead is how long after a window facts of it (a start, an end) may come.
	lookAhead = reach
)

// interval says that (a, b] had n: n units in all, or n at each moment where flat is
// set, so that it counts n times its length.
type interval struct {
	a, b int64
	n    uint64
	flat bool
}

// part is what (x, y] within the interval has of it. Parts that follow on one another
// add up to the whole.
func (v interval) part(x, y int64) uint64 {
	if v.flat {
		return v.n * uint64(y-x)
	}
	return mulDiv(v.n, uint64(y-v.a), uint64(v.b-v.a)) - mulDiv(v.n, uint64(x-v.a), uint64(v.b-v.a))
}

func (v interval) whole() uint64 { return v.part(v.a, v.b) }

// mulDiv is a*b/c, rounded down, for b <= c.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// total is an integer of 128 bits, two's complement: bytes times milliseconds of a
// month are beyond 64.
type total struct{ hi, lo uint64 }

func (t total) add(n uint64) total {
	lo, carry := bits.Add64(t.lo, n, 0)
	return total{t.hi + carry, lo}
}

func (t total) plus(u total) total {
	lo, carry := bits.Add64(t.lo, u.lo, 0)
	hi, _ := bits.Add64(t.hi, u.hi, carry)
	return total{hi, lo}
}

func (t total) minus(u total) total {
	lo, borrow := bits.Sub64(t.lo, u.lo, 0)
	hi, _ := bits.Sub64(t.hi, u.hi, borrow)
	return total{hi, lo}
}

func (t total) big() *big.Int {
	n := new(big.Int).SetInt64(int64(t.hi))
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(t.lo))
}

// perUnits is the total divided by the units that make one of a Reading. Quotients that
// have no end are rounded to 18 places.
func (t total) perUnits(units int64) decimal.Decimal {
	n := decimal.NewFromBigInt(t.big(), 0)
	if units == 1 {
		return n
	}
	return n.DivRound(decimal.NewFromInt(units), 18)
}

// sources are intervals that say something of the same time: several of one voice add
// up (the containers of a pod), and several voices are weighed by a rule.
type sources [][]interval

// weigh is the sum over time of what rule makes of the voices. rule is given, for
// (x, y] in which nothing changes, how long that is, what each voice has in it, and
// how many intervals of each say so (none: it says nothing).
func (vs sources) weigh(rule func(ms int64, parts []uint64, say []int) uint64) total {
	type edge struct {
		t     int64
		voice int
		at    int
		begin bool
	}
	var edges []edge
	for voice, list := range vs {
		for i := range list {
			edges = append(edges, edge{list[i].a, voice, i, true}, edge{list[i].b, voice, i, false})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.t, b.t) })
	var sum total
	parts, say := make([]uint64, len(vs)), make([]int, len(vs))
	open := make([][]int, len(vs))
	for i := 0; i < len(edges); {
		t := edges[i].t
		for ; i < len(edges) && edges[i].t == t; i++ {
			e := edges[i]
			if e.begin {
				open[e.voice] = append(open[e.voice], e.at)
			} else if at := slices.Index(open[e.voice], e.at); at >= 0 {
				open[e.voice] = slices.Delete(open[e.voice], at, at+1)
			}
		}
		if i == len(edges) {
			break
		}
		spoken := false
		for voice, list := range open {
			parts[voice], say[voice] = 0, len(list)
			for _, at := range list {
				parts[voice] += vs[voice][at].part(t, edges[i].t)
			}
			spoken = spoken || len(list) > 0
		}
		if spoken {
			sum = sum.add(rule(edges[i].t-t, parts, say))
		}
	}
	return sum
}

// first is the rule that takes the first voice that says something.
func first(_ int64, parts []uint64, say []int) uint64 {
	for i := range parts {
		if say[i] > 0 {
			return parts[i]
		}
	}
	return 0
}

// intervalTrack is what a voice is made of: the intervals of the piece of the window that is
// being read, and those of before that can still matter to it.
type intervalTrack struct{ old, fresh []interval }

func (t *intervalTrack) add(list ...interval) { t.fresh = append(t.fresh, list...) }

func (t *intervalTrack) empty() bool { return len(t.old)+len(t.fresh) == 0 }

// settle ends a piece at a moment: what ended more than reach before can overlap
// nothing that is still to come.
func (t *intervalTrack) settle(at int64) {
	kept := t.old[:0]
	for _, list := range [][]interval{t.old, t.fresh} {
		for _, v := range list {
			if v.b > at-reach {
				kept = append(kept, v)
			}
		}
	}
	t.old, t.fresh = slices.Clip(kept), nil
}

// gained is what the fresh intervals of tracks add to the weight of the old ones.
func gained(rule func(int64, []uint64, []int) uint64, tracks ...*intervalTrack) total {
	before, after := make(sources, len(tracks)), make(sources, len(tracks))
	fresh := false
	for i, t := range tracks {
		before[i] = t.old
		after[i] = append(slices.Clip(t.old), t.fresh...)
		fresh = fresh || len(t.fresh) > 0
	}
	if !fresh {
		return total{}
	}
	return after.weigh(rule).minus(before.weigh(rule))
}
