package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

var codes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestEveryWidth holds what is true of a layout however narrow it is.
func TestEveryWidth(t *testing.T) {
	for name, a := range map[string]view.Output{"stack": {Tree: shop(false)}, "why": {Tree: shop(true)}, "impact": {Table: people()}} {
		format := "tree"
		if a.Table != nil {
			format = "table"
		}
		for w := 10; w <= 200; w += 1 + w/40 {
			got := text(t, format, a, render.Options{Width: w})
			if colored := text(t, format, a, render.Options{Width: w, Color: true}); codes.ReplaceAllString(colored, "") != got {
				t.Errorf("%s at %d: colour moves text:\n%s\n%s", name, w, got, colored)
			}
			for l := range strings.Lines(got) {
				l = strings.TrimSuffix(l, "\n")
				if strings.TrimRight(l, " ") != l {
					t.Errorf("%s at %d: blanks at the end of %q", name, w, l)
				}
				if n := displaywidth.String(l); n > w && w >= 40 {
					t.Errorf("%s at %d: a line of %d: %q", name, w, n, l)
				}
			}
			for _, word := range []string{"✖ missing", "? unread", "⇄ shared", "… 2 more", "└─ ", "├─ "} {
				if a.Tree != nil && !strings.Contains(got, word) {
					t.Errorf("%s at %d: no %q", name, w, word)
				}
			}
		}
	}
}

// TestColumnsGoLate holds that columns go by priority, and only when names would
// be cut below what tells them apart.
func TestColumnsGoLate(t *testing.T) {
	head := func(width int, why bool) string {
		first, _, _ := strings.Cut(text(t, "tree", view.Output{Tree: shop(why)}, render.Options{Width: width}), "\n")
		return strings.Join(strings.Fields(first), " ")
	}
	last := ""
	for w := 200; w >= 20; w-- {
		h := head(w, false)
		if last != "" && !strings.HasPrefix(last, h) {
			t.Errorf("at %d columns came back: %q after %q", w, h, last)
		}
		last = h
	}
	for w, want := range map[int]string{0: "OBJECT RELATION VIA", 80: "OBJECT RELATION VIA", 65: "OBJECT RELATION", 30: "OBJECT"} {
		if got := head(w, false); got != want {
			t.Errorf("at %d: %q, want %q", w, got, want)
		}
	}
	if got := head(0, true); got != "OBJECT RELATION VIA WHY" {
		t.Errorf("piped: %q", got)
	}
	if got := head(80, true); got != "OBJECT RELATION VIA" {
		t.Errorf("evidence beside at 80: %q", got)
	}
}

func TestPodsStayApart(t *testing.T) {
	root := line("Deployment/a", nil)
	for i := range 3 {
		root.Children = append(root.Children, line(fmt.Sprintf("Pod/a-very-long-name-of-a-deployment-6c9f7d5b8-x2x7%d", i), nil))
	}
	a := view.Output{Tree: &view.Tree{Columns: shop(false).Columns, Roots: []*view.TreeRow{root}}}
	got := text(t, "tree", a, render.Options{Width: 30})
	for i := range 3 {
		if want := fmt.Sprintf("7d5b8-x2x7%d\n", i); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestPipedIsWhole(t *testing.T) {
	long := strings.Repeat("long-", 400)
	a := view.Output{
		Tree:  &view.Tree{Columns: shop(false).Columns, Roots: []*view.TreeRow{line("Pod/"+long, plain("owns", long))}},
		Table: &view.Table{Columns: people().Columns, Rows: [][]view.Cell{plain("breaks", long, "1", long, long)}},
	}
	a.Wide = a.Table
	for f, want := range map[string]int{"tree": 2, "table": 3, "wide": 3} {
		if got := text(t, f, a, render.Options{}); strings.Count(got, long) != want || strings.Contains(got, "…") {
			t.Errorf("%s cuts what is piped", f)
		}
	}
	if got := text(t, "wide", a, render.Options{Width: 40}); strings.Count(got, long) != 3 {
		t.Error("wide cuts")
	}
}

// TestDeep holds that a chain of ten thousand is drawn in linear space, and that
// its near branches are always there.
func TestDeep(t *testing.T) {
	const depth = 10_000
	root := line("Pod/0", nil)
	for at, i := root, 1; i < depth; i++ {
		at.Children = []*view.TreeRow{line(fmt.Sprintf("Pod/%d", i), plain("owns", "owner"))}
		at = at.Children[0]
	}
	a := view.Output{Tree: &view.Tree{Columns: shop(false).Columns, Roots: []*view.TreeRow{root}}}
	for _, w := range []int{0, 80, 40} {
		got := text(t, "tree", a, render.Options{Width: w})
		if n := strings.Count(got, "\n"); n != depth+1 {
			t.Errorf("%d lines at %d", n, w)
		}
		if n := strings.Count(got, "└─ Pod/"); n != depth-1 {
			t.Errorf("%d branches at %d", n, w)
		}
		if len(got) > depth*400 {
			t.Errorf("%d bytes at %d", len(got), w)
		}
		if !strings.Contains(got, "\n⋯") {
			t.Errorf("nothing says how deep it is at %d", w)
		}
	}
}

// TestBroad holds that many lines are written in one go; a table, which passes
// through tablewriter, takes ten times as long as a tree.
func TestBroad(t *testing.T) {
	for f, lines := range map[string]int{"tree": 100_000, "table": 5_000} {
		if n := strings.Count(text(t, f, broad(lines), render.Options{Width: 80}), "Pod/a-6c9f7d5b8-"); n != lines {
			t.Errorf("%s: %d lines", f, n)
		}
	}
}

func TestWideCharactersAlign(t *testing.T) {
	a := view.Output{Table: people()}
	for _, w := range []int{0, 100, 60} {
		var at []int
		for l := range strings.Lines(text(t, "table", a, render.Options{Width: w, Color: true})) {
			l = codes.ReplaceAllString(l, "")
			before, _, ok := strings.Cut(l, "OBJECT")
			for _, kind := range []string{"Pod/", "Service/", "Role/"} {
				if !ok {
					before, _, ok = strings.Cut(l, kind)
				}
			}
			at = append(at, displaywidth.String(before))
		}
		for _, n := range at {
			if n != at[0] {
				t.Errorf("at %d objects begin at %v", w, at)
				break
			}
		}
	}
}
