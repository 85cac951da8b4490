package layout

import (
	"math"
	"slices"
)

// tree is a tree that is laid out: where its root is in the forest, how large it is, and where it
// is put.
type tree struct {
	at, width, height int
	x, y              int
}

// Tried are the widths that are tried, in eighths of the side of a window that the trees would
// fill without a gap.
const (
	triedFrom = 8
	triedTo   = 20
)

// pack puts trees on shelves so that all of them fit a window of the aspect as large as can be.
// It sets x and y of each.
func pack(trees []tree, o Options) Result {
	if len(trees) == 0 {
		return Result{}
	}
	order := make([]int, len(trees))
	area, widest := 0, 0
	for i, t := range trees {
		order[i] = i
		area += (t.width + o.Apart) * (t.height + o.Apart)
		widest = max(widest, t.width)
	}
	slices.SortStableFunc(order, func(a, b int) int { return trees[b].height - trees[a].height })
	aspect := max(1, o.Aspect)
	side := int(math.Sqrt(float64(area * aspect / 100)))
	best, cost := 0, 0
	for i := triedFrom; i <= triedTo; i++ {
		most := max(widest, side*i/8)
		p := shelve(trees, order, most, o.Apart)
		if c := max(p.Width*100, p.Height*aspect); best == 0 || c < cost {
			best, cost = most, c
		}
	}
	return shelve(trees, order, best, o.Apart)
}

// shelve puts trees, the highest first, on shelves no wider than most. Those that are lower than
// their shelf stand one below the other there.
func shelve(trees []tree, order []int, most, gap int) Result {
	var p Result
	shelf, height := 0, -1 // of the shelf: where it begins, how high it is
	x, wide, y := 0, 0, 0
	for _, i := range order {
		t := &trees[i]
		if height < 0 || y+t.height > shelf+height || x+max(wide, t.width) > most {
			// A column of its own, beside the last or on the next shelf.
			x, wide, y = x+wide+gap, 0, shelf
			if height < 0 || x+t.width > most {
				if height >= 0 {
					shelf += height + gap
				}
				x, y, height = 0, shelf, t.height
			}
		}
		t.x, t.y = x, y
		y += t.height + gap
		wide = max(wide, t.width)
		p.Width, p.Height = max(p.Width, x+wide), max(p.Height, t.y+t.height)
	}
	return p
}
