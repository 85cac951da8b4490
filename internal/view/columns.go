package view

import (
	"slices"
	"strings"
)

// column is a column of a command: its head and layout, and what a row has in it. One list of
// columns makes the table, the wide table, the lines of a flat tree and the CSV table.
type ColumnOf[T any] struct {
	Column
	Value func(T) Cell
	// raw is the whole and exact value for CSV, empty where it is unknown; nil takes the text
	// of the cell. key is the name of the column in CSV; empty makes it of the head.
	raw func(T) string
	key string
	in  where
}

// where says which outputs have a column; 0 is all of them.
type where uint8

const (
	tableOnly where = iota + 1
	wideOnly        // and CSV
	csvOnly
)

type ColumnsOf[T any] []ColumnOf[T]

// table has the columns that fit on a terminal.
func (c ColumnsOf[T]) Table(rows []T) *Table { return c.exclude(wideOnly, csvOnly).rows(rows) }

// wideTable has all columns. A format cuts nothing of it, so that the layout does not matter.
func (c ColumnsOf[T]) wideTable(rows []T) *Table { return c.exclude(tableOnly, csvOnly).rows(rows) }

// tree is the table as lines of a tree, where a column may move to a line of its own
// (Column.OwnLine): its text is then whole.
func (c ColumnsOf[T]) tree(rows []T) *Tree {
	t := c.Table(rows)
	out := &Tree{Columns: t.Columns}
	for i := range out.Columns {
		if out.Columns[i].OwnLine {
			out.Columns[i].Truncate, out.Columns[i].MinWidth = Whole, 0
		}
	}
	for _, r := range t.Rows {
		out.Roots = append(out.Roots, &TreeRow{Name: r[0], Cells: r[1:]})
	}
	return out
}

// csv has a column for each of the wide table, and those for CSV alone.
func (c ColumnsOf[T]) csv(rows []T) *CSVTable {
	c = c.exclude(tableOnly)
	out := &CSVTable{}
	for i := range c {
		kind := TextCell
		if c[i].Right {
			kind = NumberCell
		}
		out.Columns = append(out.Columns, CSVColumn{c[i].csvName(), kind})
	}
	for _, r := range rows {
		record := make([]string, 0, len(c))
		for i := range c {
			if c[i].raw != nil {
				record = append(record, c[i].raw(r))
			} else {
				record = append(record, c[i].Value(r).Text)
			}
		}
		out.Rows = append(out.Rows, record)
	}
	return out
}

// omit leaves out a column where unwanted.
func (c ColumnsOf[T]) omit(unwanted bool, name string) ColumnsOf[T] {
	return slices.DeleteFunc(c, func(col ColumnOf[T]) bool { return unwanted && col.Name == name })
}

func (c *ColumnOf[T]) csvName() string {
	if c.key != "" {
		return c.key
	}
	return strings.ToLower(strings.ReplaceAll(c.Name, " ", "_"))
}

func (c ColumnsOf[T]) exclude(places ...where) ColumnsOf[T] {
	return slices.DeleteFunc(slices.Clone(c), func(col ColumnOf[T]) bool { return slices.Contains(places, col.in) })
}

// withoutNamed leaves the column of a head out.
func (c ColumnsOf[T]) withoutNamed(head string) ColumnsOf[T] {
	return slices.DeleteFunc(slices.Clone(c), func(col ColumnOf[T]) bool { return col.Name == head })
}

func (c ColumnsOf[T]) rows(rows []T) *Table {
	t := &Table{Columns: c.heads()}
	for _, r := range rows {
		t.Rows = append(t.Rows, c.cells(r))
	}
	return t
}

func (c ColumnsOf[T]) heads() []Column {
	var out []Column
	for i := range c {
		out = append(out, c[i].Column)
	}
	return out
}

func (c ColumnsOf[T]) cells(row T) []Cell {
	out := make([]Cell, 0, len(c))
	for i := range c {
		out = append(out, c[i].Value(row))
	}
	return out
}

// text is a cell without a tone, and faint one of less weight.
func AsText[T any](value func(T) string) func(T) Cell {
	return func(row T) Cell { return Cell{Text: value(row)} }
}

func AsFaint[T any](value func(T) string) func(T) Cell {
	return func(row T) Cell { return Cell{value(row), Faint} }
}
