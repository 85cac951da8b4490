package check

import "slices"

// permissionRules are the rules about service accounts and their permissions.
func permissionRules() []Rule {
	return slices.Concat(securityAccountRules(), rbacRules(), securityScopeRules())
}
