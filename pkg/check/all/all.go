// Package all has the table of all rules.
package all

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/definition"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/rbac"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/stack"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/workload"
)

//go:generate go test . -run TestGuidelinesPage -update-guidelines

// Rules returns all rules, by category.
func Rules() []check.Rule {
	rules := slices.Concat(definition.Rules(), operator.Rules(), rbac.Rules(), workload.Rules(), stack.Rules())
	slices.SortStableFunc(rules, func(a, b check.Rule) int {
		return cmp.Compare(slices.Index(check.Categories(), a.Category), slices.Index(check.Categories(), b.Category))
	})
	return rules
}
