package catalog

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Health returns what the entries say of how objects fare: of the kinds that the
// cluster serves, or of all where kinds is nil.
func Health(kinds *object.Kinds) []health.Rule {
	var rules []health.Rule
	for _, e := range wholes(func(e Entry) bool { return kinds == nil || e.definesServed(kinds) }) {
		for _, k := range e.Kinds {
			if len(k.Health) == 0 || kinds != nil && !served(k.Kind, kinds) {
				continue
			}
			for _, rule := range k.Health {
				rule.Kind, rule.Origin = k.Kind, e.Origin()
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// parseHealth reads the health of a kind: a rule, or a list of them for different versions.
func parseHealth(n *yaml.Node, text []byte) ([]health.Rule, []strict.Problem) {
	if n.Kind != yaml.SequenceNode {
		r, problems := parseRule(n, text)
		return []health.Rule{r}, problems
	}
	all := &strict.Mapping{}
	if len(n.Content) == 0 {
		all.Report(n, "expected a rule, or a list of rules for different versions")
	}
	var rules []health.Rule
	for _, item := range n.Content {
		r, problems := parseRule(item, text)
		all.Problems = append(all.Problems, problems...)
		if message := r.Second(rules); message != "" {
			all.Report(item, "%s", message)
		}
		rules = append(rules, r)
	}
	return rules, all.Problems
}

// parseRule reads a rule, and compiles its expressions.
func parseRule(n *yaml.Node, text []byte) (health.Rule, []strict.Problem) {
	var r health.Rule
	m := &strict.Mapping{}
	m.Fields = health.RuleFields(m, &r, text)
	i := slices.IndexFunc(m.Fields, func(f strict.Field) bool { return f.Name == "source" })
	m.Fields[i].Required = true
	m.Read(n)
	if len(m.Problems) == 0 && r.Empty() {
		m.Report(n, "it is empty: expected degraded, progressing, suspended or healthy")
	}
	return r, m.Problems
}
