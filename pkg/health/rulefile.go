package health

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// ParseRules reads a user's file of rules: a YAML list of them, or a document each.
// It reports every error with its place; a file with errors
// gives no usable rules. name is the file name, for messages.
func ParseRules(name string, data []byte) ([]Rule, []strict.Problem) {
	items, problem := RuleNodes(data)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case len(items) == 0:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty: expected a list of rules"}}
	}
	var rules []Rule
	var problems []strict.Problem
	for _, item := range items {
		r := Rule{Origin: "file " + name}
		m := &strict.Mapping{}
		m.Fields = append(RuleFields(m, &r, data), strict.Field{Name: "kind", Required: true, Set: func(n *yaml.Node) {
			r.Kind = m.Text(n)
			if r.Kind != "" && !kindPattern(r.Kind) {
				m.Report(n, "%q is not a kind: write Kind.group, as Certificate.cert-manager.io", r.Kind)
			}
		}})
		m.Read(item)
		if message := r.Second(rules); r.Kind != "" && message != "" {
			m.Report(second(item), "%s", message)
		}
		if len(m.Problems) == 0 && r.Empty() {
			m.Report(item, "the rule is empty: expected degraded, progressing, suspended, derived or healthy")
		}
		problems = append(problems, m.Problems...)
		rules = append(rules, r)
	}
	return rules, problems
}

// RuleNodes returns what should be a rule each in a file of rules, in the order of ParseRules.
func RuleNodes(data []byte) ([]*yaml.Node, *strict.Problem) {
	documents, problem := strict.Documents(data)
	if problem != nil {
		return nil, problem
	}
	var items []*yaml.Node
	for _, d := range documents {
		if d.Kind == yaml.SequenceNode {
			items = append(items, d.Content...)
			continue
		}
		items = append(items, d)
	}
	return items, nil
}

// IsRulesFile says whether a text is a file of health rules: a list, or a document with an
// expression of one. What is no YAML is not.
func IsRulesFile(data []byte) bool {
	documents, problem := strict.Documents(data)
	if problem != nil || len(documents) == 0 {
		return false
	}
	first := documents[0]
	for _, s := range (&Rule{}).states() {
		if strict.Value(first, s.field) != nil {
			return true
		}
	}
	return first.Kind == yaml.SequenceNode
}

// Empty reports whether the rule has no expression for a health.
func (r *Rule) Empty() bool {
	for _, s := range r.states() {
		if s.text != "" {
			return false
		}
	}
	return true
}

// kindPattern: a kind begins with a capital, its group is in lower case. One without a
// group is of the core.
func kindPattern(text string) bool {
	kind, group, grouped := strings.Cut(text, ".")
	if kind == "" || kind[0] < 'A' || kind[0] > 'Z' || strings.ContainsAny(text, " \t\n/*") {
		return false
	}
	return !grouped || group != "" && group == strings.ToLower(group) && !strings.HasSuffix(group, ".")
}

// RuleFields are the keys of a rule in YAML, but its kind. Each expression is compiled
// when it is read, so that what does not compile is a problem with its place; text is
// that in which it stands.
func RuleFields(m *strict.Mapping, r *Rule, text []byte) []strict.Field {
	return m.FieldsOf(r, strict.Formats{
		"versions": (*strict.Mapping).APIVersions, "owner": ownerProblem,
		"expression": func(m *strict.Mapping, n *yaml.Node) string {
			expression := m.Text(n)
			if expression != "" {
				m.Problems = append(m.Problems, checkAt(n, text, m.KeyOf(n))...)
			}
			return expression
		},
	})
}

// ownerProblem says what is wrong with a kind of owners that keep objects as history.
func ownerProblem(owner string) string {
	if owner == anyOwner || kindPattern(owner) {
		return ""
	}
	return fmt.Sprintf("%q is not a kind: write Kind.group, as Rollout.argoproj.io, or %s", owner, anyOwner)
}

// checkAt compiles an expression that stands at a node of a text.
func checkAt(n *yaml.Node, text []byte, field string) []strict.Problem {
	env, err := environment()
	if err != nil {
		return []strict.Problem{strict.At(n, "%v", err)}
	}
	_, refused := newExpression(env, field, n.Value)
	var wrong *ExpressionError
	if refused == nil || !errors.As(refused, &wrong) {
		return nil
	}
	line, column := PlaceIn(n, text, wrong.Line, wrong.Column)
	return []strict.Problem{{Line: line, Column: column, Message: field + ": " + wrong.Message}}
}

// PlaceIn finds where in a file a place in the value of a scalar is. YAML folds lines
// and takes indentation off, but it keeps what is no space in its order: so the place
// is behind as many of those.
func PlaceIn(n *yaml.Node, text []byte, line, column int) (int, int) {
	lines := strings.Split(string(text), "\n")
	before := 0
	for i, l := range strings.SplitN(n.Value, "\n", line) {
		runes := []rune(l)
		if i == line-1 {
			runes = runes[:min(column-1, len(runes))]
		}
		before += len([]rune(strings.Join(strings.Fields(string(runes)), "")))
	}
	row, from := n.Line-1, n.Column-1
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		row, from = row+1, 0
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		from++
	}
	for ; row >= 0 && row < len(lines); row, from = row+1, 0 {
		l := []rune(lines[row])
		for i := min(from, len(l)); i < len(l); i++ {
			if l[i] == ' ' || l[i] == '\t' || l[i] == '\r' {
				continue
			}
			if before == 0 {
				return row + 1, i + 1
			}
			before--
			// Two characters escape one in quotes: '', \".
			if n.Style == yaml.SingleQuotedStyle && l[i] == '\'' || n.Style == yaml.DoubleQuotedStyle && l[i] == '\\' {
				i++
			}
		}
	}
	return max(n.Line, 1), max(n.Column, 1)
}
