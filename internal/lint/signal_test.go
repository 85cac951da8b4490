package lint_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
)

// TestSignalReacted: what an expression reads which says that an operator reacted is held
// against the definitions, at its place.
func TestSignalReacted(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: spark
title: Spark operator
description: Runs Spark.
source: https://example.com
kinds:
- kind: SparkApplication.sparkoperator.k8s.io
  plural: sparkapplications
  versions: [v1beta2]
  signals:
    stop:
      mode: suspend-run
      patch: {spec: {suspend: true}}
      resume: {spec: {suspend: false}}
      effect: its pods are deleted
      reacted: REACTED
      source: a
relations: []
`
	for given, want := range map[string]string{
		`status.?applicationState.?state.orValue("") == "SUSPENDED"`: "",
		`status.?applicationState.?sate.orValue("") == "SUSPENDED"`:  `17:42 SparkApplication.sparkoperator.k8s.io v1beta2: signal stop: reacted: path "status.applicationState.sate", column 24: status.applicationState has no field sate`,
		`status.condition("Suspended").status == "True"`:             `17:32 SparkApplication.sparkoperator.k8s.io v1beta2: signal stop: reacted: path "status.conditions`,
		">-\n        status.?phases.orValue(\"\") == \"SUSPENDED\"":  `18:17 SparkApplication.sparkoperator.k8s.io v1beta2: signal stop: reacted: path "status.phases"`,
	} {
		given := strings.Replace(text, "REACTED", given, 1)
		e, problems := catalog.Parse("spark", []byte(given))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, f := range lint.Entry(known(t), &e, lint.ReadDocument([]byte(given))) {
			got = append(got, place(f)+" "+f.Message)
		}
		if len(got) > 1 || want == "" && len(got) > 0 || want != "" && !strings.HasPrefix(strings.Join(got, "\n"), want) {
			t.Errorf("%s\n got %s\nwant %s", given, strings.Join(got, "\n"), want)
		}
	}
}
