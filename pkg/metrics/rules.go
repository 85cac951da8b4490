package metrics

// rulePrefix begins the names of recording rules.
const rulePrefix = "sysop:"

// recording selects the series that the rule of a quantity records.
func (e *expressions) recording(q quantity) string {
	plain := *e
	if q.ofCluster {
		plain.namespaces = nil
	}
	return plain.selector(rulePrefix + q.name)
}

// Rule is a recording rule, which is evaluated every RuleInterval.
type Rule struct {
	Record string `json:"record"`
	Expr   string `json:"expr"`
}

// RuleInterval is how often the recording rules are evaluated.
const RuleInterval = ruleStep

// Rules are recording rules for windows of steps of RuleInterval: what a query sums over the
// steps of a window is computed once, at each step. A History uses them where they cover the
// window. They are about the whole cluster, from the metrics that current versions of
// kube-state-metrics and the kubelets have; matchers are added to every selector.
func Rules(matchers string) []Rule {
	e := &expressions{step: ruleStep, sampling: sampling(ruleStep), matchers: matchers, has: map[string]bool{}, unnamed: true}
	for _, name := range e.metrics() {
		e.has[name] = true
	}
	var rules []Rule
	for _, q := range e.quantities(true) {
		rules = append(rules, Rule{Record: rulePrefix + q.name, Expr: q.expr})
	}
	return rules
}
