package metrics

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

const (
	// rulePrefix begins the names of recording rules.
	rulePrefix = "sysop:"
	// matchersLabel has the text of the matchers where labels cannot say all of them.
	matchersLabel = "sysop_matchers"
)

// recording selects the series that the rule of a quantity records, of the rules with the same
// matchers: what other ones record may lack the labels by which the matchers would tell it apart.
func (e *expressions) recording(q quantity) string {
	plain, text := *e, recordedLabels(e.matchers)[matchersLabel]
	if text != "" {
		plain.matchers = ""
	}
	if q.ofCluster {
		plain.namespaces = nil
	}
	return plain.selector(rulePrefix+q.name, matchersLabel+"="+strconv.Quote(text))
}

// recordedSteps selects the steps that rules recorded.
func (e *expressions) recordedSteps() string {
	return e.recording(quantity{name: "steps", ofCluster: true})
}

// recordedLabels are the labels of what rules with these matchers record.
func recordedLabels(matchers string) map[string]string {
	labels := equalities(matchers)
	if len(labels) < len(matcherForm.FindAllString(matchers, -1)) {
		labels[matchersLabel] = matchers
	}
	return labels
}

// Rule is a recording rule, which is evaluated every RuleInterval.
type Rule struct {
	Record string `json:"record"`
	Expr   string `json:"expr"`
	// Labels are those that the matchers select.
	Labels map[string]string `json:"labels,omitempty"`
}

// RuleInterval is how often the recording rules are evaluated.
const RuleInterval = ruleStep

// RuleOffset is how long after a step its value is computed, as the query_offset of the group: a
// sample of the kubelet has the time at which it was measured, and is scraped later. What is
// recorded has the time of the step.
const RuleOffset = 2 * time.Minute

// Rules are recording rules for windows of steps of RuleInterval: what a query sums over the
// steps of a window is computed once, at each step. A History uses them where they cover the
// window. They are about the whole cluster, from the metrics that current versions of
// kube-state-metrics and the kubelets have, whether their scraper honours labels or not.
// Matchers are added to every selector, and those of one value (cluster="eu-1") to the labels of
// what is recorded; of all others the text is a label. A window with the same matchers finds it.
func Rules(matchers string) []Rule {
	e := &expressions{step: ruleStep, sampling: sampling(ruleStep), matchers: matchers, has: map[string]bool{}, unnamed: true, exported: true, scheduled: true}
	for _, name := range e.metrics() {
		e.has[name] = true
	}
	labels := recordedLabels(matchers)
	var rules []Rule
	for _, q := range e.quantities(true) {
		rule := Rule{Record: rulePrefix + q.name, Expr: q.expr, Labels: maps.Clone(labels)}
		for own := range strings.SplitSeq(q.by, ",") {
			delete(rule.Labels, own)
		}
		rules = append(rules, rule)
	}
	return rules
}

// matcherForm is one matcher of labels: its name, operator and quoted value.
var matcherForm = lazyregexp.New("([a-zA-Z_][a-zA-Z0-9_]*)\\s*(=~|!=|!~|=)\\s*(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`)")

// equalities are the labels that matchers give one value.
func equalities(matchers string) map[string]string {
	labels := map[string]string{}
	for _, matcher := range matcherForm.FindAllString(matchers, -1) {
		m := matcherForm.FindStringSubmatch(matcher)
		text := m[3]
		if text[0] == '\'' { // as Go does not quote text
			text = `"` + strings.ReplaceAll(strings.ReplaceAll(text[1:len(text)-1], `\'`, `'`), `"`, `\"`) + `"`
		}
		if value, err := strconv.Unquote(text); err == nil && m[2] == "=" && value != "" {
			labels[m[1]] = value
		}
	}
	return labels
}
