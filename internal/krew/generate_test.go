package krew_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
	"github.com/kubectl-sysop/kubectl-sysop/internal/release"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
	"sigs.k8s.io/yaml"
)

// index is the folder that is published as an index.
const index = "../../krew"

func readSuite(t *testing.T) suite.Suite {
	t.Helper()
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// sumsOf are sums of archives that there are not: they are never written anywhere but to a
// test's own folder.
func sumsOf(s suite.Suite, version string) krew.Sums {
	sums := krew.Sums{}
	for _, p := range s.Platforms {
		sums[s.Archive(version, p)] = sumOf(p.String())
	}
	return sums
}

func TestGenerate(t *testing.T) {
	s := readSuite(t)
	files, err := krew.Generate(s, "v1.2.3", sumsOf(s, "v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := krew.Generate(s, "v1.2.3", sumsOf(s, "v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	plugins := s.Plugins()
	if len(files) != len(plugins) {
		t.Fatalf("%d manifests of %d plugins", len(files), len(plugins))
	}
	for i, f := range files {
		if f.Name != plugins[i].Name+".yaml" || !bytes.Equal(f.Text, again[i].Text) || !bytes.HasPrefix(f.Text, []byte(krew.Header)) {
			t.Errorf("manifest %d is %s, and differs from one time to the next or has no header", i, f.Name)
		}
		var m krew.Manifest
		if err := yaml.Unmarshal(f.Text, &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Spec.Platforms) != len(s.Platforms) || m.Spec.Version != "v1.2.3" || m.Spec.ShortDescription != plugins[i].ShortDescription || m.Spec.Homepage != s.Homepage {
			t.Errorf("%s: %+v", f.Name, m.Spec)
		}
		for j, p := range m.Spec.Platforms {
			on := s.Platforms[j]
			if got := p.Selector.MatchLabels; got["os"] != on.OS || got["arch"] != on.Arch || p.SHA256 != sumOf(on.String()) || p.Bin != s.Executable(on) || !strings.HasSuffix(p.URI, "/v1.2.3/"+s.Archive("v1.2.3", on)) {
				t.Errorf("%s: platform %s: %+v", f.Name, on, p)
			}
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	s := readSuite(t)
	if _, err := krew.Generate(s, "1.2.3", sumsOf(s, "1.2.3")); err == nil || !strings.Contains(err.Error(), "v0.1.0") {
		t.Errorf("version without v: %v", err)
	}
	sums := sumsOf(s, "v1.2.3")
	for _, p := range s.Platforms[1:3] {
		delete(sums, s.Archive("v1.2.3", p))
	}
	_, err := krew.Generate(s, "v1.2.3", sums)
	for _, p := range s.Platforms {
		if missing := p == s.Platforms[1] || p == s.Platforms[2]; err == nil || missing != strings.Contains(err.Error(), s.Archive("v1.2.3", p)) {
			t.Errorf("sums lacking two: %v: want it to name %s: %t", err, p, missing)
		}
	}
	if _, err := krew.Generate(s, "v1.2.4", sumsOf(s, "v1.2.3")); err == nil {
		t.Error("sums of another version are taken")
	}
}

// What reviewers of krew's index refuse and its CI does not: https://krew.sigs.k8s.io/docs/developer-guide/develop/best-practices/.
func TestDescriptionsFollowTheGuide(t *testing.T) {
	redundant := regexp.MustCompile(`(?i)\b(kubectl|kubernetes|k8s|plug-?ins?)\b`)
	for _, p := range readSuite(t).Plugins() {
		if word := redundant.FindString(p.ShortDescription); word != "" || len(p.ShortDescription) > 50 {
			t.Errorf("%s: the short description %q says %q, or is longer than 50 characters", p.Name, p.ShortDescription, word)
		}
	}
}

// What is published is what plugins.yaml and the sums of the release make, and nothing else.
func TestCommittedManifests(t *testing.T) {
	s := readSuite(t)
	sums, err := release.ReadChecksums(filepath.Join(index, krew.ChecksumsFile))
	if err != nil {
		t.Fatalf("%v: run \"make release\" and \"make krew\"", err)
	}
	main, err := os.ReadFile(filepath.Join(index, "plugins", s.Name+krew.Extension))
	if err != nil {
		t.Fatal(err)
	}
	var m krew.Manifest
	if err := yaml.Unmarshal(main, &m); err != nil {
		t.Fatal(err)
	}
	files, err := krew.Generate(s, m.Spec.Version, sums)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = true
		path := filepath.Join(index, "plugins", f.Name)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, f.Text) {
			t.Errorf("%s is not what plugins.yaml and %s make: run \"make krew\"", path, krew.ChecksumsFile)
		}
	}
	entries, err := os.ReadDir(filepath.Join(index, "plugins"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !names[e.Name()] {
			t.Errorf("plugins/%s is the manifest of no plugin", e.Name())
		}
	}
}
