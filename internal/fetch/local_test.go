package fetch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func TestLocal(t *testing.T) {
	archive := chartOf(t, "db", "1.2.3")
	local := fstest.MapFS{
		"charts/db-1.2.3.tgz":         {Data: archive},
		"charts/db-1.2.3.tgz.prov":    {Data: []byte("signed")},
		"charts/web/Chart.yaml":       {Data: []byte("name: web\n")},
		"charts/web/templates/a.yaml": {Data: []byte("kind: ConfigMap\n")},
		"m/crds.yaml":                 {Data: []byte("kind: X\n")},
	}
	f := newFetcher(t, fetch.Options{Offline: true, Local: local})
	for digest, verified := range map[string][]string{"": nil, fetch.Digest(archive): {fetch.ByDigest}} {
		got, err := f.Chart(t.Context(), catalog.ChartSource{Path: "./charts/db-1.2.3.tgz", Digest: digest})
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, archive, false, verified...)
		noted(t, got, "not checked: no keyring")
	}
	folder, err := f.Chart(t.Context(), catalog.ChartSource{Path: "charts/web"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := fetch.Unpack(folder.Data, fetch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := fs.ReadFile(files, "chart/Chart.yaml"); err != nil || string(text) != "name: web\n" {
		t.Errorf("%q, %v", text, err)
	}
	again, err := f.Chart(t.Context(), catalog.ChartSource{Path: "charts/web", Digest: folder.Digest})
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, again, folder.Data, false, fetch.ByDigest)
	manifests, err := f.Manifests(t.Context(), []catalog.ManifestSource{{Path: "m/crds.yaml"}, {Path: "m/crds.yaml", SHA256: fetch.Digest([]byte("kind: X\n"))}})
	if err != nil || len(manifests) != 2 {
		t.Fatalf("%v, %v", manifests, err)
	}
	mustBe(t, manifests[1], []byte("kind: X\n"), false, fetch.ByDigest)
	for want, source := range map[string]catalog.ChartSource{
		"wrong digest":        {Path: "charts/db-1.2.3.tgz", Digest: fetch.Digest(nil)},
		": wrong digest":      {Path: "charts/web", Digest: fetch.Digest(nil)},
		"leads out":           {Path: "../x.tgz"},
		`without ".."`:        {Path: "/etc/passwd"},
		"of the catalog: ":    {Path: `..\x`},
		"file does not exist": {Path: "charts/none.tgz"},
	} {
		_, err := f.Chart(t.Context(), source)
		refused(t, err, want)
	}
	_, err = f.Manifests(t.Context(), []catalog.ManifestSource{{Path: "charts"}})
	refused(t, err, "not a regular file")
	_, err = newFetcher(t, fetch.Options{}).Chart(t.Context(), catalog.ChartSource{Path: "a"})
	refused(t, err, "has no directory")
	_, err = newFetcher(t, fetch.Options{Local: local, Limits: fetch.Limits{Files: 1}}).Chart(t.Context(), catalog.ChartSource{Path: "charts/web"})
	refused(t, err, "more than 1 files")
	_, err = newFetcher(t, fetch.Options{Local: local, Limits: fetch.Limits{Unpacked: 20}}).Chart(t.Context(), catalog.ChartSource{Path: "charts/web"})
	refused(t, err, "more than 10 bytes")
}

func TestLocalLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "chart"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.yaml", "chart/Chart.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a: b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"inside.yaml": "m.yaml", "outside.yaml": "/etc/passwd", "folder": "chart", "chart/values.yaml": "../m.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	f := newFetcher(t, fetch.Options{Local: os.DirFS(dir)})
	for _, path := range []string{"inside.yaml", "outside.yaml", "folder/Chart.yaml"} {
		_, err := f.Manifests(t.Context(), []catalog.ManifestSource{{Path: path}})
		refused(t, err, "symbolic link, which is not followed")
	}
	_, err := f.Chart(t.Context(), catalog.ChartSource{Path: "chart"})
	refused(t, err, "values.yaml is a symbolic link")
}
