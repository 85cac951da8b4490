package catalog_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// layer is a catalogue of files: each is the rest of an entry, behind its name.
func layer(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for file, text := range files {
		if name, ok := strings.CutSuffix(file, ".yaml"); ok && !strings.HasPrefix(text, "raw ") {
			base := name[strings.LastIndexByte(name, '/')+1:]
			text = "apiVersion: sysop.dev/v1alpha1\nkind: Operator\nname: " + base + "\ntitle: The " + base + "\ndescription: Does it.\nsource: a\n" + text
		}
		all[file] = &fstest.MapFile{Data: []byte(strings.TrimPrefix(text, "raw "))}
	}
	return all
}

func version(v, more string) string {
	return "- {version: " + v + ", namespace: a, source: {chart: {oci: oci://example.com/a, version: 1.0.0, digest: 'sha256:" + strings.Repeat("a", 64) + "'}}" + more + "}\n"
}

func load(t testing.TB, fsys fs.FS, origin string) *catalog.Catalogue {
	t.Helper()
	c, problems, err := catalog.Load(fsys, origin)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return c
}

// TestLayers: an entry of a later layer takes the place of one of the same name as a whole.
func TestLayers(t *testing.T) {
	mine := load(t, layer(map[string]string{"cert-manager.yaml": "versions:\n" + version("9.9.9", "")}), "mine")
	more := load(t, layer(map[string]string{"catalog/gadget.yaml": "kinds: [{kind: Gadget.example.com, versions: [v1]}]\nversions:\n" + version("1.0.0", "") + version("2.0.0-rc.1", ""), "plugins.yaml": "raw - 1", "catalog/x/y.yaml": "raw ["}), "more")
	c := catalog.Merge(catalog.Embedded(), nil, mine, more)
	if got := fmt.Sprint(c.Layers()); got != "[built-in mine more]" {
		t.Errorf("layers %s", got)
	}
	if len(c.Entries()) != len(catalog.All())+1 {
		t.Errorf("%d entries", len(c.Entries()))
	}
	e, ok := c.Find("cert-manager")
	if !ok || len(e.Kinds) != 0 || e.Versions[0].Version != "9.9.9" || c.Origin("cert-manager") != "mine" || c.Origin("velero") != catalog.EmbeddedOrigin || c.Origin("nobody") != "" {
		t.Errorf("cert-manager of %s: %+v", c.Origin("cert-manager"), e)
	}
	if _, ok := c.Files("velero"); ok {
		t.Error("what is compiled in has files")
	}
	if files, ok := c.Files("gadget"); !ok {
		t.Error("gadget has no files")
	} else if _, err := fs.Stat(files, "gadget.yaml"); err != nil {
		t.Errorf("the files of gadget are not beside it: %v", err)
	}
	if got := c.Unknown("gadgte"); got != `the catalog has no operator "gadgte" (did you mean gadget?)` {
		t.Error(got)
	}
	if got := fmt.Sprint(c.Nearest("cert")); !strings.Contains(got, "cert-manager") {
		t.Errorf("near cert: %s", got)
	}
	e, _ = c.Find("gadget")
	if v, ok := e.Latest(); !ok || v.Version != "1.0.0" {
		t.Errorf("the latest of gadget is %v", v)
	}
	if got := names(c.Providers(solve.API{Kind: "Gadget.example.com", Versions: []string{"v1"}})); got != "gadget" {
		t.Errorf("who brings Gadget: %s", got)
	}
	if got := names(c.Providers(solve.API{Kind: "Gadget.example.com", Versions: []string{"v2"}})); got != "" {
		t.Errorf("who brings Gadget v2: %s", got)
	}
	var found bool
	for _, p := range c.Packages() {
		if p.Name == "gadget" && p.Version == "1.0.0" {
			found = fmt.Sprint(p.Provides) == "[Gadget.example.com (v1)]"
		}
	}
	if !found {
		t.Error("gadget 1.0.0 is no package, or brings nothing")
	}
}

