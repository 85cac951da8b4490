// Package render writes what a view.Output holds, in one of the formats of the
// table Formats, a file a format. Whatever the cluster said is escaped here, by
// each format in its own way.
package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// Options are what a format needs to know of the place that it writes to.
type Options struct {
	// Width is that of the terminal in columns; 0 where nothing is to be cut.
	Width int
	Color bool
	// NoHeaders leaves out the heads of columns.
	NoHeaders bool
}

// Format writes an answer.
type Format struct {
	Name string
	// Shape is that of an answer which the format writes.
	Shape view.Shape
	// Has says whether the answer has the shape that the format writes.
	Has   func(view.Output) bool
	Write func(io.Writer, view.Output, Options) error
}

// Formats is every format, as they are offered.
func Formats() []Format {
	return []Format{
		{"tree", view.TreeShape, func(a view.Output) bool { return a.Tree != nil }, tree},
		{"table", view.TableShape, func(a view.Output) bool { return a.Table != nil }, table},
		{"wide", view.WideShape, func(a view.Output) bool { return a.Wide != nil }, wide},
		{"text", view.PageShape, func(a view.Output) bool { return a.Page != nil }, page},
		{"json", view.DocumentShape, func(a view.Output) bool { return a.Document != nil }, asJSON},
		{"yaml", view.DocumentShape, func(a view.Output) bool { return a.Document != nil }, asYAML},
		{"csv", view.CSVShape, func(a view.Output) bool { return a.CSV != nil }, asCSV},
		{"openmetrics", view.FamiliesShape, func(a view.Output) bool { return a.Families != nil }, openMetrics},
		{"focus", view.FocusShape, func(a view.Output) bool { return a.Focus != nil }, asFocus},
		{"sarif", view.FindingsShape, func(a view.Output) bool { return a.Findings != nil }, asSARIF},
		{"junit", view.FindingsShape, func(a view.Output) bool { return a.Findings != nil }, asJUnit},
		{"dot", view.DiagramShape, func(a view.Output) bool { return a.Diagram != nil }, dot},
		{"mermaid", view.DiagramShape, func(a view.Output) bool { return a.Diagram != nil }, mermaid},
		{"html", view.UIShape, func(a view.Output) bool { return a.UIState != nil || a.Invoice != nil }, html},
		{"svg", view.UIShape, func(a view.Output) bool { return a.UIState != nil }, svg},
		{"name", view.NamesShape, func(a view.Output) bool { return a.Names != nil }, names},
	}
}

// ShapeOf returns the shape that the named format writes; 0 for no format.
func ShapeOf(name string) view.Shape {
	for _, f := range Formats() {
		if f.Name == name {
			return f.Shape
		}
	}
	return 0
}

// Write writes an answer in the named format.
func Write(w io.Writer, name string, a view.Output, o Options) error {
	for _, f := range Formats() {
		if f.Name == name && f.Has(a) {
			return f.Write(w, a, o)
		}
	}
	return fmt.Errorf("unknown output format %q: write one of %s", name, strings.Join(offered(a), ", "))
}

func offered(a view.Output) []string {
	var out []string
	for _, f := range Formats() {
		if f.Has(a) {
			out = append(out, f.Name)
		}
	}
	return out
}
