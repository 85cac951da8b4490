package render

import (
	"encoding/csv"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// asCSV writes a CSV table as RFC 4180 has it, with its lines ended by LF: every program
// reads both, and lines of CRLF would end in a stray character in a pipe. What is
// unknown is an empty cell.
func asCSV(w io.Writer, a view.Output, o Options) error {
	return writeCSV(w, a.CSV, "", !o.NoHeaders)
}

// asFocus writes a CSV table as FOCUS has it: the same, but that what is unknown is
// the word NULL, and never an empty string ("Null Handling" of the specification).
// The heads of columns stay: without them it is no FOCUS file.
func asFocus(w io.Writer, a view.Output, _ Options) error {
	return writeCSV(w, a.Focus, "NULL", true)
}

func writeCSV(w io.Writer, s *view.CSVTable, null string, heads bool) error {
	out := csv.NewWriter(w)
	record := make([]string, len(s.Columns))
	if heads {
		for i, c := range s.Columns {
			record[i] = cell(c.Name, view.TextCell)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	for _, row := range s.Rows {
		for i, text := range row {
			if record[i] = null; text != "" {
				record[i] = cell(text, s.Columns[i].Kind)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell makes text harmless on a terminal, and in a spreadsheet.
func cell(text string, kind view.CellKind) string {
	switch kind {
	case view.NumberCell:
		return text
	case view.JSONCell:
		return string(escapeStrings([]byte(text), surrogates))
	}
	if text = clean(text); formula(text) {
		return "'" + text
	}
	return text
}

// formula tells text that spreadsheets take for a formula, by its first character;
// some do with the wide forms as well. An apostrophe before it makes it text. Hardly
// any name of an object begins so; labels, annotations and the names of clients may.
func formula(text string) bool {
	for _, first := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(text, first) {
			return true
		}
	}
	return false
}
