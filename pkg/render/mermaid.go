package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// mermaid writes a flowchart of Mermaid, which GitHub and GitLab draw in
// Markdown.
func mermaid(w io.Writer, a view.Answer, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "flowchart LR")
	id := map[string]string{}
	for i, n := range a.Net.Nodes {
		id[n.ID] = "n" + strconv.Itoa(i)
	}
	for i, ns := range namespaces(a.Net) {
		indent := "  "
		if ns != "" {
			fmt.Fprintf(out, "  subgraph s%d[%s]\n", i, mermaidString(ns))
			indent = "    "
		}
		for _, n := range a.Net.Nodes {
			if n.Namespace == ns {
				fmt.Fprintf(out, "%s%s[%s]%s\n", indent, id[n.ID], mermaidLabel(n), mermaidClass(n))
			}
		}
		if ns != "" {
			fmt.Fprintln(out, "  end")
		}
	}
	for _, e := range a.Net.Edges {
		arrow := "-->"
		if e.Dashed {
			arrow = "-.->"
		}
		fmt.Fprintf(out, "  %s %s|%s| %s\n", id[e.From], arrow, e.Label, id[e.To])
	}
	fmt.Fprintln(out, "  classDef root stroke-width:3px")
	fmt.Fprintln(out, "  classDef bad stroke:#c00,color:#c00")
	fmt.Fprintln(out, "  classDef warn stroke:#c80")
	fmt.Fprintln(out, "  classDef rim stroke:#999,color:#777")
	return out.Flush()
}

// mermaidString quotes for Mermaid, whose labels are read as Markdown and HTML:
// everything that could begin either becomes an entity.
func mermaidString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range clean(s) {
		if strings.ContainsRune("\"<>&#`*_~[](){}|\\;", r) {
			b.WriteString("#" + strconv.Itoa(int(r)) + ";")
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

func mermaidLabel(n view.NetNode) string {
	l := strings.TrimSuffix(mermaidString(n.Kind), `"`) + "<br/>" + strings.TrimPrefix(mermaidString(n.Name), `"`)
	if n.Note != "" {
		l = strings.TrimSuffix(l, `"`) + "<br/>" + strings.TrimPrefix(mermaidString(n.Note), `"`)
	}
	return l
}

func mermaidClass(n view.NetNode) string {
	switch {
	case n.Tone == view.Bad:
		return ":::bad"
	case n.Tone == view.Warn:
		return ":::warn"
	case n.Root:
		return ":::root"
	case n.Rim:
		return ":::rim"
	}
	return ""
}
