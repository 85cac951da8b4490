package render_test

import (
	"fmt"
	"regexp"
	"strings"
)

// dotGraph is what a DOT text says.
type dotGraph struct {
	nodes  map[string]bool
	edges  [][2]string
	labels []string // of nodes and edges
}

// dotReader parses the DOT language as its grammar has it, without what we do
// not write (ports, undirected edges, HTML, concatenation), strictly.
type dotReader struct {
	tokens []string
	at     int
	g      dotGraph
}

// A token is an ID, a numeral, a quoted string, an arrow or a mark. In a quoted
// string only a quote can be escaped; a backslash before anything else is text.
var dotToken = regexp.MustCompile(`^(?:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|"(?:\\\\|\\"|[^"\\\n]|\\[^"\\\n])*"|->|[{}\[\];,=])`)

func parseDOT(text string) (dotGraph, error) {
	r := dotReader{g: dotGraph{nodes: map[string]bool{}}}
	for {
		text = strings.TrimLeft(text, " \n")
		if text == "" {
			break
		}
		token := dotToken.FindString(text)
		if token == "" {
			return r.g, fmt.Errorf("no token at %.40q", text)
		}
		r.tokens = append(r.tokens, token)
		text = text[len(token):]
	}
	err := r.graph()
	return r.g, err
}

func (r *dotReader) peek() string {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return ""
}

func (r *dotReader) take(want string) error {
	if r.peek() != want {
		return fmt.Errorf("token %d is %q, want %q", r.at, r.peek(), want)
	}
	r.at++
	return nil
}

// id reads an ID; unquoted, it may be no keyword.
func (r *dotReader) id() (string, error) {
	t := r.peek()
	r.at++
	if strings.HasPrefix(t, `"`) {
		return strings.ReplaceAll(t[1:len(t)-1], `\"`, `"`), nil
	}
	if t == "" || strings.ContainsAny(t[:1], "{}[];,=") || t == "->" {
		return "", fmt.Errorf("token %d is %q, want an ID", r.at, t)
	}
	switch strings.ToLower(t) {
	case "node", "edge", "graph", "digraph", "subgraph", "strict":
		return "", fmt.Errorf("keyword %s as an ID", t)
	}
	return t, nil
}

func (r *dotReader) graph() error {
	if err := r.take("digraph"); err != nil {
		return err
	}
	if _, err := r.id(); err != nil {
		return err
	}
	if err := r.block(); err != nil {
		return err
	}
	if r.at != len(r.tokens) {
		return fmt.Errorf("more after the graph: %q", r.peek())
	}
	return nil
}

func (r *dotReader) block() error {
	if err := r.take("{"); err != nil {
		return err
	}
	for r.peek() != "}" {
		if err := r.statement(); err != nil {
			return err
		}
	}
	return r.take("}")
}

func (r *dotReader) statement() error {
	switch r.peek() {
	case "node", "edge":
		r.at++
		if err := r.attributes(nil); err != nil {
			return err
		}
		return r.take(";")
	case "subgraph":
		r.at++
		if _, err := r.id(); err != nil {
			return err
		}
		return r.block()
	}
	from, err := r.id()
	if err != nil {
		return err
	}
	switch r.peek() {
	case "=":
		r.at++
		if _, err := r.id(); err != nil {
			return err
		}
		return r.take(";")
	case "->":
		r.at++
		to, err := r.id()
		if err != nil {
			return err
		}
		r.g.edges = append(r.g.edges, [2]string{from, to})
	default:
		r.g.nodes[from] = true
	}
	if err := r.attributes(&r.g.labels); err != nil {
		return err
	}
	return r.take(";")
}

func (r *dotReader) attributes(labels *[]string) error {
	if err := r.take("["); err != nil {
		return err
	}
	for {
		name, err := r.id()
		if err != nil {
			return err
		}
		if err := r.take("="); err != nil {
			return err
		}
		value, err := r.id()
		if err != nil {
			return err
		}
		if name == "label" && labels != nil {
			*labels = append(*labels, value)
		}
		if r.peek() == "]" {
			r.at++
			return nil
		}
		if err := r.take(","); err != nil {
			return err
		}
	}
}
