package check

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// robustnessRules are the rules of robustness, a table a topic.
func robustnessRules() []Rule {
	return slices.Concat(
		robustOwnerRules(),
		robustResourceRules(),
		robustProbeRules(),
		robustSpreadRules(),
		robustBudgetRules(),
		robustSingleRules(),
		robustStorageRules(),
		robustInjectedRules(),
		robustBackupRules(),
		robustMetricsRules(),
	)
}

// robustOpen marks a result where something was not read: what was not found there is
// not missing.
func robustOpen(r *Result, ref object.Ref, what string) {
	r.AddUnknown(ref, what+" could not be read")
}
