package lint_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
)

// TestMonitoring: each field of a switch for metrics is looked up, with its type and its values.
func TestMonitoring(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: streams
title: Strimzi
description: Runs Kafka.
source: https://example.com
kinds:
- kind: KafkaConnect.kafka.strimzi.io
  plural: kafkaconnects
  versions: [v1]
  monitoring:
    set: {spec: {metricsConfig: {type: strimziMetricsReporter}}}
    https: {spec: {replicas: 1}}
    port: tcp-prometheus
    source: a
relations: []
`
	for change, want := range map[string]string{
		"":                                  "",
		"metricsConfig: =metrics: ":         "KafkaConnect.kafka.strimzi.io v1: monitoring: ",
		"strimziMetricsReporter=prometheus": "KafkaConnect.kafka.strimzi.io v1: monitoring: ",
		"replicas: 1=replicas: all":         "KafkaConnect.kafka.strimzi.io v1: monitoring: ",
		"replicas: 1=replica: 1":            "KafkaConnect.kafka.strimzi.io v1: monitoring: ",
	} {
		from, to, _ := strings.Cut(change, "=")
		given := text
		if from != "" {
			given = strings.Replace(text, from, to, 1)
		}
		e, problems := catalog.Parse("streams", []byte(given))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, f := range lint.Entry(known(t), &e, lint.ReadDocument([]byte(given))) {
			got = append(got, f.Message)
		}
		if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.HasPrefix(all, want) {
			t.Errorf("%s\n got %s\nwant %s", change, all, want)
		}
	}
}
