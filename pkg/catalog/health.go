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
	for _, e := range entries {
		for _, k := range e.Kinds {
			if k.Health.Empty() || kinds != nil && !served(k.Kind, kinds) {
				continue
			}
			rule := k.Health
			rule.Kind, rule.Origin = k.Kind, e.Origin()
			rules = append(rules, rule)
		}
	}
	return rules
}

// parseHealth reads the health of a kind, and compiles its expressions.
func parseHealth(n *yaml.Node, text []byte) (health.Rule, []strict.Problem) {
	var r health.Rule
	m := &strict.Mapping{}
	m.Fields = health.RuleFields(m, &r, text)
	i := slices.IndexFunc(m.Fields, func(f strict.Field) bool { return f.Name == "source" })
	m.Fields[i].Required = true
	m.Read(n)
	if len(m.Problems) == 0 && r.Empty() {
		m.Report(n, "it says nothing: want degraded, progressing, suspended or healthy")
	}
	return r, m.Problems
}
