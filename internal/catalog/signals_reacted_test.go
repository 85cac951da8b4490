package catalog_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// TestSignalsReacted: the status that says that an operator reacted to a signal, in the words
// of its types, and those that say that it has not.
//
//   - elastic/cloud-on-k8s v3.5.0: condition OrchestrationPaused, False after a pause.
//   - grafana/grafana-operator v5.24.0, controllers/grafana_controller.go: condition Suspended,
//     with the generation that was seen.
//   - kubeflow/spark-operator v2.5.2, internal/controller/sparkapplication/controller.go:
//     SUSPENDING, then SUSPENDED; what has ended stays as it is.
func TestSignalsReacted(t *testing.T) {
	signals := map[string]signals.Signal{}
	for _, s := range catalog.Signals(nil) {
		if !s.Other {
			signals[s.Kind+" "+s.Preset] = s
		}
	}
	for _, c := range []struct {
		kind, preset, status string
		want                 bool
	}{
		{"Elasticsearch.elasticsearch.k8s.elastic.co", "pause", `{phase: Ready, conditions: [{type: OrchestrationPaused, status: "True", message: Orchestration paused via annotation; no pending spec changes detected}]}`, true},
		{"Elasticsearch.elasticsearch.k8s.elastic.co", "pause", `{phase: Ready, conditions: [{type: OrchestrationPaused, status: "False", message: Orchestration has resumed normally}]}`, false},
		{"Kibana.kibana.k8s.elastic.co", "pause", `{health: green}`, false},
		{"Kibana.kibana.k8s.elastic.co", "pause", `{conditions: [{type: OrchestrationPaused, status: "True"}]}`, true},
		{"Grafana.grafana.integreatly.org", "pause", `{stage: complete, stageStatus: success}`, false},
		{"Grafana.grafana.integreatly.org", "pause", `{conditions: [{type: Suspended, status: "True", reason: ReconcileSuspended, observedGeneration: 1}]}`, true},
		{"Grafana.grafana.integreatly.org", "pause", `{conditions: [{type: Suspended, status: "True", reason: ReconcileSuspended, observedGeneration: 0}]}`, false},
		{"SparkApplication.sparkoperator.k8s.io", "stop", `{applicationState: {state: RUNNING}}`, false},
		{"SparkApplication.sparkoperator.k8s.io", "stop", `{applicationState: {state: SUSPENDING}}`, true},
		{"SparkApplication.sparkoperator.k8s.io", "stop", `{applicationState: {state: SUSPENDED}}`, true},
		{"SparkApplication.sparkoperator.k8s.io", "stop", `{applicationState: {state: COMPLETED}}`, true},
		{"SparkApplication.sparkoperator.k8s.io", "stop", `{}`, false},
	} {
		is, err := health.NewPredicate("reacted", signals[c.kind+" "+c.preset].Reacted)
		if err != nil {
			t.Fatalf("%s: %v", c.kind, err)
		}
		for _, o := range fixtures(t, c.kind, []byte("status: "+c.status)) {
			if got, err := is.Holds(o); got != c.want || err != nil {
				t.Errorf("%s %s: %v, %v", c.kind, c.status, got, err)
			}
		}
	}
}

// TestSignalsReactedProbe: no such expression fails, whichever of the fields that it reads
// are absent, null or empty, and none is true of an object without a status. Where an older
// operator ignores a signal, an expression says how its status tells, but for those of which
// none does.
func TestSignalsReactedProbe(t *testing.T) {
	silent := map[string]string{
		"CephCluster.ceph.rook.io": "it says so by an event alone",
		"Application.argoproj.io":  "its status stays as it was",
	}
	for _, s := range catalog.Signals(nil) {
		if s.Reacted == "" {
			if s.Since != "" && silent[s.Kind] == "" {
				t.Errorf("%s %s: it is read since %s, and nothing says how its status tells", s.Kind, s.Preset, s.Since)
			}
			continue
		}
		rule := health.Rule{Kind: s.Kind, Healthy: s.Reacted}
		failures, err := rule.Probe()
		if err != nil {
			t.Error(err)
		}
		for _, f := range failures {
			t.Error(f.Error())
		}
		is, err := health.NewPredicate("reacted", s.Reacted)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range fixtures(t, s.Kind, []byte("spec: {}\n---\nspec: {}\nstatus: {}\n")) {
			if holds, err := is.Holds(o); holds || err != nil {
				t.Errorf("%s: %v, %v", s.Kind, holds, err)
			}
		}
	}
}
