package render_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// unlabel reads a DOT label as Graphviz shows it.
func unlabel(s string) string {
	s = strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(s)
	return strings.ReplaceAll(s, "&amp;", "&")
}

func checkDOT(t *testing.T, n *view.Diagram) {
	t.Helper()
	got := text(t, "dot", view.Output{Diagram: n}, render.Options{})
	g, err := parseDOT(got)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	var labels []string
	for _, node := range n.Nodes {
		lines := []string{render.Escape(node.Kind), render.Escape(node.Name)}
		if node.Note != "" {
			lines = append(lines, render.Escape(node.Note))
		}
		labels = append(labels, strings.Join(lines, "\n"))
	}
	for _, e := range n.Edges {
		labels = append(labels, render.Escape(e.Label))
	}
	found := make([]string, 0, len(g.labels))
	for _, l := range g.labels {
		found = append(found, unlabel(l))
	}
	slices.Sort(labels)
	slices.Sort(found)
	if !slices.Equal(labels, found) {
		t.Errorf("labels %q, want %q", found, labels)
	}
	for _, e := range g.edges {
		if !g.nodes[e[0]] || !g.nodes[e[1]] {
			t.Errorf("edge %q between nodes that are not there", e)
		}
	}
	if len(g.edges) != len(n.Edges) {
		t.Errorf("%d edges, want %d", len(g.edges), len(n.Edges))
	}
}

var (
	mermaidLine  = regexp.MustCompile(`^(flowchart LR| *subgraph s\d+\["([^"]*)"\]| *n\d+\["([^"]*)"\](:::(root|bad|warn|rim))?| *end| *n\d+ (-->|-\.->)\|"([^"]*)"\| n\d+|  classDef [a-z]+ [a-z0-9#,:-]+)$`)
	mermaidBreak = regexp.MustCompile(`<br/>`)
	entity       = regexp.MustCompile(`#(\d+);`)
)

// checkMermaid holds every line against the few forms that we write, and every
// label against what Mermaid might take for more than text.
func checkMermaid(t *testing.T, n *view.Diagram) {
	t.Helper()
	got := text(t, "mermaid", view.Output{Diagram: n}, render.Options{})
	var labels []string
	for l := range strings.Lines(got) {
		m := mermaidLine.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatalf("not a line of ours: %q", l)
		}
		label := mermaidBreak.ReplaceAllString(m[2]+m[3]+m[7], "\n")
		if rest := entity.ReplaceAllString(label, ""); strings.ContainsAny(rest, "\"<>&#;`[](){}|%:") {
			t.Errorf("label %q has more than text in it", label)
		}
		if m[3] != "" || strings.Contains(l, "[\"") && m[2] == "" {
			labels = append(labels, entity.ReplaceAllStringFunc(label, func(e string) string {
				c, _ := strconv.Atoi(strings.Trim(e, "#;"))
				return string(rune(c))
			}))
		}
	}
	for _, node := range n.Nodes {
		want := render.Escape(node.Kind) + "\n" + render.Escape(node.Name)
		if node.Note != "" {
			want += "\n" + render.Escape(node.Note)
		}
		if !slices.Contains(labels, want) {
			t.Errorf("no label %q in %q", want, labels)
		}
	}
}

var breakers = []string{
	"", `"`, `\`, `\"`, `\\"`, "a\nb", "]; evil -> good; [", `"]; click n0 "javascript:alert(1)"`, "&quot;&#34;", "<b>x</b>", "#quot;", "#34;",
	"style:x#35;", "classDef a:#f00;", "%%{init: {}}%%", "%% c", "end", "subgraph", "--> n1", "`**x**`", `\N\G\l`, "/* c */", "// c", "# c", "数据库\u202e\xff",
}

func TestNetsCannotBeBrokenOutOf(t *testing.T) {
	checkDOT(t, drawing())
	checkMermaid(t, drawing())
	for _, s := range breakers {
		checkDOT(t, hostile(s).Diagram)
		checkMermaid(t, hostile(s).Diagram)
	}
}

func TestMermaidLeavesOutEdgesOfNoNode(t *testing.T) {
	n := &view.Diagram{Nodes: []view.DiagramNode{{ID: "a", Kind: "Pod", Name: "a"}}, Edges: []view.DiagramEdge{{From: "a", To: "b", Label: "needs"}}}
	if got := text(t, "mermaid", view.Output{Diagram: n}, render.Options{}); strings.Contains(got, "-->") {
		t.Errorf("an edge to nowhere:\n%s", got)
	}
}

func FuzzNet(f *testing.F) {
	for _, s := range breakers {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if render.Escape(s) == "b" {
			t.Skip("the ID of the other node")
		}
		checkDOT(t, hostile(s).Diagram)
		checkMermaid(t, hostile(s).Diagram)
	})
}
