package declare

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Equal says whether two relations say the same, wherever they stand.
func (s Spec) Equal(o Spec) bool {
	s.Line, s.Column, s.Source, o.Line, o.Column, o.Source = 0, 0, "", 0, 0, ""
	return reflect.DeepEqual(s, o)
}

// Of returns what the relation says of one kind: without the others of a list in
// which it stands. Nothing where it does not speak of the kind.
func (s Spec) Of(kind string) []Spec {
	switch {
	case slices.Contains(s.From, kind):
		s.From = []string{kind}
	case slices.Contains(s.To, kind):
		s.To = []string{kind}
	default:
		return nil
	}
	return []Spec{s}
}

// Format writes relations as the annotation sysop.dev/relationships of a kind has
// them: a YAML list, a line each, without from or to where that is the kind.
func Format(specs []Spec, self string) string {
	var b strings.Builder
	for _, s := range specs {
		switch {
		case slices.Equal(s.From, []string{self}):
			s.From = nil
		case slices.Equal(s.To, []string{self}):
			s.To = nil
		}
		text, err := strict.Encode(s.Node())
		if err != nil {
			panic(err) // a node of texts is always written
		}
		b.WriteString("- " + string(text))
	}
	return b.String()
}

// Node writes the relation as it is read, on one line.
func (s Spec) Node() *yaml.Node {
	return strict.Flow(strict.StructNode(s, strict.Formats{"kinds": oneOrMore, "versions": strict.TextsNode, "conditions": conditionsNode}))
}

// oneOrMore writes a list of one text as that text.
func oneOrMore(all []string) *yaml.Node {
	if len(all) == 1 {
		return strict.TextNode(all[0])
	}
	return strict.TextsNode(all)
}

func conditionsNode(when []Condition) *yaml.Node {
	var p strict.Pairs
	for _, c := range when {
		value := strict.ValueNode(nil)
		if len(c.Values) > 0 {
			value = oneOrMore(c.Values)
		}
		p = p.Put(c.Path, value)
	}
	return p.Node()
}
