// Package workload has the rules about the pods of workloads: security, probes, resources,
// replicas, budgets and volumes.
package workload

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Rules are the rules about the pods of workloads.
func Rules() []check.Rule {
	return slices.Concat(
		podSecurityRules(), networkRules(), containerRules(),
		resourceRules(), probeRules(), spreadRules(), budgetRules(), singleRules(), storageRules(), injectedRules(),
	)
}
