package check

func coreosRules() []Rule {
	return nil
}
