package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// mermaid writes a flowchart of Mermaid, which GitHub and GitLab draw in
// Markdown. They draw no more than 500 edges and 50,000 characters.
func mermaid(w io.Writer, a view.Output, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "flowchart LR")
	id := make(map[string]string, len(a.Diagram.Nodes))
	for i, n := range a.Diagram.Nodes {
		id[n.ID] = "n" + strconv.Itoa(i)
	}
	for i, d := range districts(a.Diagram) {
		indent := "  "
		if d.namespace != "" {
			fmt.Fprintf(out, "  subgraph s%d[%s]\n", i, mermaidLabel(d.namespace))
			indent = "    "
		}
		for _, k := range d.nodes {
			n := a.Diagram.Nodes[k]
			fmt.Fprintf(out, "%s%s[%s]%s\n", indent, id[n.ID], mermaidLabel(captions(n)...), mermaidClass(n))
		}
		if d.namespace != "" {
			fmt.Fprintln(out, "  end")
		}
	}
	for _, e := range a.Diagram.Edges {
		arrow := "-->"
		if e.Dashed {
			arrow = "-.->"
		}
		if id[e.From] != "" && id[e.To] != "" {
			fmt.Fprintf(out, "  %s %s|%s| %s\n", id[e.From], arrow, mermaidLabel(e.Label), id[e.To])
		}
	}
	fmt.Fprintln(out, "  classDef root stroke-width:3px")
	fmt.Fprintln(out, "  classDef bad stroke:#c00,color:#c00")
	fmt.Fprintln(out, "  classDef warn stroke:#c80")
	fmt.Fprintln(out, "  classDef rim stroke:#999,color:#777")
	return out.Flush()
}

// mermaidLabel quotes the lines of a label.
func mermaidLabel(lines ...string) string {
	quoted := make([]string, 0, len(lines))
	for _, l := range lines {
		quoted = append(quoted, mermaidText(l))
	}
	return `"` + strings.Join(quoted, "<br/>") + `"`
}

// mermaidText makes entities of all that could end a label or begin Markdown,
// HTML, a directive, a comment or (the colon) a style, which Mermaid looks for by
// regular expressions in the text as a whole.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		if strings.ContainsRune("\"'<>&#`*_~[](){}|\\;:%=@$^!", r) {
			b.WriteString("#" + strconv.Itoa(int(r)) + ";")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mermaidClass is the look of a node, which can have one: what is wrong with it
// goes before what it is.
func mermaidClass(n view.DiagramNode) string {
	switch {
	case n.Tone == view.Bad:
		return ":::bad"
	case n.Tone == view.Warn:
		return ":::warn"
	case n.Root:
		return ":::root"
	case n.Boundary:
		return ":::rim"
	}
	return ""
}
