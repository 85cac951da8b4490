package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is something that is wrong in a text, and where.
// Line and Column count from 1.
type Problem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Message)
}

// Document parses the one YAML document of a text; nil for an empty text.
func Document(text []byte) (*yaml.Node, *Problem) {
	all, problem := documents(text)
	switch {
	case len(all) > 1:
		return nil, &Problem{all[1].Line, all[1].Column, "expected one document, got a second one"}
	case problem != nil || len(all) == 0 || len(all[0].Content) != 1:
		return nil, problem
	}
	return all[0].Content[0], nil
}

// Documents parses the YAML documents of a text, without empty ones.
func Documents(text []byte) ([]*yaml.Node, *Problem) {
	all, problem := documents(text)
	if problem != nil {
		return nil, problem
	}
	var roots []*yaml.Node
	for _, doc := range all {
		roots = append(roots, doc.Content...)
	}
	return roots, nil
}

func documents(text []byte) ([]*yaml.Node, *Problem) {
	if err := CheckNodes(text); err != nil {
		return nil, &Problem{1, 1, err.Error()}
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var all []*yaml.Node
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, yamlProblem(err)
		}
		all = append(all, &doc)
	}
}

// yamlProblem takes the line out of what the parser says.
func yamlProblem(err error) *Problem {
	p := &Problem{1, 1, strings.TrimPrefix(err.Error(), "yaml: ")}
	if rest, ok := strings.CutPrefix(p.Message, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			p.Line, p.Message = n, message
		}
	}
	p.Message = "not YAML: " + p.Message
	return p
}

// At makes a problem of a node.
func At(n *yaml.Node, format string, args ...any) Problem {
	return Problem{Line: max(n.Line, 1), Column: max(n.Column, 1), Message: fmt.Sprintf(format, args...)}
}
