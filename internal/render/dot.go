package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// dot writes the DOT language of Graphviz. Namespaces are clusters; a guess is
// dashed, a boundary grey, what is missing red.
func dot(w io.Writer, a view.Output, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph sysop {")
	fmt.Fprintln(out, "  rankdir=LR;")
	fmt.Fprintln(out, `  node [shape=box, style=rounded, fontname="sans-serif"];`)
	fmt.Fprintln(out, `  edge [fontname="sans-serif", fontsize=10];`)
	for i, d := range districts(a.Diagram) {
		indent := "  "
		if d.namespace != "" {
			fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;\n", i, dotLabel(d.namespace))
			indent = "    "
		}
		for _, k := range d.nodes {
			n := a.Diagram.Nodes[k]
			fmt.Fprintf(out, "%s%s [label=%s%s];\n", indent, dotString(n.ID), dotLabel(captions(n)...), dotLook(n))
		}
		if d.namespace != "" {
			fmt.Fprintln(out, "  }")
		}
	}
	for _, e := range a.Diagram.Edges {
		look := ""
		if e.Dashed {
			look = ", style=dashed"
		}
		fmt.Fprintf(out, "  %s -> %s [label=%s%s];\n", dotString(e.From), dotString(e.To), dotLabel(e.Label), look)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// dotEscapes keep a quote from ending a string, and a backslash from beginning
// an escape: alone it would take the quote along.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// dotString quotes an ID.
func dotString(s string) string { return `"` + dotEscapes.Replace(clean(s)) + `"` }

// dotLabel quotes the lines of a label, where Graphviz also reads entities of
// HTML.
func dotLabel(lines ...string) string {
	quoted := make([]string, 0, len(lines))
	for _, l := range lines {
		quoted = append(quoted, strings.ReplaceAll(dotEscapes.Replace(clean(l)), "&", "&amp;"))
	}
	return `"` + strings.Join(quoted, `\n`) + `"`
}

func dotLook(n view.DiagramNode) string {
	look := ""
	if n.Root {
		look += ", penwidth=2"
	}
	switch {
	case n.Tone == view.Bad:
		look += ", color=red"
	case n.Tone == view.Warn:
		look += ", color=orange"
	case n.Boundary:
		look += ", color=gray, fontcolor=gray"
	}
	return look
}
