package catalogs

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// TestNewer: what is after a version, newest first; pre-releases, signatures and what is older are not.
func TestNewer(t *testing.T) {
	published := strings.Fields("v1.2.0 1.10.0 1.9.1 v1.9.1 2.0.0-rc.1 sha256-0ab.sig main 1.3.0")
	for than, want := range map[string]string{"1.3.0": "1.10.0 1.9.1", "v1.10.0": "", "2.0.0-beta.1": "2.0.0-rc.1", "0.1": "1.10.0 1.9.1 1.3.0 v1.2.0"} {
		got, err := newer(than, published)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("newer than %s: %q, %v; want %q", than, got, err, want)
		}
	}
	if _, err := newer("latest", published); err == nil {
		t.Error("latest is a version")
	}
}

// chartArchive is a chart of nothing.
func chartArchive(t *testing.T, name, version string) []byte {
	t.Helper()
	return repository.Archive(t, name, map[string]string{"Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"})
}

// TestOutdated asks an index and a registry on this machine, and says of what has no list that it has none.
func TestOutdated(t *testing.T) {
	repo := repository.ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": chartArchive(t, "db", "1.2.3"), "db-1.3.0.tgz": chartArchive(t, "db", "1.3.0")})
	host := repository.ServeOCI(t)
	repository.PushChart(t, host+"/charts/web:2.0.0", chartArchive(t, "web", "2.0.0"), nil)
	of := func(name string, source catalog.Source) catalog.Entry {
		return catalog.Entry{Name: name, Versions: []catalog.Version{{Version: "1.2.3", Source: source}}}
	}
	all := &Catalogs{Catalogue: catalog.Embedded(), fetch: fetch.Options{PlainHTTP: true}}
	var rows []catalog.Published
	for _, e := range []catalog.Entry{
		of("db", catalog.Source{Chart: &catalog.ChartSource{Repository: repo, Name: "db", Version: "1.2.3"}}),
		of("web", catalog.Source{Chart: &catalog.ChartSource{OCI: "oci://" + host + "/charts/web", Version: "v2.0.0"}}),
		of("gone", catalog.Source{Chart: &catalog.ChartSource{Repository: repo, Name: "gone", Version: "1.2.3"}}),
		of("files", catalog.Source{Manifests: []catalog.ManifestSource{{URL: "https://example.com/a.yaml"}}}),
	} {
		rows = append(rows, all.published(t.Context(), e))
	}
	if r := rows[0]; !slices.Equal(r.Newer, []string{"1.3.0"}) || r.Unread != "" || r.From != repo {
		t.Errorf("db: %+v", r)
	}
	if r := rows[1]; len(r.Newer) > 0 || r.Unread != "" || r.Has != "v2.0.0" {
		t.Errorf("web: %+v", r)
	}
	if r := rows[2]; !strings.Contains(r.Unread, "has no chart gone") {
		t.Errorf("gone: %+v", r)
	}
	if r := rows[3]; !strings.Contains(r.Unread, "nothing lists its versions") {
		t.Errorf("files: %+v", r)
	}
}
