package view

// CSVTable is a table for spreadsheets and programs: every value whole and exact. An
// empty cell says that nothing is known.
type CSVTable struct {
	Columns []CSVColumn
	Rows    [][]string
}

// CSVColumn is the head of a column.
type CSVColumn struct {
	Name string
	Kind CellKind
}

// CellKind says what the cells of a column hold.
type CellKind uint8

// The kinds of cells.
const (
	// TextCell is text as it is.
	TextCell CellKind = iota
	// NumberCell is a plain decimal number: no exponent, no sign but the minus.
	NumberCell
	// JSONCell is a JSON value on one line.
	JSONCell
)

// Family is a metric family, as Prometheus and OpenMetrics have it.
type Family struct {
	// Name is without the suffix _total of a counter's samples. It ends in the unit.
	Name string
	Type FamilyType
	Unit string // may be empty
	Help string
	// Samples differ in their labels.
	Samples []Sample
}

// FamilyType is the type of a family.
type FamilyType string

// The types.
const (
	Gauge   FamilyType = "gauge"
	Counter FamilyType = "counter"
)

// Sample is a value and what tells it from the others of its family.
type Sample struct {
	Labels []Label
	// Value is a plain decimal number.
	Value string
}

// Label is a name and a value.
type Label struct{ Name, Value string }
