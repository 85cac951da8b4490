package cost

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Merge makes one report of those of several clusters, of one grouping, one currency and the same
// hours. Groups of the same value become one, and so do the rests of the same name; what is below
// them says in which cluster it is. The total is that of all.
func Merge(reports []*Report) *Report {
	if len(reports) == 1 {
		return reports[0]
	}
	out := &Report{Currency: reports[0].Currency, Hours: reports[0].Hours, Keys: reports[0].Keys}
	var m merger
	var all, wholes []*Row
	for _, r := range reports {
		all, wholes = append(all, r.Rows...), append(wholes, &r.Total)
	}
	out.Rows = m.rows(&out.Total, all)
	m.sum(&out.Total, wholes)
	return out
}

type merger struct{ totals totals }

// sum sets a row to the sum of rows of several clusters.
func (m *merger) sum(row *Row, rows []*Row) {
	m.totals.sum(row, rows)
	m.totals.settle(row)
	row.settleShare()
}

// rows merges the rows below one.
func (m *merger) rows(above *Row, rows []*Row) []*Row {
	type name struct {
		level     Level
		key, name string
	}
	var out []*Row
	same := map[name][]*Row{}
	for _, row := range rows {
		merged := row.Ref == (object.Ref{}) && (row.Level == LevelGroup || restRank(above, row) > 0)
		if k := (name{row.Level, row.Key, row.Name}); merged && row.Key != ByCluster {
			if same[k] = append(same[k], row); len(same[k]) > 1 {
				continue
			}
		}
		out = append(out, row)
	}
	for i, row := range out {
		if parts := same[name{row.Level, row.Key, row.Name}]; len(parts) > 0 && parts[0] == row {
			out[i] = m.one(parts)
		}
	}
	slices.SortStableFunc(out, func(x, y *Row) int {
		if c := cmp.Compare(restRank(above, x), restRank(above, y)); c != 0 || x.Level == LevelStack && y.Level == LevelStack {
			return c
		}
		return compareRows(x, y)
	})
	return out
}

// one makes a row of those of the clusters that have it. It names no cluster even where it is that
// of one alone: each period of a window has other clusters, and the row is the same.
func (m *merger) one(parts []*Row) *Row {
	row := &Row{Level: parts[0].Level, Name: parts[0].Name, Key: parts[0].Key}
	var children []*Row
	for _, part := range parts {
		children = append(children, part.Children...)
		// A rest without rows below it is a line of its cluster.
		if part.Level == LevelRest && len(part.Children) == 0 {
			line := *part
			children = append(children, &line)
		}
	}
	row.Children = m.rows(row, children)
	m.sum(row, parts)
	return row
}

// Lines returns the rows that a flat list shows, each as the way to it from the first level: the
// innermost groups, or the stacks, and the rests beside them.
func (r *Report) Lines() [][]*Row {
	var all [][]*Row
	var walk func(above []*Row, rows []*Row)
	walk = func(above, rows []*Row) {
		for _, row := range rows {
			way := append(slices.Clone(above), row)
			if (row.Level == LevelGroup || row.Level == LevelPeriod) && len(way) < len(r.Keys) && len(row.Children) > 0 {
				walk(way, row.Children)
				continue
			}
			all = append(all, way)
		}
	}
	walk(nil, r.Rows)
	return all
}
