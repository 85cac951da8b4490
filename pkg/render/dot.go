package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// dot writes the DOT language of Graphviz. Namespaces are clusters; a guess is
// dashed, a boundary grey, what is missing red.
func dot(w io.Writer, a view.Answer, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph sysop {")
	fmt.Fprintln(out, "  rankdir=LR;")
	fmt.Fprintln(out, `  node [shape=box, style=rounded, fontname="sans-serif"];`)
	fmt.Fprintln(out, `  edge [fontname="sans-serif", fontsize=10];`)
	for i, ns := range namespaces(a.Net) {
		indent := "  "
		if ns != "" {
			fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;\n", i, dotString(ns))
			indent = "    "
		}
		for _, n := range a.Net.Nodes {
			if n.Namespace == ns {
				fmt.Fprintf(out, "%s%s [label=%s%s];\n", indent, dotString(n.ID), dotLabel(n), dotLook(n))
			}
		}
		if ns != "" {
			fmt.Fprintln(out, "  }")
		}
	}
	for _, e := range a.Net.Edges {
		look := ""
		if e.Dashed {
			look = ", style=dashed"
		}
		fmt.Fprintf(out, "  %s -> %s [label=%s%s];\n", dotString(e.From), dotString(e.To), dotString(e.Label), look)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// namespaces returns those of the nodes, in the order in which they come.
func namespaces(n *view.Net) []string {
	var out []string
	seen := map[string]bool{}
	for _, node := range n.Nodes {
		if !seen[node.Namespace] {
			seen[node.Namespace] = true
			out = append(out, node.Namespace)
		}
	}
	return out
}

// dotString quotes for DOT: there, a backslash begins an escape of a label.
func dotString(s string) string {
	s = clean(s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func dotLabel(n view.NetNode) string {
	l := dotString(n.Kind)
	l = strings.TrimSuffix(l, `"`) + `\n` + strings.TrimPrefix(dotString(n.Name), `"`)
	if n.Note != "" {
		l = strings.TrimSuffix(l, `"`) + `\n` + strings.TrimPrefix(dotString(n.Note), `"`)
	}
	return l
}

func dotLook(n view.NetNode) string {
	look := ""
	if n.Root {
		look += ", penwidth=2"
	}
	switch {
	case n.Tone == view.Bad:
		look += ", color=red"
	case n.Tone == view.Warn:
		look += ", color=orange"
	case n.Rim:
		look += ", color=gray, fontcolor=gray"
	}
	return look
}
