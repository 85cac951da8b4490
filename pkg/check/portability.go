package check

func portabilityRules() []Rule {
	return nil
}
