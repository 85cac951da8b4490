package render_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

var update = flag.Bool("update", false, "write the golden files")

// unsafeMessage holds what a terminal would obey or hide.
const unsafeMessage = "esc \x1b[31m, bidi \u202e, zero width \u200b\u200d, tag \U000e0041, del \x7f, c1 \u0085\u009b, separators \u2028, broken \xff, line\nend"

func text(t testing.TB, format string, a view.Output, o render.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Write(&out, format, a, o); err != nil {
		t.Fatalf("write %s: %v", format, err)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test ./internal/render -update writes it)", path, got, want)
	}
}

func TestGoldenForPeople(t *testing.T) {
	answers := map[string]view.Output{
		"stack":  {Tree: shop(false)},
		"why":    {Tree: shop(true)},
		"impact": {Table: people(), Wide: people()},
	}
	for name, a := range answers {
		for _, f := range []string{"tree", "table", "wide"} {
			if a.Tree == nil == (f == "tree") {
				continue
			}
			widths := []int{0, 100, 80, 60, 40}
			if f == "wide" {
				widths = widths[:1]
			}
			for _, w := range widths {
				golden(t, fmt.Sprintf("%s.%s.%d", name, f, w), text(t, f, a, render.Options{Width: w}))
				golden(t, fmt.Sprintf("%s.%s.%d.color", name, f, w), text(t, f, a, render.Options{Width: w, Color: true}))
			}
			golden(t, fmt.Sprintf("%s.%s.80.headless", name, f), text(t, f, a, render.Options{Width: 80, NoHeaders: true}))
		}
	}
}

func TestGoldenForMachines(t *testing.T) {
	a := view.Output{Diagram: drawing(), Document: document("its owner is not there"), Names: []string{"Pod/web/a", "Role/web/a\nPod/web/b"}}
	for _, f := range []string{"json", "yaml", "dot", "mermaid", "name"} {
		got := text(t, f, a, render.Options{})
		golden(t, "graph."+f, got)
		if other := text(t, f, a, render.Options{Width: 40, Color: true, NoHeaders: true}); other != got {
			t.Errorf("%s depends on the terminal", f)
		}
	}
	a.Document = document(unsafeMessage)
	golden(t, "unsafe.json", text(t, "json", a, render.Options{}))
	golden(t, "unsafe.yaml", text(t, "yaml", a, render.Options{}))
}

func TestNothingToShow(t *testing.T) {
	a := view.Output{
		Tree: &view.Tree{Columns: shop(false).Columns}, Table: &view.Table{Columns: people().Columns}, Wide: &view.Table{Columns: people().Columns},
		Diagram: &view.Diagram{}, Names: []string{},
	}
	for _, f := range []string{"tree", "table", "wide", "name"} {
		if got := text(t, f, a, render.Options{Width: 80}); got != "" {
			t.Errorf("%s of nothing: %q", f, got)
		}
	}
	for _, f := range []string{"dot", "mermaid"} {
		golden(t, "nothing."+f, text(t, f, a, render.Options{}))
	}
}

func TestFormatsSayWhatTheyCan(t *testing.T) {
	err := render.Write(&bytes.Buffer{}, "dot", view.Output{Names: []string{}}, render.Options{})
	if want := `unknown output format "dot": write one of name`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
