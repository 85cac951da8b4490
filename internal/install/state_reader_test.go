package install

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The reader goes through all pages, and asks for metadata where that is all it wants.
func TestReader(t *testing.T) {
	secrets := object.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		meta := strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList")
		switch {
		case r.URL.Path == "/version":
			fmt.Fprint(w, `{"gitVersion": "v1.33.2"}`)
		case r.URL.Path == "/api/v1/namespaces/a/secrets/one":
			fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one", "namespace": "a"}}`)
		case r.URL.Path != "/api/v1/namespaces/a/secrets" || r.URL.Query().Get("labelSelector") != "owner=helm":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		default:
			next, name, kind := "more", "one", "SecretList"
			if r.URL.Query().Get("continue") == "more" {
				next, name = "", "two"
			}
			apiVersion, item := "v1", `"apiVersion": "v1", "kind": "Secret", "data": {"a": "Yg=="},`
			if meta {
				apiVersion, kind, item = "meta.k8s.io/v1", "PartialObjectMetadataList", ""
			}
			fmt.Fprintf(w, `{"apiVersion": %q, "kind": %q, "metadata": {"continue": %q}, "items": [{%s "metadata": {"name": %q, "namespace": "a", "labels": {"owner": "helm"}}}]}`, apiVersion, kind, next, item, name)
		}
	}))
	defer server.Close()
	reader, err := NewReader(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if v, err := reader.Version(ctx); err != nil || v != "v1.33.2" {
		t.Errorf("version %q, %v", v, err)
	}
	if u, err := reader.Get(ctx, secrets, "a", "one"); err != nil || u.GetName() != "one" {
		t.Errorf("%v, %v", u, err)
	}
	if _, err := reader.Get(ctx, secrets, "a", "gone"); !apierrors.IsNotFound(err) {
		t.Errorf("want not found: %v", err)
	}
	whole, err := reader.List(ctx, secrets, "a", "owner=helm")
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := reader.ListMetadata(ctx, secrets, "a", "owner=helm")
	if err != nil {
		t.Fatal(err)
	}
	want := []object.Ref{{Kind: "Secret", Namespace: "a", Name: "one"}, {Kind: "Secret", Namespace: "a", Name: "two"}}
	if got := refsOf(whole); !slices.Equal(got, want) || whole[0].Object["data"] == nil {
		t.Errorf("listed %v", whole)
	}
	if got := refsOf(metadata); !slices.Equal(got, want) || metadata[0].Object["data"] != nil {
		t.Errorf("listed metadata %v", metadata)
	}
	if _, err := reader.ListMetadata(ctx, secrets, "b", ""); !apierrors.IsNotFound(err) {
		t.Errorf("want not found: %v", err)
	}
}
