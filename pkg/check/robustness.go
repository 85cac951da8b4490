package check

func robustnessRules() []Rule {
	return nil
}
