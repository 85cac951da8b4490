package check

import "slices"

// stackRules are the rules about the objects of a stack together.
func stackRules() []Rule {
	return slices.Concat(robustOwnerRules(), robustBackupRules(), robustMetricsRules(), stackPodRules())
}
