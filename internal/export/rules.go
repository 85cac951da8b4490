package export

import (
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// RecordingRules returns the rules that keep a history in Prometheus: a PrometheusRule, or only the
// file of rules in it. matchers are for every series.
func RecordingRules(matchers string, file bool) map[string]any {
	type object = map[string]any
	minutes := func(d time.Duration) string { return fmt.Sprintf("%dm", d/time.Minute) }
	document := object{"groups": []object{{
		"name": "sysop", "interval": minutes(metrics.RuleInterval), "query_offset": minutes(metrics.RuleOffset), "rules": metrics.Rules(matchers),
	}}}
	if file {
		return document
	}
	return object{"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": object{"name": "sysop-metrics"}, "spec": document}
}
