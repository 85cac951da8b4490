package health

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// noon is when the fixtures are judged.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// kindFixture is a file of testdata/kinds.
type kindFixture struct {
	name           string
	status, reason string
	typed, mapped  object.Object
}

func kindFixtures(t testing.TB) []kindFixture {
	t.Helper()
	files, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil || len(files) < 90 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	var all []kindFixture
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(data), "\n")
		status, reason, _ := strings.Cut(strings.TrimPrefix(head, "# "), " ")
		u := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSON(data)
		if err == nil {
			err = u.UnmarshalJSON(text) // Whole numbers stay int64, as the sources read them.
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		f := kindFixture{name: strings.TrimSuffix(filepath.Base(file), ".yaml"), status: status, reason: reason, mapped: objectOf(t, u)}
		f.typed = f.mapped
		if body, err := scheme.Scheme.New(u.GroupVersionKind()); err == nil {
			if err := yaml.UnmarshalStrict(data, body); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			f.typed = objectOf(t, body)
			f.typed.Ref = f.mapped.Ref
		}
		all = append(all, f)
	}
	return all
}

func objectOf(t testing.TB, body runtime.Object) object.Object {
	t.Helper()
	m, err := meta.Accessor(body)
	if err != nil {
		t.Fatal(err)
	}
	gvk := body.GetObjectKind().GroupVersionKind()
	return object.Object{
		Ref:     object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: m.GetNamespace(), Name: m.GetName()},
		Version: gvk.Version, Meta: m, Body: body,
	}
}

// TestKinds: every fixture is judged as its first line says, by the stage of the
// built-in kinds, and with a message that is not a template.
func TestKinds(t *testing.T) {
	j := NewEvaluator(noon)
	for _, f := range kindFixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			h := j.Evaluate(f.typed)
			if string(h.Status) != f.status || h.Reason != f.reason {
				t.Errorf("%s %s (%s), wanted %s %s", h.Status, h.Reason, h.Message, f.status, f.reason)
			}
			if h.Stage != "kind" && h.Reason != Deleting {
				t.Errorf("judged by %q", h.Stage)
			}
			if h.Message == "" || strings.Contains(h.Message, "%!") || strings.HasSuffix(h.Message, " ") {
				t.Errorf("message %q", h.Message)
			}
			if h.Since.After(noon) {
				t.Errorf("since %s, which is yet to come", h.Since)
			}
		})
	}
}

// TestKindsAsMaps: what was read as maps of the version of the type is judged alike;
// of another version, not at all.
func TestKindsAsMaps(t *testing.T) {
	j := NewEvaluator(noon)
	for _, f := range kindFixtures(t) {
		want, _ := j.kind(newSubject(f.typed, noon))
		if got, ok := j.kind(newSubject(f.mapped, noon)); !ok || got != want {
			t.Errorf("%s: %v as maps, %v as a type", f.name, got, want)
		}
		if f.typed.Body == f.mapped.Body || want.Reason == Exists {
			continue
		}
		f.mapped.Body.(*unstructured.Unstructured).SetAPIVersion("example.com/v1alpha1")
		if got, ok := j.kind(newSubject(f.mapped, noon)); ok {
			t.Errorf("%s: %v of a version that is not known", f.name, got)
		}
	}
}

// TestKindsSince: what is in trouble tells since when, where its object does.
func TestKindsSince(t *testing.T) {
	want := map[string]string{
		"deployment-deadline":      "11:00:00",
		"deployment-lost-long-ago": "11:55:00",
		"pod-crashloop":            "11:00:00", // Not since the last crash.
		"pod-failed-oom":           "11:55:20",
		"pod-unschedulable":        "11:00:00",
		"pod-container-creating":   "11:59:00",
		"pod-was-ready":            "11:59:30",
		"job-failed":               "11:51:01",
		"hpa-no-metrics":           "10:00:00",
		"node-lost":                "11:59:00",
		"node-cordoned":            "10:00:00",
		"pdb-forbids-all":          "10:00:00",
		"volumeattachment-error":   "10:00:00",
		"crd-names-taken":          "10:00:00",
		"pod-deleting":             "11:59:50", // The timestamp less the grace.
	}
	j := NewEvaluator(noon)
	for _, f := range kindFixtures(t) {
		if since, ok := want[f.name]; ok {
			if got := j.Evaluate(f.typed).Since.UTC().Format(time.TimeOnly); got != since {
				t.Errorf("%s: since %s, wanted %s", f.name, got, since)
			}
			delete(want, f.name)
		}
	}
	if len(want) > 0 {
		t.Errorf("no fixtures: %v", want)
	}
}

