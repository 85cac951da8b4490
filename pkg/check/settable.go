package check

func settableRules() []Rule {
	return nil
}
