package lint_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// The Rollout of OpenKruise names its workload in spec.objectRef in v1alpha1, and in
// spec.workloadRef in v1beta1, of which alone the status has currentStepState.
const rollout = "- kind: Rollout.rollouts.kruise.io\n"

// TestHealthVersions: a rule is held against the versions that it is for, and without them
// against the newest.
func TestHealthVersions(t *testing.T) {
	const (
		older = "  healthy: spec.?objectRef.?workloadRef.?kind.orValue(\"\") == \"x\"\n"
		newer = "  healthy: status.?currentStepState.orValue(\"\") == \"x\"\n"
	)
	for name, test := range map[string]struct{ text, want string }{
		"older, for every version": {rollout + older, "2:18 Rollout.rollouts.kruise.io v1beta1: healthy: path \"spec.objectRef\""},
		"older, which has it":      {rollout + older, "; v1alpha1 has it: write versions: [v1alpha1]"},
		"older, for older":         {rollout + older + "  versions: [v1alpha1]\n", ""},
		"older, for both":          {rollout + older + "  versions: [v1alpha1, v1beta1]\n", "2:18 Rollout.rollouts.kruise.io v1beta1: healthy: path \"spec.objectRef\""},
		"newer, for every version": {rollout + newer, ""},
		"newer, for older":         {rollout + newer + "  versions: v1alpha1\n", "2:20 Rollout.rollouts.kruise.io v1alpha1: healthy: path \"status.currentStepState\""},
		"each for its own":         {rollout + older + "  versions: v1alpha1\n" + rollout + newer + "  versions: v1beta1\n", ""},
		"a status that newer lack": {"- kind: Alert.notification.toolkit.fluxcd.io\n  degraded: status.condition(\"Ready\").status == \"False\"\n", "2:29 Alert.notification.toolkit.fluxcd.io v1: degraded: path \"status.conditions[].type\""},
		"and where it is":          {"- kind: Alert.notification.toolkit.fluxcd.io\n  degraded: status.condition(\"Ready\").status == \"False\"\n", "; v1beta2 has it: write versions: [v1beta2]"},
		"a version that is not":    {rollout + newer + "  versions: [v1beta1, v1]\n", "3:13 Rollout.rollouts.kruise.io has no version v1: it has v1beta1, v1alpha1"},
	} {
		rules, problems := health.ParseRules(name, []byte(test.text))
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		found := lint.HealthRules(known(t), rules, []byte(test.text))
		switch {
		case test.want == "" && len(found) > 0, test.want != "" && len(found) != 1:
			t.Errorf("%s: %+v", name, found)
		case test.want != "" && !strings.Contains(place(found[0])+" "+found[0].Message, test.want):
			t.Errorf("%s: %s %s\nwant %s", name, place(found[0]), found[0].Message, test.want)
		}
	}
}

// TestHealthVersionsOfEntry: the rules of an entry are found at their place in a list.
func TestHealthVersionsOfEntry(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: kruise
title: OpenKruise
description: Rolls out.
source: https://example.com
kinds:
- kind: Rollout.rollouts.kruise.io
  plural: rollouts
  versions: [v1beta1, v1alpha1]
  health:
  - {versions: [v1beta1], source: a, healthy: 'status.?currentStepState.orValue("") == "x"'}
  - versions: [v1alpha1, v1]
    source: a
    healthy: status.?currentStepState.orValue("") == "x"
relations: []
`
	e, problems := catalog.Parse("kruise", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, f := range lint.Entry(known(t), &e, lint.ReadDocument([]byte(text))) {
		got = append(got, place(f)+" "+f.Message)
	}
	want := []string{
		"13:15 Rollout.rollouts.kruise.io has no version v1: it has v1beta1, v1alpha1",
		`15:22 Rollout.rollouts.kruise.io v1alpha1: healthy: path "status.currentStepState", column 7: status has no field currentStepState (it has canaryStatus, conditions, message, observedGeneration, phase)`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