// TestKindMessages: what people read is short, and has the numbers and names in it.
func TestKindMessages(t *testing.T) {
	want := map[string]string{
		"deployment-rolling":           "1/3 replicas updated",
		"deployment-quota":             `pods "web-1-x" is forbidden: exceeded quota: small`,
		"deployment-deadline":          `3/3 replicas available; ReplicaSet "web-2" has timed out progressing.`,
		"statefulset-ondelete":         "3/3 replicas available; 2 are of an older revision until they are deleted",
		"job-running":                  "1/3 succeeded, 1 active, 2 failed",
		"job-failed":                   "0/1 succeeded, 3 failed; Job has reached the specified backoff limit",
		"cronjob-last-run-failed":      "its last run, of 2026-01-01T11:00:00Z, has ended without success",
		"cronjob-succeeded":            "its last run, of 2026-01-01T11:00:00Z, has succeeded",
		"cronjob-new":                  "it has not run yet",
		"pod-node-lost":                "Node n1 which was running pod web-1 is unresponsive",
		"pod-failed-exit":              "app ended: Error, exit code 2",
		"pod-failed-silent":            "it has failed",
		"pod-crashloop":                "app: CrashLoopBackOff, restarted 7 times, last ended: OOMKilled, exit code 137",
		"pod-crashed-and-runs-again":   "app, restarted once, last ended: OOMKilled, exit code 137; it is not ready since",
		"pod-config-error":             `app: CreateContainerConfigError: secret "db" not found`,
		"pod-initializing":             "1/2 init containers done; migrate runs",
		"pod-ready-restarted-just-now": "1/1 containers ready; app, restarted 2 times, last ended: OOMKilled, exit code 137",
		"pod-readiness-gate":           "1/1 containers ready; waits for target-health.elbv2.k8s.aws/x",
		"pod-gated":                    "held back by scheduling gates: kueue.x-k8s.io/admission",
		"pod-resize-infeasible":        "1/1 containers ready; its resize is infeasible",
		"pdb-forbids-all":              "3/3 pods healthy, 3 needed: it forbids every disruption",
		"resourcequota-used-up":        "used up: pods 2/2",
		"hpa-at-limit":                 "5 replicas, 5 requested; the desired replica count is more than the maximum replica count",
	}
	j := NewEvaluator(noon)
	for _, f := range kindFixtures(t) {
		if message, ok := want[f.name]; ok {
			if got := j.Evaluate(f.typed).Message; got != message {
				t.Errorf("%s: %q, wanted %q", f.name, got, message)
			}
			delete(want, f.name)
		}
	}
	if len(want) > 0 {
		t.Errorf("no fixtures: %v", want)
	}
}

// TestKindsMetadataOnly: of what has no state, of namespaces, and to say of a definition that
// it is there, metadata is enough; of nothing else.
func TestKindsMetadataOnly(t *testing.T) {
	j := NewEvaluator(noon)
	for _, r := range kindRules() {
		o := object.Object{Ref: object.Ref{Group: r.group, Kind: r.kind, Name: "x"}, Meta: &metav1.PartialObjectMetadata{}}
		o.Body = o.Meta.(runtime.Object)
		want := Health{Status: Unknown, Reason: ReasonUnread}
		switch {
		case r.kind == "Namespace":
			want = Health{Status: Healthy, Reason: "Active"}
		case r.version == "", r.kind == "CustomResourceDefinition":
			want = Health{Status: Healthy, Reason: Exists}
		}
		if h := j.Evaluate(o); h.Status != want.Status || h.Reason != want.Reason {
			t.Errorf("%s.%s: %s %s, wanted %s %s", r.kind, r.group, h.Status, h.Reason, want.Status, want.Reason)
		}
	}
}
