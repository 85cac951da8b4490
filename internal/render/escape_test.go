package render_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"Pod/web-0":                           "Pod/web-0",
		"":                                    "",
		"数据库 é 🚀 ✖ ├─ \u0301":                 "数据库 é 🚀 ✖ ├─ \u0301",
		"\x1b]0;title\x07":                    `\x1b]0;title\x07`,
		"a\nb\tc\rd\x00e\x7f":                 `a\nb\tc\rd\x00e\x7f`,
		"\u0085\u009b31m":                     `\u0085\u009b31m`,
		"\u202egnp.exe\u2066":                 `\u202egnp.exe\u2066`,
		"a\u200bb\u200dc\ufeffd":              `a\u200bb\u200dc\ufeffd`,
		"soft\u00adhyphen":                    `soft\u00adhyphen`,
		"tags \U000e0041\U000e007f":           `tags \U000e0041\U000e007f`,
		"\u2028\u2029":                        `\u2028\u2029`,
		"private \ue000\U000f0000":            `private \ue000\U000f0000`,
		"fillers \u115f\u3164\uffa0\u034f":    `fillers \u115f\u3164\uffa0\u034f`,
		"selectors \ufe0f\U000e0100":          `selectors \ufe0f\U000e0100`,
		"broken \xff\xc3(\xed\xa0\x80 whole�": `broken \xff\xc3(\xed\xa0\x80 whole�`,
	} {
		if got := render.Escape(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// harmless says that a terminal only prints the text, as so many lines.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: broken UTF-8 in %q", what, text)
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)) {
			t.Errorf("%s: %q in %q", what, r, text)
			return
		}
	}
}

// hostile is an answer that holds a text wherever a cluster has a say.
func hostile(s string) view.Output {
	tab := &view.Table{Columns: people().Columns, Rows: [][]view.Cell{plain(s, s, s, s, s)}}
	l := line(s, plain(s, s, s), line(s, plain(s, s, s)))
	l.Mark.Text = s
	sheet := &view.CSVTable{Columns: []view.CSVColumn{{Name: s}, {Name: "n", Kind: view.NumberCell}, {Name: "tags", Kind: view.JSONCell}}, Rows: [][]string{{s, "1", jsonOf(s)}}}
	return view.Output{
		UIState: hostilePicture(s),
		CSV:     sheet, Focus: sheet,
		Families: []view.Family{{Name: "a_total_of", Type: view.Gauge, Help: s, Samples: []view.Sample{{Labels: []view.Label{{Name: "name", Value: s}}, Value: "1"}}}},
		Tree:     &view.Tree{Columns: shop(true).Columns, Roots: []*view.TreeRow{l}}, Table: tab, Wide: tab, Names: []string{s}, Document: document(s), Page: manualPage(s), Findings: checked(s),
		Diagram: &view.Diagram{
			Nodes: []view.DiagramNode{{ID: s, Kind: s, Name: s, Namespace: s, Note: s}, {ID: "b", Kind: s, Name: s}},
			Edges: []view.DiagramEdge{{From: s, To: "b", Label: s}},
		},
	}
}

// jsonOf writes an object that holds a text, as JSON has it and no safer.
func jsonOf(s string) string {
	text, err := json.Marshal(map[string]string{"key": s})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestEveryFormatEscapes(t *testing.T) {
	a := hostile(unsafeMessage)
	for _, f := range render.Formats() {
		for _, w := range []int{0, 100, 30} {
			harmless(t, f.Name, text(t, f.Name, a, render.Options{Width: w}))
		}
	}
	for f, lines := range map[string]int{"name": 1, "table": 2, "wide": 2, "tree": 3, "csv": 2, "focus": 2, "openmetrics": 4} {
		if got := strings.Count(text(t, f, a, render.Options{}), "\n"); got != lines {
			t.Errorf("%s: %d lines, want %d", f, got, lines)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "Pod/web-0", unsafeMessage, "数据库\xff", "\u0301\U0001f1e9\U0001f1ea", `a\x1b`} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		got := render.Escape(s)
		harmless(t, "escape", got)
		if strings.ContainsRune(got, '\n') {
			t.Errorf("two lines: %q", got)
		}
		if again := render.Escape(got); again != got {
			t.Errorf("%q is escaped again: %q", got, again)
		}
		a := hostile(s)
		o := render.Options{Width: max(0, w%300)}
		for _, format := range []string{"csv", "focus", "openmetrics"} {
			harmless(t, format, text(t, format, a, o))
		}
		for _, format := range []string{"tree", "table", "wide", "name"} {
			plain := text(t, format, a, o)
			harmless(t, format, plain)
			o.Color = true
			if painted := text(t, format, a, o); codes.ReplaceAllString(painted, "") != plain {
				t.Errorf("%s: colour moves text: %q, %q", format, plain, painted)
			}
			o.Color = false
		}
	})
}

// FuzzDocument holds that a machine reads back what was written, from either
// format.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"", "a: b", unsafeMessage, "0x1f", "~", "- a\n  b\n\n", "'", "2001-01-01", "\u00a0 x \n", "null", "1e3", "{", "#", "\U0001f680\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := view.Output{Document: document(s)}
		plain, err := json.Marshal(a.Document)
		if err != nil {
			t.Fatal(err)
		}
		var want, fromJSON, fromYAML any
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		written := text(t, "json", a, render.Options{})
		harmless(t, "json", written)
		if err := json.Unmarshal([]byte(written), &fromJSON); err != nil || !reflect.DeepEqual(fromJSON, want) {
			t.Errorf("json of %q: %v\n%s", s, err, written)
		}
		written = text(t, "yaml", a, render.Options{})
		harmless(t, "yaml", written)
		if err := yaml.Unmarshal([]byte(written), &fromYAML); err != nil || !reflect.DeepEqual(fromYAML, want) {
			t.Errorf("yaml of %q: %v\n%s", s, err, written)
		}
	})
}
