package krew_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

// good is a manifest that keeps all rules, with SUM1 and SUM2 for the sums of its archives.
const good = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: acme-tea
spec:
  version: v1.2.3
  homepage: https://tea.example.com
  shortDescription: Brew tea
  description: |
    It brews tea.
  caveats: |
    Try kubectl acme-tea brew.
  platforms:
  - selector: {matchLabels: {os: linux, arch: amd64}}
    uri: https://tea.example.com/v1.2.3/tea_linux.tar.gz
    sha256: SUM1
    bin: kubectl-tea
  - selector: {matchLabels: {os: windows, arch: amd64}}
    uri: https://tea.example.com/v1.2.3/tea_windows.zip
    sha256: SUM2
    bin: kubectl-tea.exe
`

// entry is a file in an archive that a test packs.
type entry struct {
	name string
	mode int64
	kind byte
}

func tarball(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Typeflag: e.kind, Format: tar.FormatPAX}
		if e.kind == 0 {
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.name))
		}
		if e.kind == tar.TypeSymlink {
			h.Linkname = "LICENSE"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e.name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipFile(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// spoiled is a manifest that breaks rules, and what is to be told of it.
type spoiled struct {
	name string
	// old becomes text, once.
	old, text string
	// file is the name of the manifest's, where it is another.
	file string
	// linux is the archive for Linux, where it is another.
	linux []byte
	// rules are the numbers of those that it breaks; path is that of the first.
	rules []int
	path  string
	// says is in the first finding.
	says string
}

func cases(t *testing.T) []spoiled {
	binary, licence := entry{"kubectl-tea", 0o755, 0}, entry{"LICENSE", 0o644, 0}
	linux := "  - selector: {matchLabels: {os: linux, arch: amd64}}\n"
	_, platforms, _ := strings.Cut(good, "\n  platforms:\n")
	return []spoiled{
		{name: "apiVersion", old: "v1alpha2", text: "v1alpha1", rules: []int{1}, path: "apiVersion", says: "v1alpha1"},
		{name: "kind", old: "kind: Plugin", text: "kind: Plugins", rules: []int{2}, path: "kind", says: "Plugins"},
		{name: "name with a dot", old: "name: acme-tea", text: "name: acme.tea", file: "acme.tea.yaml", rules: []int{3, 18}, path: "metadata.name"},
		{name: "name of a device", old: "name: acme-tea", text: "name: com1", file: "com1.yaml", rules: []int{3}, path: "metadata.name"},
		{name: "no name", old: "  name: acme-tea", text: "  labels: {a: b}", file: ".yaml", rules: []int{3, 18}, path: "metadata.name"},
		{name: "name of the file", file: "tea.yaml", rules: []int{4}, path: "metadata.name", says: "tea.yaml"},
		{name: "no short description", old: "  shortDescription: Brew tea\n", rules: []int{5}, path: "spec.shortDescription", says: "missing"},
		{name: "two lines", old: "shortDescription: Brew tea", text: `shortDescription: "Brew\ntea"`, rules: []int{5}, path: "spec.shortDescription", says: "line break"},
		{name: "no platform", old: "  platforms:\n" + platforms, rules: []int{6}, path: "spec.platforms"},
		{name: "no version", old: "  version: v1.2.3\n", rules: []int{7}, path: "spec.version"},
		{name: "version without v", old: "version: v1.2.3", text: "version: 1.2.3", rules: []int{7}, path: "spec.version"},
		{name: "short version", old: "version: v1.2.3", text: "version: v1.2", rules: []int{7}, path: "spec.version"},
		{name: "no uri", old: "    uri: https://tea.example.com/v1.2.3/tea_linux.tar.gz\n", rules: []int{8}, path: "spec.platforms[0].uri"},
		{name: "no sum", old: "    sha256: SUM1\n", rules: []int{9}, path: "spec.platforms[0].sha256", says: "missing"},
		{name: "short sum", old: "SUM1", text: "abc", rules: []int{9}, path: "spec.platforms[0].sha256"},
		{name: "upper-case sum", old: "SUM1", text: strings.Repeat("AB", 32), rules: []int{9}, path: "spec.platforms[0].sha256", says: "lower case"},
		{name: "no bin", old: "    bin: kubectl-tea\n", rules: []int{10}, path: "spec.platforms[0].bin"},
		{name: "no files", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: []\n", rules: []int{11}, path: "spec.platforms[0].files"},
		{name: "half a rule of files", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: [{from: '*'}]\n", rules: []int{11}, path: "spec.platforms[0].files[0]"},
		{name: "no selector", old: linux, text: "  -\n", rules: []int{12}, path: "spec.platforms[0].selector", says: "missing"},
		{name: "empty selector", old: linux, text: "  - selector: {}\n", rules: []int{12}, path: "spec.platforms[0].selector"},
		{name: "empty labels", old: linux, text: "  - selector: {matchLabels: {}}\n", rules: []int{12}, path: "spec.platforms[0].selector.matchLabels"},
		{name: "empty expressions", old: linux, text: "  - selector: {matchLabels: {os: linux}, matchExpressions: []}\n", rules: []int{12}, path: "spec.platforms[0].selector.matchExpressions"},
		{name: "key of a label", old: linux, text: "  - selector: {matchLabels: {os: linux, libc: musl}}\n", rules: []int{12}, path: "spec.platforms[0].selector.matchLabels.libc", says: "libc"},
		{name: "key of an expression", old: linux, text: "  - selector: {matchExpressions: [{key: libc, operator: Exists}]}\n", rules: []int{12}, path: "spec.platforms[0].selector.matchExpressions[0]"},
		{name: "extension", file: "acme-tea.yml", rules: []int{13}, says: "acme-tea.yml"},
		{name: "platform that krew does not run on", old: "os: linux, arch: amd64", text: "os: linux, arch: s390x", rules: []int{14}, path: "spec.platforms[0].selector", says: "linux/ppc64le"},
		{name: "operator that there is not", old: linux, text: "  - selector: {matchExpressions: [{key: os, operator: Is, values: [linux]}]}\n", rules: []int{14}, path: "spec.platforms[0].selector"},
		{name: "overlapping labels", old: "os: windows, arch: amd64", text: "arch: amd64", rules: []int{15, 33}, path: "spec.platforms[1].selector"},
		{name: "bytes that are no tar", linux: gzipped(t, "tea"), rules: []int{16}, path: "spec.platforms[0].uri"},
		{name: "archive that there is not", old: "tea_linux.tar.gz", text: "coffee.tar.gz", rules: []int{16}, path: "spec.platforms[0].uri", says: "coffee.tar.gz"},
		{name: "glob that finds nothing", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: [{from: '*.md', to: .}]\n", rules: []int{16}, path: "spec.platforms[0].files", says: "*.md"},
		{name: "no licence", linux: tarball(t, binary), rules: []int{17}, path: "spec.platforms[0].files"},
		{name: "licence not installed", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: [{from: 'kubectl-*', to: .}]\n", rules: []int{17}, path: "spec.platforms[0].files"},
		{name: "upper-case name", old: "name: acme-tea", text: "name: AcmeTea", file: "AcmeTea.yaml", rules: []int{18}, path: "metadata.name"},
		{name: "underscore", old: "name: acme-tea", text: "name: acme_tea", file: "acme_tea.yaml", rules: []int{18}, path: "metadata.name"},
		{name: "kube", old: "name: acme-tea", text: "name: kube-tea", file: "kube-tea.yaml", rules: []int{19}, path: "metadata.name"},
		{name: "k8s", old: "name: acme-tea", text: "name: tea-k8s", file: "tea-k8s.yaml", rules: []int{19}, path: "metadata.name"},
		{name: "acronym", old: "name: acme-tea", text: "name: svc-tea", file: "svc-tea.yaml", rules: []int{20}, path: "metadata.name", says: "svc"},
		{name: "generic", old: "name: acme-tea", text: "name: login", file: "login.yaml", rules: []int{21}, path: "metadata.name"},
		{name: "taken", old: "name: acme-tea", text: "name: lineage", file: "lineage.yaml", rules: []int{22}, path: "metadata.name"},
		{name: "51 characters", old: "Brew tea", text: strings.Repeat("x", 51), rules: []int{23}, path: "spec.shortDescription", says: "51"},
		{name: "redundant word", old: "Brew tea", text: "A Kubectl plug-in that brews", rules: []int{24}, path: "spec.shortDescription", says: "Kubectl"},
		{name: "example", old: "    It brews tea.", text: "    It brews tea:\n\n      kubectl acme-tea brew", rules: []int{25}, path: "spec.description"},
		{name: "long line", old: "    It brews tea.", text: "    It brews " + strings.Repeat("tea ", 20), rules: []int{26}, path: "spec.description"},
		{name: "files that are the default", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: [{from: '*', to: .}]\n", rules: []int{27}, path: "spec.platforms[0].files"},
		{name: "not YAML", old: "kind: Plugin", text: "kind: [", rules: []int{28}},
		{name: "type", old: "  platforms:", text: "  platforms: 3\n  x:", rules: []int{28, 29}, says: "krew cannot read it"},
		{name: "unknown field", old: "homepage:", text: "homepagez:", rules: []int{29}, path: "spec.homepagez", says: "homepage"},
		{name: "field twice", old: "  caveats:", text: "  homepage: https://x.example.com\n  caveats:", rules: []int{29}, path: "spec.homepage", says: "twice"},
		{name: "bin above", old: "bin: kubectl-tea\n", text: "bin: ../../tea\n", rules: []int{30, 31}, path: "spec.platforms[0].bin"},
		{name: "absolute bin", old: "bin: kubectl-tea\n", text: "bin: /usr/bin/tea\n", rules: []int{30, 31}, path: "spec.platforms[0].bin"},
		{name: "bin on a drive", old: "bin: kubectl-tea.exe", text: `bin: C:\tea.exe`, rules: []int{30, 31}, path: "spec.platforms[1].bin"},
		{name: "bin missing", old: "bin: kubectl-tea\n", text: "bin: tea\n", rules: []int{31}, path: "spec.platforms[0].bin"},
		{name: "bin not installed", old: "    bin: kubectl-tea\n", text: "    bin: kubectl-tea\n    files: [{from: LICENSE, to: .}]\n", rules: []int{31}, path: "spec.platforms[0].bin"},
		{name: "mode", linux: tarball(t, entry{"kubectl-tea", 0o644, 0}, licence), rules: []int{32}, path: "spec.platforms[0].bin"},
		{name: "no exe", old: "bin: kubectl-tea.exe", text: "bin: LICENSE", rules: []int{33}, path: "spec.platforms[1].bin"},
		{name: "exe elsewhere", old: "bin: kubectl-tea\n", text: "bin: kubectl-tea.exe\n", rules: []int{31, 33}, path: "spec.platforms[0].bin"},
		{name: "file of the disk", old: "https://tea.example.com/v1.2.3/tea_linux", text: "file:///tmp/tea_linux", rules: []int{34}, path: "spec.platforms[0].uri"},
		{name: "sum of another", old: "SUM1", text: strings.Repeat("0a", 32), rules: []int{35}, path: "spec.platforms[0].sha256"},
		{name: "type of archive", linux: []byte("BZh91AY&SY"), rules: []int{36}, path: "spec.platforms[0].uri"},
		{name: "link", linux: tarball(t, binary, entry{"COPYING", 0o777, tar.TypeSymlink}), rules: []int{37}, path: "spec.platforms[0].uri", says: "COPYING"},
		{name: "entry above", linux: tarball(t, binary, entry{"../LICENSE", 0o644, 0}), rules: []int{37}, path: "spec.platforms[0].uri", says: "../LICENSE"},
		{name: "absolute entry", linux: tarball(t, binary, entry{"/LICENSE", 0o644, 0}), rules: []int{37}, path: "spec.platforms[0].uri", says: "/LICENSE"},
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lint lints a manifest with SUM1 and SUM2 in it.
func lint(t *testing.T, file, text string, linux []byte) []krew.Finding {
	t.Helper()
	windows := zipFile(t, "LICENSE", "kubectl-tea.exe")
	if linux == nil {
		linux = tarball(t, entry{"kubectl-tea", 0o755, 0}, entry{"LICENSE", 0o644, 0})
	}
	text = strings.NewReplacer("SUM1", sumOf(linux), "SUM2", sumOf(windows)).Replace(text)
	archives := krew.NewArchives(fstest.MapFS{"tea_linux.tar.gz": {Data: linux}, "tea_windows.zip": {Data: windows}})
	return krew.Lint(file, []byte(text), archives)
}

func TestLintFindsNothing(t *testing.T) {
	for name, text := range map[string]string{
		"labels":             good,
		"file of Windows":    strings.ReplaceAll(good, "\n", "\r\n"),
		"metadata of krew":   strings.Replace(good, "  name:", "  labels: {a: b}\n  name:", 1),
		"expressions":        strings.Replace(good, "{matchLabels: {os: linux, arch: amd64}}", "{matchExpressions: [{key: os, operator: NotIn, values: [windows]}, {key: arch, operator: In, values: [amd64, arm64]}]}", 1),
		"release candidate":  strings.Replace(good, "version: v1.2.3", "version: v1.2.3-rc.1", 1),
		"licence by a rule":  strings.Replace(good, "    bin: kubectl-tea\n", "    bin: bin/tea\n    files: [{from: 'LIC*', to: .}, {from: ./kubectl-tea, to: bin/tea}]\n", 1),
		"word that is no ns": strings.Replace(good, "Brew tea", "See transparent pluginless tea", 1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range lint(t, "acme-tea.yaml", text, nil) {
				t.Error(f)
			}
		})
	}
}

func TestLintFinds(t *testing.T) {
	seen := map[int]bool{}
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			if c.old != "" && !strings.Contains(good, c.old) {
				t.Fatalf("there is no %q to spoil", c.old)
			}
			file := c.file
			if file == "" {
				file = "acme-tea.yaml"
			}
			found := lint(t, file, strings.Replace(good, c.old, c.text, 1), c.linux)
			numbers := map[int]krew.Finding{}
			for _, f := range found {
				numbers[f.Rule.Number] = f
				if f.Remedy == "" || f.Message == "" || f.Line < 1 {
					t.Errorf("%+v lacks something", f)
				}
			}
			for _, n := range c.rules {
				if _, ok := numbers[n]; !ok {
					t.Errorf("rule %d is not told: %s", n, found)
				}
				delete(numbers, n)
				seen[n] = true
			}
			for _, f := range numbers {
				t.Errorf("not expected: %s", f)
			}
			for _, f := range found {
				if f.Rule.Number == c.rules[0] && (c.path != "" && f.Path != c.path || !strings.Contains(f.String(), c.says)) {
					t.Errorf("%s: want it at %s, with %q", f, c.path, c.says)
				}
			}
		})
	}
	for i, r := range krew.Rules() {
		if r.Number != i+1 || r.Says == "" || r.By == "" {
			t.Errorf("rule %d is %+v", i+1, r)
		}
		if !seen[r.Number] {
			t.Errorf("no case breaks rule %d: %s", r.Number, r.Says)
		}
	}
}

func TestLintTellsTheLine(t *testing.T) {
	text := strings.Replace(good, "    bin: kubectl-tea.exe\n", "", 1)
	text = strings.Replace(text, "kind: Plugin", "kind: Plugins", 1)
	found := lint(t, "acme-tea.yaml", text, nil)
	if len(found) != 2 || found[0].Line != 2 || found[1].Line != 18 {
		t.Errorf("found %s: want lines 2 and 18, that of the platform without bin", found)
	}
}

// Selectors are compared on the platforms that there are, not by their text.
func TestLintOverlap(t *testing.T) {
	for _, c := range []struct {
		one, two string
		want     string
	}{
		{"matchLabels: {os: linux}", "matchLabels: {arch: arm64}", "linux/arm64"},
		{"matchExpressions: [{key: os, operator: NotIn, values: [windows]}]", "matchLabels: {os: darwin, arch: amd64}", "darwin/amd64"},
		{"matchExpressions: [{key: os, operator: Exists}]", "matchLabels: {os: linux, arch: arm}", "linux/arm"},
		{"matchExpressions: [{key: arch, operator: In, values: [arm, arm64]}]", "matchLabels: {os: linux, arch: arm}", "linux/arm"},
		{"matchExpressions: [{key: os, operator: DoesNotExist}]", "matchLabels: {os: linux, arch: arm}", ""},
		{"matchExpressions: [{key: os, operator: In, values: [linux]}]", "matchExpressions: [{key: os, operator: NotIn, values: [linux]}]", ""},
		// Both select what krew does not run on, and nothing else in common.
		{"matchLabels: {os: linux, arch: s390x}", "matchLabels: {os: linux, arch: s390x}", ""},
	} {
		text := strings.Replace(good, "matchLabels: {os: linux, arch: amd64}", c.one, 1)
		text = strings.Replace(text, "matchLabels: {os: windows, arch: amd64}", c.two, 1)
		var got string
		for _, f := range lint(t, "acme-tea.yaml", text, nil) {
			if f.Rule.Number == 15 {
				got += f.Message
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s and %s: overlap %q, want %q", c.one, c.two, got, c.want)
		}
	}
}
