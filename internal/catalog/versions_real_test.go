package catalog_test

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// published is what a project publishes at one address, as testdata/published.txt has it.
type published struct{ entry, version, address, chart, chartVersion, digest, document string }

func (p published) String() string { return p.entry + " " + p.version + " " + p.address }

func readPublished(t *testing.T) []published {
	t.Helper()
	text, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []published
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 7 {
			t.Fatalf("%q: want seven columns", line)
		}
		for i := range f {
			f[i] = strings.TrimPrefix(f[i], "-")
		}
		all = append(all, published{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
	}
	return all
}

// sources are what the versions of an entry are installed from, in the words of the table.
func sources(e catalog.Entry) []published {
	var all []published
	for _, v := range e.Versions {
		p := published{entry: e.Name, version: v.Version}
		if c := v.Source.Chart; c != nil {
			p.address, p.chart, p.chartVersion, p.digest = c.Repository+c.OCI+c.Path, c.Name, c.Version, c.Digest
			if c.OCI != "" && c.Name == "" {
				p.chart = path.Base(c.OCI)
			}
			all = append(all, p)
		}
		for _, m := range v.Source.Manifests {
			p.address, p.digest = m.URL+m.Path, m.SHA256
			all = append(all, p)
		}
		if v.Source.Inline != "" {
			p.address = "(inline)"
			all = append(all, p)
		}
	}
	return all
}

// compare says where entries and table differ.
func compare(entries []catalog.Entry, table []published) []string {
	var wrong []string
	left := slices.Clone(table)
	for _, e := range entries {
		for _, s := range sources(e) {
			i := slices.IndexFunc(left, func(p published) bool { p.document = ""; return p == s })
			if i < 0 {
				wrong = append(wrong, fmt.Sprintf("%s: chart %q %q, digest %q are not what the table has", s, s.chart, s.chartVersion, s.digest))
				continue
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, p := range left {
		wrong = append(wrong, p.String()+" is in the table only")
	}
	return wrong
}

// TestPublished holds the versions of the catalogue against what was read of the projects.
func TestPublished(t *testing.T) {
	for _, wrong := range compare(written(t), readPublished(t)) {
		t.Error(wrong)
	}
	n := 0
	for _, e := range catalog.All() {
		if len(e.Versions) > 0 {
			n++
		}
	}
	if n < 32 {
		t.Errorf("%d entries have versions", n)
	}
}

// TestPublishedCatches: a slip of the pen is found.
func TestPublishedCatches(t *testing.T) {
	table := readPublished(t)
	at := slices.IndexFunc(table, func(p published) bool { return p.digest != "" && p.chart != "" })
	for name, slip := range map[string]func(*published){
		"address": func(p *published) { p.address += "x" },
		"version": func(p *published) { p.version = "9" + p.version },
		"chart":   func(p *published) { p.chartVersion = "v" + p.chartVersion },
		"name":    func(p *published) { p.chart += "s" },
		"digest":  func(p *published) { p.digest = p.digest[:len(p.digest)-1] },
	} {
		changed := slices.Clone(table)
		slip(&changed[at])
		// The version is not in the table, and what is in the table is no version.
		if got := compare(written(t), changed); len(got) != 2 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestVersionsArePublic: sources are public addresses of what does not change, and each
// version says where it was read.
func TestVersionsArePublic(t *testing.T) {
	for _, p := range readPublished(t) {
		u, err := url.Parse(p.address)
		if err != nil || u.Scheme != "https" && u.Scheme != "oci" || !strings.Contains(u.Hostname(), ".") || u.Port() != "" {
			t.Errorf("%s is no public address", p)
		}
		if d, err := url.Parse(p.document); err != nil || d.Scheme != "https" || !strings.Contains(d.Hostname(), ".") {
			t.Errorf("%s: %q is no document", p, p.document)
		}
		if p.chart == "" && !strings.Contains(p.address, p.version) {
			t.Errorf("%s is not of the version", p)
		}
		for _, moves := range []string{"/main/", "/master/", "/latest/", "/stable/manifests/"} {
			if strings.Contains(p.address, moves) {
				t.Errorf("%s is of a branch", p)
			}
		}
		if u.Hostname() == "raw.githubusercontent.com" && p.digest == "" {
			t.Errorf("%s has no sum, though the file stands in the repository", p)
		}
	}
	for _, e := range written(t) {
		lines := strings.Split(textOfEntry(t, e.Name), "\n")
		for _, v := range e.Versions {
			i := slices.Index(lines, "- version: "+v.Version)
			if i < 1 || !strings.HasPrefix(lines[i-1], "# ") {
				t.Errorf("%s %s: no comment above it says where it was read", e.Name, v.Version)
			}
		}
	}
}

func textOfEntry(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCatalogueHolds: as a whole it has nothing wrong, only things to know.
func TestCatalogueHolds(t *testing.T) {
	for _, p := range catalog.Embedded().Check() {
		if !p.Warning {
			t.Error(p)
		}
	}
}

// ownNumbers are the operators whose charts are numbered by themselves.
var ownNumbers = []string{"opentelemetry-operator", "sealed-secrets"}

// TestVersionsFit: a version fits its chart, its entry and the others of the catalogue.
func TestVersionsFit(t *testing.T) {
	all := written(t)
	brought := map[string]bool{}
	for _, e := range all {
		for i := range e.Versions {
			for _, api := range e.Provided(&e.Versions[i]) {
				brought[api.Kind] = true
			}
		}
	}
	for _, e := range all {
		for i := range e.Versions {
			v := &e.Versions[i]
			at := e.Name + " " + v.Version
			if c := v.Source.Chart; c != nil && (strings.TrimPrefix(c.Version, "v") == v.Version) == slices.Contains(ownNumbers, e.Name) {
				t.Errorf("%s: the chart is of %s", at, c.Version)
			}
			if i > 0 && !semver.MustParse(e.Versions[i-1].Version).GreaterThan(semver.MustParse(v.Version)) {
				t.Errorf("%s stands after %s: the newest stands first", at, e.Versions[i-1].Version)
			}
			if !slices.ContainsFunc(e.Provided(v), func(a solve.API) bool { return ofEntry(e, a.Kind) }) {
				t.Errorf("%s brings no kind of its entry", at)
			}
			for _, r := range v.Requires {
				if r.API.Kind != "" && !brought[r.API.Kind] {
					t.Errorf("%s requires %s, which nothing brings", at, r.API.Kind)
				}
			}
			for _, w := range v.Ready {
				if !slices.Contains([]string{"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps"}, w.Kind) {
					t.Errorf("%s waits for a %s", at, w.Kind)
				}
			}
			for _, image := range v.Images {
				if strings.HasSuffix(image.Image, ":latest") || !strings.ContainsAny(path.Base(image.Image), ":@") {
					t.Errorf("%s: %s is an image of no version", at, image.Image)
				}
			}
		}
	}
}

func ofEntry(e catalog.Entry, kind string) bool {
	return slices.ContainsFunc(e.Kinds, func(k catalog.Kind) bool { return k.Kind == kind })
}

// TestCataloguePage follows the steps of docs/catalog.md, and finds every field in its tables.
func TestCataloguePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := map[string]string{}
	blocks := regexp.MustCompile("(?ms)^( *)```yaml file=(\\S+)\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1)
	for _, b := range blocks {
		if name, ours := strings.CutPrefix(b[2], "hello-catalogue/"); ours || name == "hello-1.1.0.yaml" {
			files[name] = strings.ReplaceAll("\n"+b[3], "\n"+b[1], "\n")[1:]
		}
	}
	if len(files) < 5 {
		t.Fatalf("the page has a reader write %d files, want 5", len(files))
	}
	for name, data := range files {
		if name == "hello-1.1.0.yaml" {
			continue // it is added
		}
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	loadFolder(t, folder, "1.0.0")
	next, problems := catalog.Parse("hello", []byte(files["hello-1.1.0.yaml"]))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	done, err := catalog.Add(folder, next, false)
	if err != nil || done.New || !slices.Equal(done.Versions, []string{"1.1.0"}) {
		t.Fatalf("%+v, %v", done, err)
	}
	loadFolder(t, folder, "1.1.0", "1.0.0")

	for _, of := range []any{catalog.Version{}, catalog.Source{}, catalog.ChartSource{}, catalog.ManifestSource{}, catalog.Image{}, solve.Requirement{}} {
		for f := range reflect.TypeOf(of).Fields() {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); !regexp.MustCompile("[`{, ]" + key + "[`:,}]").Match(text) {
				t.Errorf("the page does not have the field %s of %T", key, of)
			}
		}
	}
}

// loadFolder reads a folder, in which nothing may be wrong, nor worth a warning.
func loadFolder(t *testing.T, folder string, versions ...string) {
	t.Helper()
	c, problems, err := catalog.Load(os.DirFS(folder), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(problems, c.Check()...) {
		t.Error(p)
	}
	e, _ := c.Find("hello")
	var got []string
	for _, v := range e.Versions {
		got = append(got, v.Version)
	}
	if !slices.Equal(got, versions) {
		t.Errorf("hello has the versions %v, want %v", got, versions)
	}
}
