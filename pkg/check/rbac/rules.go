// Package rbac has the rules about service accounts and the permissions that operators and
// the pods of stacks have.
package rbac

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Rules are the rules about service accounts and their permissions.
func Rules() []check.Rule {
	return slices.Concat(accountRules(), topicRules(), scopeRules())
}
