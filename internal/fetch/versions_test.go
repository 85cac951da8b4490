package fetch_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// TestChartVersions: what a repository and a registry list, and what they say where they cannot.
func TestChartVersions(t *testing.T) {
	repo := repository.ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": chartOf(t, "db", "1.2.3"), "db-1.3.0.tgz": chartOf(t, "db", "1.3.0"), "web-2.0.0.tgz": chartOf(t, "web", "2.0.0")})
	f := newFetcher(t, fetch.Options{PlainHTTP: true})
	got, err := f.ChartVersions(t.Context(), catalog.ChartSource{Repository: repo, Name: "db"})
	slices.Sort(got)
	if err != nil || strings.Join(got, " ") != "1.2.3 1.3.0" {
		t.Errorf("got %q, %v", got, err)
	}
	host := repository.ServeOCI(t)
	repository.PushChart(t, host+"/charts/db:1.2.3", chartOf(t, "db", "1.2.3"), nil)
	repository.PushChart(t, host+"/charts/db:2.0.0", chartOf(t, "db", "2.0.0"), nil)
	got, err = f.ChartVersions(t.Context(), catalog.ChartSource{OCI: "oci://" + host + "/charts/db", Version: "1.2.3"})
	slices.Sort(got)
	if err != nil || strings.Join(got, " ") != "1.2.3 2.0.0" {
		t.Errorf("got %q, %v", got, err)
	}
	for want, source := range map[string]catalog.ChartSource{
		"has no chart shop":     {Repository: repo, Name: "shop"},
		"404":                   {OCI: "oci://" + host + "/charts/none"},
		"a file beside the":     {Path: "a.tgz"},
		"write oci://HOST/PATH": {OCI: "https://example.com"},
	} {
		_, err := f.ChartVersions(t.Context(), source)
		refused(t, err, want, "list the versions of chart")
	}
	_, err = newFetcher(t, fetch.Options{Offline: true}).ChartVersions(t.Context(), catalog.ChartSource{Repository: repo, Name: "db"})
	refused(t, err, "offline")
}

// TestChartVersionsPages: a registry gives its tags in pages of its own size.
func TestChartVersionsPages(t *testing.T) {
	tags := []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := slices.Index(tags, r.URL.Query().Get("last")) + 1
		if r.URL.Path != "/v2/charts/db/tags/list" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"name": "charts/db", "tags": tags[i:min(i+2, len(tags))]}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	at := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/db"
	got, err := newFetcher(t, fetch.Options{PlainHTTP: true}).ChartVersions(t.Context(), catalog.ChartSource{OCI: at})
	if err != nil || !slices.Equal(got, tags) {
		t.Errorf("got %q, %v", got, err)
	}
}
