package catalog_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// TestHealthProbe: no expression of the catalogue fails on an object of its kind, whichever
// of the fields that it reads are absent, null or empty.
func TestHealthProbe(t *testing.T) {
	for _, r := range catalog.Health(nil) {
		failures, err := r.Probe()
		if err != nil {
			t.Errorf("%s: %v", r.Kind, err)
		}
		for _, f := range failures {
			t.Error(f.Error())
		}
	}
}

// TestHealthObserved: of an ExternalSecret the generation that was synced is in front of the
// hash in its syncedResourceVersion; of one that failed, or that is made once only, that
// says nothing.
func TestHealthObserved(t *testing.T) {
	judge := health.NewEvaluator(now, catalog.Health(nil)...)
	for _, c := range []struct {
		object, ready string
		want          health.Status
	}{
		{`status: {syncedResourceVersion: 2-a1b2c3d4e5f6, conditions: [{type: Ready, status: READY}]}`, "True", health.Healthy},
		{`status: {syncedResourceVersion: 1-a1b2c3d4e5f6, conditions: [{type: Ready, status: READY}]}`, "True", health.Progressing},
		{`status: {syncedResourceVersion: 1-a1b2c3d4e5f6, conditions: [{type: Ready, status: READY}]}`, "False", health.Degraded},
		{`status: {conditions: [{type: Ready, status: READY}]}`, "True", health.Healthy},
		{"spec: {refreshPolicy: CreatedOnce}\nstatus: {syncedResourceVersion: 1-a1b2, conditions: [{type: Ready, status: READY}]}", "True", health.Healthy},
	} {
		o := fixtures(t, "ExternalSecret.external-secrets.io", []byte(strings.Replace(c.object, "READY", `"`+c.ready+`"`, 1)))[0]
		o.Meta.SetGeneration(2)
		h := judge.Evaluate(o)
		if h.Status != c.want || h.RuleError != nil || c.want == health.Progressing && (h.Stage != "generation" || h.Reason != health.ReasonNotObserved) {
			t.Errorf("%s, Ready %s: %+v, want %s", c.object, c.ready, h, c.want)
		}
	}
}

// TestHealthHistory: an AnalysisRun that ended with a question stops its rollout, and says
// for which revision it was made.
func TestHealthHistory(t *testing.T) {
	judge := health.NewEvaluator(now, catalog.Health(nil)...)
	for kind, kept := range map[string]bool{"AnalysisRun.argoproj.io": true, "Experiment.argoproj.io": true, "Rollout.argoproj.io": false} {
		o := fixtures(t, kind, []byte(`metadata: {annotations: {rollout.argoproj.io/revision: "7"}}`+"\nstatus: {phase: Inconclusive}"))[0]
		h := judge.Evaluate(o)
		if h.History == nil || h.History.Revision != "7" || (len(h.History.Owners) > 0) != kept || h.History.Made.IsZero() {
			t.Errorf("%s: %+v", kind, h.History)
		}
	}
}

// TestHealthVersions: a condition that only an older version of an API has says nothing of an
// object of a newer one, in which somebody else may have left it.
func TestHealthVersions(t *testing.T) {
	judge := health.NewEvaluator(now, catalog.Health(nil)...)
	for _, kind := range []string{"Alert.notification.toolkit.fluxcd.io", "Provider.notification.toolkit.fluxcd.io"} {
		for version, want := range map[string]health.Status{"v1beta2": health.Degraded, "v1beta3": health.Healthy, "v1": health.Healthy} {
			o := fixtures(t, kind+" "+version, []byte(`status: {conditions: [{type: Ready, status: "False", reason: ValidationFailed}]}`))[0]
			if h := judge.Evaluate(o); h.Status != want || h.Stage != "entry" {
				t.Errorf("%s %s: %+v, want %s", kind, version, h, want)
			}
		}
	}
}
