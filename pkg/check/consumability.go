package check

func consumabilityRules() []Rule {
	return nil
}
