package source

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestManual reads one key of one ConfigMap, and nothing beside it.
func TestManual(t *testing.T) {
	f := newFake(t)
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/shop/configmaps/usage"):
			_, _ = w.Write([]byte(`{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "usage"}, "data": {"usage": "Do this.\n", "b": "other", "a": "other"}, "binaryData": {"usage": "AA=="}}`))
		case strings.HasSuffix(r.URL.Path, "/shop/configmaps/empty"):
			_, _ = w.Write([]byte(`{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "empty"}}`))
		case strings.HasSuffix(r.URL.Path, "/shop/configmaps/gone"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "configmaps \"gone\" not found", "details": {"name": "gone", "kind": "configmaps"}}`))
		case strings.Contains(r.URL.Path, "/configmaps/"):
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "configmaps \"usage\" is forbidden: User \"eve\" cannot get"}`))
		default:
			return false
		}
		return true
	}
	c, _ := f.cluster(t, ClusterOptions{})
	for _, r := range []struct {
		namespace, name, key, want, wrong string
		absent                            bool
	}{
		{"shop", "usage", "usage", "Do this.\n", "", false},
		{"shop", "usage", "none", "", `ConfigMap/shop/usage has no data key "none" (it has a, b, usage)`, false},
		{"shop", "empty", "usage", "", `has no data key "usage" (it has no data)`, false},
		{"shop", "gone", "usage", "", "there is no ConfigMap/shop/gone", true},
		{"other", "usage", "usage", "", `Forbidden: User "eve" cannot get`, false},
		{"shop", "../secrets/x", "usage", "", "is not a ConfigMap", false},
		{"", "usage", "usage", "", "is not a ConfigMap", false},
	} {
		got, err := c.Manual(t.Context(), r.namespace, r.name, r.key)
		absent, known := errors.AsType[*NoManualError](err)
		switch {
		case got != r.want || (err == nil) != (r.wrong == ""):
			t.Errorf("%s/%s %s: got %q, %v", r.namespace, r.name, r.key, got, err)
		case err != nil && (!known || !strings.Contains(absent.Message, r.wrong) || absent.Absent != r.absent):
			t.Errorf("%s/%s %s: %#v, want %q", r.namespace, r.name, r.key, err, r.wrong)
		}
	}
	for _, r := range f.log() {
		if !strings.Contains(r.path, "/configmaps/") || strings.Contains(r.path, "secrets") {
			t.Errorf("asked for %s", r.path)
		}
	}
}

func TestManualOfASnapshot(t *testing.T) {
	s := snapshotOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: usage, namespace: shop}, data: {usage: Do this.}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: redacted, namespace: shop}}
---
{apiVersion: v1, kind: Secret, metadata: {name: usage, namespace: other}, data: {usage: cGFzc3dvcmQ=}}
`)
	if got, err := s.Manual(t.Context(), "shop", "usage", "usage"); got != "Do this." || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for ref, want := range map[[3]string]string{
		{"shop", "usage", "x"}:        `has no data key "x" (it has usage)`,
		{"shop", "redacted", "usage"}: "the snapshot has ConfigMap/shop/redacted without its data",
		{"other", "usage", "usage"}:   "the snapshot has no ConfigMap/other/usage",
	} {
		if got, err := s.Manual(t.Context(), ref[0], ref[1], ref[2]); got != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q, %v", ref, got, err)
		}
	}
	// Reading everything still brings the metadata only.
	for _, o := range read(t, s.Reading(nil)).objects {
		if _, ok := o.Body.(*metav1.PartialObjectMetadata); !ok {
			t.Errorf("%s was read as %T", o.Ref, o.Body)
		}
	}
}
