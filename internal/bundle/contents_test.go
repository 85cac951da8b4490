package bundle_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

const pinned = "quay.io/x/db:1@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// contents are one chart, one set of manifests, and one entry with inline manifests.
func contents() bundle.Contents {
	entry := func(name string, v catalog.Version) (catalog.Entry, *catalog.Version) {
		v.Version, v.Namespace = "1.0.0", "default"
		return catalog.Entry{Name: name, Title: name, Description: "Does " + name + ".", Source: []string{"https://example.com"}, Versions: []catalog.Version{{Version: "0.9.0"}, v}}, &v
	}
	db, dbVersion := entry("db", catalog.Version{
		Source: catalog.Source{Chart: &catalog.ChartSource{Repository: "https://charts.example.com", Name: "DB", Version: "v1.0.0", Digest: fetch.Digest([]byte("chart"))}},
		Images: []catalog.Image{{Image: pinned}},
	})
	web, webVersion := entry("web", catalog.Version{Source: catalog.Source{Manifests: []catalog.ManifestSource{{URL: "https://example.com/a.yaml"}, {Path: "b.yaml"}}}})
	inline, inlineVersion := entry("inline", catalog.Version{Source: catalog.Source{Inline: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"}})
	return bundle.Contents{
		System: []byte("kind: System\n"), Name: "shop", Images: []string{"nginx", "quay.io/x/db:1"},
		Packages: []bundle.Package{
			{Entry: db, Version: dbVersion, Artifacts: []fetch.Artifact{{Data: []byte("chart")}}, Images: []string{"quay.io/x/db:1"}},
			{Entry: web, Version: webVersion, Artifacts: []fetch.Artifact{{Data: []byte("a")}, {Data: []byte("b")}}, Images: []string{"registry.example.com:5000/web", "bad image"}},
			{Entry: inline, Version: inlineVersion},
		},
	}
}

func TestFiles(t *testing.T) {
	files, err := bundle.Files(contents())
	if err != nil {
		t.Fatal(err)
	}
	packed, err := bundle.Write(files)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bundle.Files(contents()); err != nil {
		t.Error(err)
	} else if other, err := bundle.Write(again); err != nil || !bytes.Equal(other, packed) {
		t.Errorf("other bytes, %v", err)
	}
	opened, err := bundle.Open(packed, fetch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.Sub(opened, bundle.Entries)
	if err != nil {
		t.Fatal(err)
	}
	layer, problems, err := catalog.Load(entries, "x")
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	f, err := fetch.New(fetch.Options{Offline: true, Local: entries})
	if err != nil {
		t.Fatal(err)
	}
	db, _ := layer.Find("db")
	if len(db.Versions) != 1 {
		t.Fatalf("%d versions", len(db.Versions))
	}
	chart, err := f.Chart(t.Context(), *db.Versions[0].Source.Chart)
	if err != nil || string(chart.Data) != "chart" || !slices.Contains(chart.Verified, fetch.ByDigest) {
		t.Errorf("%q, %v, %v", chart.Data, chart.Verified, err)
	}
	web, _ := layer.Find("web")
	got, err := f.Manifests(t.Context(), web.Versions[0].Source.Manifests)
	if err != nil || len(got) != 2 || string(got[0].Data)+string(got[1].Data) != "ab" || len(got[0].Verified) == 0 {
		t.Errorf("%v, %v", got, err)
	}
	if images := string(files[bundle.Images]); images != "nginx\n"+pinned+"\nregistry.example.com:5000/web\n" {
		t.Errorf("images:\n%s", images)
	}
}

func TestBillOfMaterials(t *testing.T) {
	files, err := bundle.Files(contents())
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat, SpecVersion, SerialNumber string
		Components                           []struct {
			Type, Name, Version, PURL string
			Ref                       string `json:"bom-ref"`
			Hashes                    []struct{ Alg, Content string }
		}
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal(files[bundle.SBOM], &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || !strings.HasPrefix(bom.SerialNumber, "urn:uuid:") || len(bom.SerialNumber) != len("urn:uuid:")+36 {
		t.Errorf("%+v", bom)
	}
	purls := map[string]string{}
	refs := map[string]bool{"system": true}
	for _, c := range bom.Components {
		purls[c.Ref] = c.PURL
		if refs[c.Ref] {
			t.Errorf("%s occurs twice", c.Ref)
		}
		refs[c.Ref] = true
		for _, h := range c.Hashes {
			if h.Alg != "SHA-256" || len(h.Content) != 64 {
				t.Errorf("%s: %v", c.Ref, h)
			}
		}
	}
	for ref, want := range map[string]string{
		"chart:db":                            "pkg:helm/db@v1.0.0?repository_url=https%3A%2F%2Fcharts.example.com",
		"image:nginx":                         "pkg:oci/nginx?repository_url=docker.io%2Flibrary%2Fnginx",
		"image:" + pinned:                     "pkg:oci/db@sha256%3A" + strings.Repeat("a", 64) + "?repository_url=quay.io%2Fx%2Fdb&tag=1",
		"inline:inline":                       "pkg:generic/inline@1.0.0",
		"image:registry.example.com:5000/web": "pkg:oci/web?repository_url=registry.example.com%3A5000%2Fweb",
	} {
		if purls[ref] != want {
			t.Errorf("%s: %q, want %q", ref, purls[ref], want)
		}
	}
	for _, d := range bom.Dependencies {
		for _, on := range append(d.DependsOn, d.Ref) {
			if !refs[on] {
				t.Errorf("%s depends on %s, which is no component", d.Ref, on)
			}
		}
	}
}

func TestFilesRefused(t *testing.T) {
	for want, change := range map[string]func(*bundle.Contents){
		"its chart is 0 files":         func(c *bundle.Contents) { c.Packages[0].Artifacts = nil },
		"1 of its 2 manifest files":    func(c *bundle.Contents) { c.Packages[1].Artifacts = c.Packages[1].Artifacts[:1] },
		"a bundle has one":             func(c *bundle.Contents) { c.Packages = append(c.Packages, c.Packages[0]) },
		"the bundle could not be read": func(c *bundle.Contents) { c.Packages[2].Version.Namespace = "No Label" },
		"leads out":                    func(c *bundle.Contents) { c.Packages[2].Entry.Name = "../../x" },
	} {
		c := contents()
		change(&c)
		if files, err := bundle.Files(c); err == nil || !strings.Contains(err.Error(), want) || files != nil {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// A bundle that was cut, wherever that was, is refused, and so is one of which a byte is another.
func TestOpenDamaged(t *testing.T) {
	files, err := bundle.Files(contents())
	if err != nil {
		t.Fatal(err)
	}
	packed, err := bundle.Write(files)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(packed); at += 101 {
		if _, err := bundle.Open(packed[:at], fetch.Limits{}); err == nil {
			t.Errorf("cut at %d of %d: it was opened", at, len(packed))
		}
	}
	whole := bytes.Index(packed, []byte("kind: System"))
	changed := bytes.Clone(packed)
	changed[whole] = 'K'
	if _, err := bundle.Open(changed, fetch.Limits{}); err == nil || !strings.Contains(err.Error(), "system.yaml is sha256:") {
		t.Errorf("changed: %v", err)
	}
}
