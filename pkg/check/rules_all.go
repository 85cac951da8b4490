package check

import (
	"cmp"
	"slices"
)

// Rules returns all rules, by category.
func Rules() []Rule {
	rules := slices.Concat(definitionRules(), operatorRules(), permissionRules(), workloadRules(), stackRules())
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Compare(slices.Index(Categories(), a.Category), slices.Index(Categories(), b.Category))
	})
	return rules
}

// RuleOf returns a rule by its ID.
func RuleOf(id string) (Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
