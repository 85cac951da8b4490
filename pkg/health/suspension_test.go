package health_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// unheard are signals that general rules do not take for a pause, with the reason. The
// key is the kind and a part of the patch.
var unheard = []struct{ kind, part, reason string }{
	{"Elasticsearch", "eck.k8s.elastic.co/suspend", "it names some pods, not the cluster"},
	{"Cluster", "fencedInstances", "it names instances"},
	{"postgresql", `"numberOfInstances":0`, "a count of nothing: what is there says how it is"},
	{"Infinispan", `"replicas":0`, "a count of nothing"},
	{"MysqlCluster", `"replicas":0`, "a count of nothing"},
	{"Cluster", "componentSpecs", "one component of several"},
}

// TestSignals applies what pauses the objects of 40 operators to a well one.
func TestSignals(t *testing.T) {
	data, err := os.ReadFile("testdata/signals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	judge := health.NewEvaluator(snapshotTime)
	tried := 0
	for line := range strings.Lines(string(data)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(part) != 5 {
			continue
		}
		tried++
		kind, patch := part[1], part[3]
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(patch), &u.Object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		u.SetAPIVersion(part[0] + "/v1")
		u.SetKind(kind)
		u.Object["status"] = map[string]any{"conditions": []any{conditionMap("Ready", "True")}}
		o := object.Object{Ref: object.Ref{Group: part[0], Kind: kind, Name: "it"}, Meta: u, Body: u}
		want := health.Suspended
		for _, e := range unheard {
			if e.kind == kind && strings.Contains(patch, e.part) {
				want = health.Healthy
			}
		}
		if h := judge.Evaluate(o); h.Status != want {
			t.Errorf("%s %s: %s by %s, want %s", kind, patch, h.Status, h.Stage, want)
		}
	}
	if tried < 60 {
		t.Errorf("%d signals tried", tried)
	}
}

// What resumes, or says that it does not pause, does not.
func TestNotSuspended(t *testing.T) {
	for _, fields := range []string{
		`{spec: {suspend: false, paused: "no", pause: ""}, status: {phase: Ready}}`,
		`{spec: {managementState: Managed, runStrategy: Always, enabled: true}, status: {phase: Ready}}`,
		`{spec: {hibernation: {enabled: false, schedules: []}}, status: {phase: Ready}}`,
		`{spec: {backup: {enabled: false}, jobTemplate: {spec: {suspend: true}}}, status: {phase: Ready}}`,
		`{metadata: {annotations: {a.io/paused: "false", b.io/reconcile: enabled, c.io/hibernation: "off"}, labels: {d.io/managed: "true"}}, status: {phase: Ready}}`,
		`{metadata: {annotations: {paused: "true", note.io/pause-window: "true"}}, status: {phase: Ready}}`,
	} {
		if h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Thing", fields).object()); h.Status != health.Healthy {
			t.Errorf("%s: %s by %s: %s", fields, h.Status, h.Stage, h.Message)
		}
	}
}

// Ways to pause that are the same by another name.
func TestSuspended(t *testing.T) {
	for _, fields := range []string{
		`{spec: {suspendDispatching: true}, status: {phase: Ready}}`,
		`{spec: {powered: false}, status: {phase: Ready}}`,
		`{spec: {state: "Off"}, status: {phase: Ready}}`,
		`{spec: {onHold: true}, status: {phase: Ready}}`,
		`{metadata: {annotations: {a.io/reconcile-policy: skip}}, status: {phase: Ready}}`,
		`{metadata: {annotations: {a.io/actuation-mode: Paused}}, status: {phase: Ready}}`,
		`{status: {phase: OnHold}}`, `{status: {state: POWEROFF}}`, `{status: {state: Sleeping}}`,
		`{spec: {replicas: 10, updateStrategy: {rollingUpdate: {partition: 4}}}, status: {replicas: 10, readyReplicas: 10, updatedReplicas: 6, phase: Running}}`,
		`{spec: {replicas: 10, updateStrategy: {partition: "40%"}}, status: {replicas: 10, readyReplicas: 10, updatedReplicas: 6, phase: Running}}`,
	} {
		if h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Thing", fields).object()); h.Status != health.Suspended {
			t.Errorf("%s: %s by %s: %s", fields, h.Status, h.Stage, h.Message)
		}
	}
	for _, fields := range []string{
		`{spec: {replicas: 10, updateStrategy: {rollingUpdate: {partition: 0}}}, status: {replicas: 10, readyReplicas: 10, updatedReplicas: 6, phase: Running}}`,
		`{spec: {replicas: 10, updateStrategy: {partition: 4}}, status: {replicas: 10, readyReplicas: 10, updatedReplicas: 5, phase: Running}}`,
	} {
		if h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, "Thing", fields).object()); h.Status != health.Progressing {
			t.Errorf("%s: %s by %s: %s", fields, h.Status, h.Stage, h.Message)
		}
	}
}

// What others only read has no status, and is not on its way to one.
func TestSettings(t *testing.T) {
	const young = `{metadata: {creationTimestamp: "2026-05-04T11:59:00Z"}`
	for kind, c := range map[string]struct {
		fields string
		want   health.Status
	}{
		"ProviderConfig":       {young + `, spec: {credentials: {}}, status: {users: 3}}`, health.Unknown},
		"WorkflowTemplate":     {young + `, spec: {}}`, health.Unknown},
		"VulnerabilityReport":  {young + `, report: {summary: {criticalCount: 2}}}`, health.Unknown},
		"KeyValues":            {young + `, data: {a: b}}`, health.Unknown},
		"Gadget":               {young + `, spec: {}}`, health.Progressing},
		"AlertmanagerConfig":   {young + `, spec: {}}`, health.Progressing},
		"ClusterConfiguration": {young + `, spec: {}, status: {phase: Ready}}`, health.Healthy},
	} {
		if h := health.NewEvaluator(snapshotTime).Evaluate(custom(t, kind, c.fields).object()); h.Status != c.want {
			t.Errorf("%s: %s by %s: %s", kind, h.Status, h.Stage, h.Message)
		}
	}
}
