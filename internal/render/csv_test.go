package render_test

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// bill is a sheet with one of everything that a sheet can hold.
func bill() *view.CSVTable {
	return &view.CSVTable{
		Columns: []view.CSVColumn{{Name: "stack"}, {Name: "creator"}, {Name: "cost", Kind: view.NumberCell}, {Name: "tags", Kind: view.JSONCell}},
		Rows: [][]string{
			{"Moodle.example.com/school/moodle", "kubectl", "0.000000000001", `{"team":"a","note":"x, \"y\""}`},
			{"", "=HYPERLINK(\"http://example.com\",\"x\")", "-1000000000000000000000.5", ""},
			{"a, b", "+1", "", `{"zero":"` + "\u200b" + `"}`},
			{"quote \" and\nline", "-1", "0", `{}`},
			{"@SUM(A1)", "＝1", "1", `{"a":null}`},
			{"\t=1", "数据库", "1", ""},
		},
	}
}

func TestGoldenSheets(t *testing.T) {
	a := view.Output{CSV: bill(), Focus: bill()}
	golden(t, "bill.csv", text(t, "csv", a, render.Options{}))
	golden(t, "bill.headless.csv", text(t, "csv", a, render.Options{NoHeaders: true, Width: 20, Color: true}))
	golden(t, "bill.focus", text(t, "focus", a, render.Options{NoHeaders: true}))
}

func TestSheetsAreReadBack(t *testing.T) {
	s := bill()
	for format, null := range map[string]string{"csv": "", "focus": "NULL"} {
		records, err := csv.NewReader(strings.NewReader(text(t, format, view.Output{CSV: s, Focus: s}, render.Options{}))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if len(records) != len(s.Rows)+1 {
			t.Fatalf("%s: %d records", format, len(records))
		}
		for i, row := range s.Rows {
			for j, want := range row {
				got := records[i+1][j]
				switch {
				case want == "":
					want = null
				case s.Columns[j].Kind == view.JSONCell:
					if !sameJSON(t, got, want) {
						t.Errorf("%s: %s is read as %s", format, want, got)
					}
					continue
				case s.Columns[j].Kind == view.TextCell:
					if want = render.Escape(want); strings.ContainsRune("=+-@＝", []rune(want)[0]) {
						want = "'" + want
					}
				}
				if got != want {
					t.Errorf("%s: row %d, %s: got %q, want %q", format, i, s.Columns[j].Name, got, want)
				}
			}
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y map[string]any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("read %s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("read %s: %v", b, err)
	}
	keys := func(m map[string]any) (out []string) {
		for k, v := range m {
			s, _ := v.(string)
			out = append(out, k+"="+s)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(keys(x), keys(y))
}

// FuzzSheet holds that no text makes a formula, another cell or another line.
func FuzzSheet(f *testing.F) {
	for _, s := range []string{"", "=1+1", "a\r\n=1", "\"", "\",=1", "'=1", "\ufeff=1", " =1", unsafeMessage} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sheet := &view.CSVTable{Columns: []view.CSVColumn{{Name: "a"}, {Name: "b"}}, Rows: [][]string{{s, "end"}}}
		for _, format := range []string{"csv", "focus"} {
			written := text(t, format, view.Output{CSV: sheet, Focus: sheet}, render.Options{})
			harmless(t, format, written)
			records, err := csv.NewReader(strings.NewReader(written)).ReadAll()
			if err != nil || len(records) != 2 || len(records[1]) != 2 || records[1][1] != "end" {
				t.Fatalf("%s of %q: %v, %q", format, s, err, records)
			}
			if got := records[1][0]; got != "" && strings.ContainsAny(got[:1], "=+-@\t\r") {
				t.Errorf("%s of %q is a formula: %q", format, s, got)
			}
		}
	})
}
