package check

import "slices"

// definitionRules are the rules about CustomResourceDefinitions.
func definitionRules() []Rule {
	return slices.Concat(consumabilityRules(), settableRules(), crdInstalledRules(), crdVersionRules(), crdAppVersionRules())
}
