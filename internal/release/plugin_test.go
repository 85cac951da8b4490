package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// TestThePluginIsTheSameFromTwoFolders links the plugin twice for this machine's platform;
// hack/release verify compiles all of it twice, for all platforms.
func TestThePluginIsTheSameFromTwoFolders(t *testing.T) {
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Suite: s, Version: "v0.0.1-test", Root: "../..", AllowDirty: true, Epoch: noon, Platforms: s.Platforms[:1]}
	for _, p := range s.Platforms {
		if p.String() == host() {
			o.Platforms = []suite.Platform{p}
		}
	}
	// Both are of one copy: a checkout can change while it is built.
	copied := t.TempDir()
	if _, err := takeSource(t.Context(), o, copied); err != nil {
		t.Fatal(err)
	}
	o.Root = copied
	var releases []Release
	for _, work := range []string{"x", "a-folder-whose-path-is-of-another-length"} {
		o.Work = filepath.Join(t.TempDir(), work)
		o.Out = filepath.Join(t.TempDir(), "dist")
		if err := os.Mkdir(o.Work, 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := Build(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	if !slices.Equal(releases[0].Artifacts, releases[1].Artifacts) {
		t.Errorf("%+v\n%+v", releases[0].Artifacts, releases[1].Artifacts)
	}
	bill, err := os.ReadFile(filepath.Join(o.Out, BillName(s, o.Version, o.Platforms[0])))
	if err != nil {
		t.Fatal(err)
	}
	judgeBill(t, bill)
	if o.Platforms[0].OS == "windows" {
		return
	}
	files := untar(t, filepath.Join(o.Out, s.Archive(o.Version, o.Platforms[0])))
	if !bytes.Equal(files["sbom.cdx.json"], bill) {
		t.Error("the bill in the archive is not that beside it")
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		if want, err := os.ReadFile(filepath.Join(copied, name)); err != nil || !bytes.Equal(files[name], want) {
			t.Errorf("%s is not that of the checkout: %v", name, err)
		}
	}
	judgeThirdParty(t, string(files["THIRD_PARTY_LICENSES"]))
	if o.Platforms[0].String() != host() {
		return
	}
	executable := filepath.Join(t.TempDir(), s.Binary)
	if err := os.WriteFile(executable, files[s.Binary], 0o700); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command(executable, "version").Output()
	if err != nil || !strings.Contains(string(output), o.Version) {
		t.Errorf("%s, %v", output, err)
	}
}

func untar(t *testing.T, path string) map[string][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// judgeBill holds a bill against the schema of CycloneDX 1.6, and looks for what must be in it.
func judgeBill(t *testing.T, bill []byte) {
	t.Helper()
	validate(t, bill)
	var bom cdx.BOM
	if err := json.Unmarshal(bill, &bom); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{bom.Metadata.Component.BOMRef: true}
	byName := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		if refs[c.BOMRef] {
			t.Errorf("%s is there twice", c.BOMRef)
		}
		refs[c.BOMRef], byName[c.Name] = true, c
		sum := "h1:"
		if strings.HasPrefix(c.PackageURL, "pkg:npm/") {
			sum = "sha512-"
		}
		if c.Licenses == nil || c.PackageURL == "" || c.Name != stdlib && !strings.HasPrefix((*c.Properties)[0].Value, sum) {
			t.Errorf("%+v", c)
		}
	}
	if len(*bom.Dependencies) != len(refs) {
		t.Errorf("%d components, and %d entries of what they depend on", len(refs), len(*bom.Dependencies))
	}
	for _, d := range *bom.Dependencies {
		on := []string{}
		if d.Dependencies != nil {
			on = *d.Dependencies
		}
		for _, ref := range append(on, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s depends on %q, which is no component", d.Ref, ref)
			}
		}
	}
	if c := byName["github.com/BurntSushi/toml"]; c.PackageURL != "pkg:golang/github.com/burntsushi/toml@"+c.Version {
		t.Errorf("%s", c.PackageURL)
	}
	if c := byName["github.com/cyphar/filepath-securejoin"]; (*c.Licenses)[0].Expression != "BSD-3-Clause AND MPL-2.0" {
		t.Errorf("%+v", c.Licenses)
	}
	if byName[stdlib].Version == "" || byName["github.com/spf13/cobra"].Version == "" {
		t.Error("the standard library or cobra is missing")
	}
}

func validate(t *testing.T, bill []byte) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bill))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}

// judgeThirdParty looks for one of each thing that has to go along.
func judgeThirdParty(t *testing.T, text string) {
	t.Helper()
	for name, want := range map[string]string{
		"the notice of a module under Apache-2.0": "This product includes software developed at\nSoundCloud Ltd.",
		"a licence below a module":                "third_party/forked/golang/LICENSE",
		"where the source of MPL-2.0 is":          "https://proxy.golang.org/github.com/cyphar/filepath-securejoin/@v/",
		"the licence of Go":                       "Of stdlib go",
		"a copyright":                             "Copyright (c) 2012-2016 Dave Collins",
	} {
		if !strings.Contains(text, want) && !strings.Contains(text, "   "+strings.TrimPrefix(want, "Of ")) {
			t.Errorf("%s is missing: %q", name, want)
		}
	}
	if n := strings.Count(text, "END OF TERMS AND CONDITIONS"); n > 15 {
		t.Errorf("the Apache licence is there %d times", n)
	}
	if strings.Contains(text, os.TempDir()+"/") || strings.Contains(text, "pkg/mod/") {
		t.Error("a path of this machine is in it")
	}
}
