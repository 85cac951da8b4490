package health_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// thing makes a custom resource with a status.
func thing(status any, meta map[string]any) object.Object {
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = "it"
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Thing", "metadata": meta, "status": status,
	}}
	return object.Object{Ref: object.Ref{Group: "example.org", Kind: "Thing", Name: "it"}, Meta: u, Body: u}
}

func conditionMap(kind, status string) map[string]any {
	return map[string]any{"type": kind, "status": status, "lastTransitionTime": "2026-05-04T11:59:00Z"}
}

// Whatever else a status says, what is known to be bad makes it not healthy.
func TestNeverHealthyInTrouble(t *testing.T) {
	trouble := []map[string]any{
		conditionMap("Degraded", "True"), conditionMap("ReconcileError", "True"), conditionMap("Stalled", "True"),
		conditionMap("ReplicaFailure", "True"), conditionMap("Ready", "False"), conditionMap("Available", "False"),
		conditionMap("Ready", "Unknown"), conditionMap("Healthy", "False"), conditionMap("Synced", "False"),
		conditionMap("Reconciling", "True"), conditionMap("UpgradeInProgress", "True"), conditionMap("Suspended", "True"),
		conditionMap("Paused", "True"), conditionMap("Failed", "true"), conditionMap("InvalidConfiguration", "True"),
	}
	fine := []map[string]any{
		conditionMap("Programmed", "True"), conditionMap("ConfigurationValid", "True"), conditionMap("Initialized", "True"),
		conditionMap("Bound", "True"), conditionMap("Failing", "False"), conditionMap("Progressing", "False"),
		conditionMap("Frobnicated", "True"), conditionMap("Complete", "True"), conditionMap("Established", "True"),
	}
	words := []string{"Running", "Ready", "green", "Frob", "Succeeded", "ACTIVE", ""}
	random := rand.New(rand.NewPCG(1, 2))
	judge := health.NewEvaluator(snapshotTime)
	for range 3000 {
		list := []any{trouble[random.IntN(len(trouble))]}
		for range random.IntN(4) {
			list = append(list, fine[random.IntN(len(fine))])
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		status := map[string]any{"conditions": list, "replicas": int64(3), "readyReplicas": int64(3)}
		if w := words[random.IntN(len(words))]; w != "" {
			status["phase"] = w
		}
		if h := judge.Evaluate(thing(status, nil)); h.Status == health.Healthy {
			text, _ := json.Marshal(status)
			t.Fatalf("healthy by %s (%s): %s", h.Stage, h.Message, text)
		}
	}
}

// What nobody knows is never called well.
func TestNeverHealthyByDefault(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	judge := health.NewEvaluator(snapshotTime)
	for range 2000 {
		status := map[string]any{}
		for range random.IntN(5) {
			key := fmt.Sprintf("%c%s", 'a'+rune(random.IntN(26)), [...]string{"Blub", "Phase", "State", "Count", "Ref"}[random.IntN(5)])
			status[key] = [...]any{"gnorf", int64(3), true, []any{"x"}, map[string]any{"state": "gnorf"}}[random.IntN(5)]
		}
		if random.IntN(2) == 0 {
			status["conditions"] = []any{conditionMap("Gnorf", [...]string{"True", "False", "Unknown"}[random.IntN(3)])}
		}
		if h := judge.Evaluate(thing(status, nil)); h.Status == health.Healthy {
			text, _ := json.Marshal(status)
			t.Fatalf("healthy by %s (%s): %s", h.Stage, h.Message, text)
		}
	}
}

// The order in which maps are walked and lists are written changes nothing.
func TestSameInputSameHealth(t *testing.T) {
	for _, k := range readCases(t) {
		judge := health.NewEvaluator(object.Newest(k.body.Object))
		first := judge.Evaluate(k.object())
		for range 5 {
			if h := judge.Evaluate(k.object()); h != first {
				t.Fatalf("%s: %+v, then %+v", k.name, first, h)
			}
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		`{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}`,
		`{"status": {"conditions": {"Ready": true, "x": null}, "phase": 3}}`,
		`{"status": "Running", "spec": {"suspend": "yes", "replicas": "x"}}`,
		`{"status": {"conditions": [1, null, [], {"type": {}, "status": []}], "observedGeneration": "a"}, "metadata": {"generation": 2}}`,
		`{"status": {"readyReplicas": 1e300, "error": {"message": 3}, "errors": [null]}, "spec": null}`,
		`{"status": {"parents": [{"conditions": [{"type": "Accepted", "status": "False"}]}], "health": "\u00e9\ud800 FAILED"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		content := map[string]any{}
		if json.Unmarshal(data, &content) != nil {
			return
		}
		u := &unstructured.Unstructured{Object: content}
		o := object.Object{Ref: object.Ref{Group: "example.org", Kind: "Thing"}, Meta: u, Body: u}
		judge := health.NewEvaluator(object.Newest(content))
		h := judge.Evaluate(o)
		if h.Status == "" || h.Reason == "" || h.Message == "" {
			t.Fatalf("%+v", h)
		}
		if again := judge.Evaluate(o); again != h {
			t.Fatalf("%+v, then %+v", h, again)
		}
	})
}

// BenchmarkJudge judges 10,000 custom resources of all groups.
func BenchmarkJudge(b *testing.B) {
	var objects []object.Object
	for _, k := range readCases(b) {
		objects = append(objects, k.object())
	}
	judge := health.NewEvaluator(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	b.ReportAllocs()
	for b.Loop() {
		for i := range 10_000 {
			judge.Evaluate(objects[i%len(objects)])
		}
	}
}
