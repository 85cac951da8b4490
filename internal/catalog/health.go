package catalog

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Health returns the health rules of the entries: of the kinds that the
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
