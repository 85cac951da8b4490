package cost

import (
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Limit returns a smaller report of the same total, and leaves r as it is.
//
// Of the rows of the first level the first top are kept, in the order in which they
// are (Sort by cost for the most expensive), with all that is below them; those left
// out become one row "N more" of LevelRest, which sums them up. Rest rows are kept, and
// do not count.
// depth is how many levels are shown: 1 is the first rows alone. Zero is without limit,
// for each.
func Limit(r *Report, top, depth int) *Report {
	out := *r
	l := limiter{top: top, depth: depth}
	out.Rows = l.rows(&r.Total, r.Rows, 1)
	return &out
}

type limiter struct {
	top, depth int
	totals     totals
}

// split returns the rows that are shown, and those that become one.
func (l *limiter) split(above *Row, rows []*Row, level int) (shown, hidden []*Row) {
	var rests []*Row
	for _, row := range rows {
		switch {
		case restRank(above, row) > 0:
			rests = append(rests, row)
		case l.top <= 0 || level > 1 || len(shown) < l.top:
			shown = append(shown, row)
		default:
			hidden = append(hidden, row)
		}
	}
	return append(shown, rests...), hidden
}

func (l *limiter) rows(above *Row, rows []*Row, level int) []*Row {
	shown, hidden := l.split(above, rows, level)
	out := make([]*Row, 0, len(shown)+1)
	for _, row := range shown {
		smaller := *row
		smaller.Children = nil
		if l.depth <= 0 || level < l.depth {
			smaller.Children = l.rows(row, row.Children, level+1)
		}
		out = append(out, &smaller)
	}
	if len(hidden) > 0 {
		out = append(out, l.more(hidden))
	}
	return out
}

func moreName(rows int) string { return strconv.Itoa(rows) + " more" }

// more sums rows up that are left out. A pod that several of them share counts once.
func (l *limiter) more(rows []*Row) *Row {
	sum := &Row{Level: LevelRest, Name: moreName(len(rows)), Stack: rows[0].Stack}
	l.totals.sum(sum, rows)
	for _, row := range rows {
		sum.shareWith(row.Share, row.Of)
		if row.Stack != sum.Stack {
			sum.Stack = object.Ref{}
		}
	}
	sum.Pods, sum.Measured = distinctPods(rows)
	sum.settleShare()
	l.totals.settle(sum)
	return sum
}

// distinctPods counts the pods below rows, and those that are measured. The rows of a
// pod all count the same.
func distinctPods(rows []*Row) (pods, measured int) {
	seen := map[object.Ref]bool{}
	var count func(rows []*Row)
	count = func(rows []*Row) {
		for _, row := range rows {
			if len(row.Children) > 0 && row.Children[0].Level != LevelContainer {
				count(row.Children)
				continue
			}
			if row.Pods == 0 || seen[row.Ref] {
				continue
			}
			seen[row.Ref] = isPod(row.Ref)
			pods += row.Pods
			measured += row.Measured
		}
	}
	count(rows)
	return pods, measured
}
