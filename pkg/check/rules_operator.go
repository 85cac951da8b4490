package check

import "slices"

// operatorRules are the rules about operators, but for their permissions.
func operatorRules() []Rule {
	return slices.Concat(operatorInstalledRules(), operatorWebhookRules(), operatorTestRules())
}
