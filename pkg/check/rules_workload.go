package check

import "slices"

// workloadRules are the rules about the pods of workloads.
func workloadRules() []Rule {
	return slices.Concat(
		podSecurityRules(), securityNetworkRules(), securityContainerRules(),
		robustResourceRules(), robustProbeRules(), robustSpreadRules(), robustBudgetRules(), robustSingleRules(), robustStorageRules(), robustInjectedRules(),
	)
}
