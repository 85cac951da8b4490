package e2e

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// What signals write is admitted by the API server, fields that it does not know refused;
// what comes back is held, and after the way back it is not. The kinds are those of
// Kubernetes and of an operator that runs here.
func TestSignalsAreAdmitted(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	client := dynamic.NewForConfigOrDie(c.Config())
	of := signals.NewSet(catalog.Signals(nil), nil)
	const (
		pods = `{"selector": {"matchLabels": {"app": "it"}}, "replicas": 2, "template": {"metadata": {"labels": {"app": "it"}}, "spec": {"containers": [{"name": "c", "image": "c"}]}}}`
		job  = `{"template": {"spec": {"containers": [{"name": "c", "image": "c"}], "restartPolicy": "Never"}}}`
	)
	for _, k := range []struct{ group, version, kind, plural, spec string }{
		{"monitoring.coreos.com", "v1", "Prometheus", "prometheuses", `{"replicas": 0}`},
		{"monitoring.coreos.com", "v1alpha1", "PrometheusAgent", "prometheusagents", `{"replicas": 0}`},
		{"monitoring.coreos.com", "v1", "Alertmanager", "alertmanagers", `{"replicas": 0}`},
		{"monitoring.coreos.com", "v1", "ThanosRuler", "thanosrulers", `{"replicas": 0, "image": "i", "queryEndpoints": ["http://q"]}`},
		{"apps", "v1", "Deployment", "deployments", pods},
		{"apps", "v1", "ReplicaSet", "replicasets", pods},
		{"apps", "v1", "StatefulSet", "statefulsets", pods},
		{"batch", "v1", "CronJob", "cronjobs", `{"schedule": "0 0 1 1 *", "jobTemplate": {"spec": ` + job + `}}`},
		{"batch", "v1", "Job", "jobs", job},
	} {
		gvk := schema.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.kind}
		objects := client.Resource(gvk.GroupVersion().WithResource(k.plural)).Namespace(ns)
		live := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(`{"apiVersion": "`+k.group+"/"+k.version+`", "kind": "`+k.kind+`", "metadata": {"name": "signalled"}, "spec": `+k.spec+`}`), live); err != nil {
			t.Fatal(err)
		}
		if _, err := objects.Create(t.Context(), live, metav1.CreateOptions{FieldValidation: "Strict"}); err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, s := range of.All(gvk) {
			tried++
			admitted(t, objects, s)
		}
		if tried == 0 {
			t.Errorf("%s has no signal", k.kind)
		}
	}
}

func admitted(t *testing.T, objects dynamic.ResourceInterface, s signals.Signal) {
	t.Helper()
	what := s.Kind + " " + s.Preset
	var through []string
	if s.Scale {
		through = []string{"scale"}
	}
	patch := func(body any) *unstructured.Unstructured {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		after, err := objects.Patch(t.Context(), "signalled", types.MergePatchType, text, metav1.PatchOptions{FieldValidation: "Strict"}, through...)
		if err != nil {
			t.Fatalf("%s: %s: %v", what, text, err)
		}
		return after
	}
	before, err := objects.Get(t.Context(), "signalled", metav1.GetOptions{}, through...)
	if err != nil {
		t.Fatal(err)
	}
	if s.Holds(before) {
		t.Errorf("%s: it holds before it is given", what)
	}
	if _, err := s.Changes(before); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if after := patch(s.Patch); !s.Holds(after) {
		t.Errorf("%s: it does not hold %v", what, after.Object["spec"])
	}
	var back any = s.Resume
	if s.Scale {
		back = map[string]any{"spec": map[string]any{"replicas": 2}}
	}
	if after := patch(back); s.Holds(after) {
		t.Errorf("%s: it holds after the way back: %v", what, after.Object["spec"])
	}
}
