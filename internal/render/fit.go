package render

import "github.com/kubectl-sysop/kubectl-sysop/internal/view"

// layout is the columns that are shown, by number, and the width of each.
type layout struct {
	columns []int
	widths  []int // of all columns, by number
}

// narrowest is the width to which the last column that may not go is cut.
const narrowest = 8

// numbers are those of all columns.
func numbers(all []view.Column) []int {
	columns := make([]int, len(all))
	for c := range all {
		columns[c] = c
	}
	return columns
}

// leastOf is the width below which a column is not worth having, of text whose
// widest is natural.
func leastOf(c view.Column, natural int) int {
	if c.Truncate == view.Whole {
		return natural
	}
	return min(natural, max(c.MinWidth, width(c.Name)))
}

// fit finds room for some of all columns. natural is the width of each that cuts
// nothing, floor the least; room 0 is all that is wanted. Where there is too little, text is cut; where that is not enough,
// columns go, those of the highest Drop first; what room is left then goes to
// the columns of the lowest.
func fit(all []view.Column, columns, natural, floor []int, room, gap int) layout {
	l := layout{columns: columns, widths: make([]int, len(all))}
	if room == 0 || l.sum(natural, gap) <= room {
		copy(l.widths, natural)
		return l
	}
	for l.sum(floor, gap) > room {
		worst := -1
		for i, c := range l.columns {
			if all[c].DropOrder > 0 && (worst < 0 || all[c].DropOrder >= all[l.columns[worst]].DropOrder) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		l.columns = append(l.columns[:worst:worst], l.columns[worst+1:]...)
	}
	copy(l.widths, floor)
	l.share(all, natural, room-l.sum(floor, gap))
	return l
}

func (l layout) sum(widths []int, gap int) int {
	n := gap * (len(l.columns) - 1)
	for _, c := range l.columns {
		n += widths[c]
	}
	return n
}

// share gives what is left to the columns that need it, and takes what is too
// much from those that may be cut.
func (l layout) share(all []view.Column, natural []int, rest int) {
	for drop := 0; rest > 0 && drop <= highest(all); drop++ {
		for _, c := range l.columns {
			if more := min(rest, natural[c]-l.widths[c]); all[c].DropOrder == drop && more > 0 {
				l.widths[c] += more
				rest -= more
			}
		}
	}
	for _, c := range l.columns {
		if less := min(-rest, l.widths[c]-narrowest); all[c].Truncate != view.Whole && less > 0 {
			l.widths[c] -= less
			rest += less
		}
	}
}

func highest(all []view.Column) int {
	most := 0
	for _, c := range all {
		most = max(most, c.DropOrder)
	}
	return most
}