func names(entries []catalog.Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

// TestLoad: an entry with problems is told and left out; what is no catalogue is refused.
func TestLoad(t *testing.T) {
	c, problems, err := catalog.Load(layer(map[string]string{
		"good.yaml": "versions:\n" + version("1.0.0", ""), "bad.yaml": "kinds: []\nrelations: []\n", "other.yaml": "raw name: another\n", ".hidden.yaml": "raw [", "README.md": "raw x",
	}), "mine")
	if err != nil || names(c.Entries()) != "good" {
		t.Fatalf("%v, %v", c, err)
	}
	var told []string
	for _, p := range problems {
		told = append(told, p.String())
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{"mine: bad.yaml:7:8: expected a list of the kinds that the operator defines", `mine: other.yaml:1:7: got "another": expected other`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
	for name, fsys := range map[string]fs.FS{
		"empty":     fstest.MapFS{},
		"nothing":   layer(map[string]string{"README.md": "raw a"}),
		"too large": layer(map[string]string{"a.yaml": "raw " + strings.Repeat("#", 5<<20)}),
		"a pipe":    fstest.MapFS{"a.yaml": {Mode: fs.ModeNamedPipe}},
	} {
		if _, _, err := catalog.Load(fsys, "mine"); err == nil || !strings.HasPrefix(err.Error(), "read the catalog mine: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSearch: every word must be found; the best is first, and says where.
func TestSearch(t *testing.T) {
	c := catalog.Embedded()
	for query, want := range map[string]string{
		"cert-manager":            "cert-manager: name",
		"CERTIFICATE":             "cert-manager: kind Certificate.cert-manager.io",
		"certificate acme":        "cert-manager: kind Certificate.cert-manager.io, group acme.cert-manager.io",
		"velero":                  "velero: name",
		"Backup.velero.io":        "velero: kind Backup.velero.io",
		"postgresql.cnpg.io":      "cloudnative-pg: group postgresql.cnpg.io",
		"nothing-of-this-is-here": "",
		"velero certificate":      "",
	} {
		matches := c.Search(query)
		got := ""
		if len(matches) > 0 {
			got = matches[0].Entry.Name + ": " + strings.Join(matches[0].Matched, ", ")
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		for i := 1; i < len(matches); i++ {
			if matches[i-1].Score < matches[i].Score {
				t.Errorf("%q: %s is before %s", query, matches[i-1].Entry.Name, matches[i].Entry.Name)
			}
		}
	}
	if got := len(c.Search(" ")); got != len(catalog.All()) {
		t.Errorf("no words find %d entries", got)
	}
}

// TestCheck: what is wrong with a catalogue as a whole is told, where it stands.
func TestCheck(t *testing.T) {
	c := load(t, layer(map[string]string{
		"a.yaml": "versions:\n" + version("1.0.0", ", requires: [{package: b, version: '>=2'}, {package: c}, {package: bb}, {api: Nobody.example.com}, {package: known}, {package: zz, optional: true}], conflicts: [{package: a}, {package: nobody}]"),
		"b.yaml": "kinds: [{kind: B.example.com, versions: [v1]}]\nversions:\n" + version("1.0.0", ""),
		"c.yaml": "kinds: [{kind: C.example.com, versions: [v1]}]\nversions:\n" + version("1.0.0", ", requires: [{api: D.example.com}, {package: c}]"),
		"d.yaml": "kinds: [{kind: D.example.com, versions: [v1]}, {kind: B.example.com, versions: [v1]}]\nversions:\n" + version("1.0.0", ", requires: [{package: a, version: '>=1'}]"),
		"f.yaml": "versions:\n" +
			"- {version: 1.0.0, namespace: a, source: {chart: {path: charts/f.tgz, digest: 'sha256:" + strings.Repeat("a", 64) + "'}}}\n" +
			"- {version: 1.1.0, namespace: a, source: {chart: {path: charts}}}\n" +
			"- {version: 1.2.0, namespace: a, source: {manifests: [{path: none.yaml}, {path: charts}, {url: 'https://example.com/a'}]}}\n" +
			"- {version: 1.3.0, namespace: a, source: {chart: {repository: 'https://example.com', name: a, version: 1.0.0}}}\n",
		"known.yaml":   "kinds: [{kind: K.example.com, versions: [v1]}]\nrelations: []\n",
		"charts/f.tgz": "raw f",
	}), "mine")
	var told []string
	for _, p := range c.Check() {
		mark := ""
		if p.Warning {
			mark = "(warning) "
		}
		told = append(told, fmt.Sprintf("%s%s:%d %s", mark, p.File, p.Line, p.Message))
	}
	want := `a.yaml:8 a 1.0.0 needs b in >=2: the catalog has 1.0.0
a.yaml:8 a 1.0.0 needs bb, which no catalog has (did you mean b?)
(warning) a.yaml:8 a 1.0.0 needs Nobody.example.com, which nothing in the catalog provides: it must be installed already
(warning) a.yaml:8 a 1.0.0 needs known, of which the catalog has no installable version: it must be installed already
(warning) a.yaml:8 a 1.0.0 needs zz, which no catalog has
a.yaml:8 a 1.0.0 conflicts with itself: versions of one package conflict anyway
(warning) a.yaml:8 a 1.0.0 conflicts with nobody, which no catalog has
c.yaml:9 c 1.0.0 needs itself
f.yaml:8 charts/f.tgz is a different file: its SHA-256 sum is 252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111
f.yaml:10 the file none.yaml does not exist beside the entry
f.yaml:10 charts is a directory: expected a file
(warning) f.yaml:10 https://example.com/a of f 1.2.0 has no sha256: it needs --unverified
(warning) f.yaml:11 the chart of f 1.3.0 has no digest: it needs --unverified
(warning) d.yaml:1 b and d both provide B.example.com: they conflict; choose one
a.yaml:8 these need each other, so none can be installed first: a 1.0.0 needs c 1.0.0 needs d 1.0.0 needs a 1.0.0`
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEmbeddedIsSound: the catalogue that is compiled in has no problem, warnings aside.
func TestEmbeddedIsSound(t *testing.T) {
	for _, p := range catalog.Embedded().Check() {
		if !p.Warning {
			t.Error(p)
		}
	}
}

// BenchmarkLoad reads a catalogue of 500 entries of 3 versions each.
func BenchmarkLoad(b *testing.B) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("package-%03d.yaml", i)] = fmt.Sprintf("kinds: [{kind: Kind%d.example.com, versions: [v1]}]\nversions:\n", i) +
			version("1.0.0", "") + version("1.1.0", fmt.Sprintf(", requires: [{api: Kind%d.example.com}]", i/2)) + version("2.0.0", fmt.Sprintf(", requires: [{package: package-%03d, version: '>=1 <3'}]", i/3))
	}
	fsys := layer(files)
	b.ReportAllocs()
	for b.Loop() {
		c := load(b, fsys, "bench")
		if len(c.Packages()) != 1500 {
			b.Fatal("packages are missing")
		}
	}
}
