package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

func gadget(versions ...string) catalog.Entry {
	e := catalog.Entry{Name: "gadget", Title: "Gadget", Description: "Makes gadgets.", Source: []string{"https://example.com/gadget"}, Kinds: []catalog.Kind{{Kind: "Gadget.example.com", Versions: []string{"v1"}}}}
	for _, v := range versions {
		e.Versions = append(e.Versions, catalog.Version{Version: v, Namespace: "gadgets", Source: catalog.Source{Chart: &catalog.ChartSource{OCI: "oci://registry.example.com/gadget", Version: v}}})
	}
	return e
}

const gadgetHead = `# About gadgets.
apiVersion: sysop.dev/v1alpha1
kind: Operator
name: gadget
title:   Gadget   # spaced as its author likes it
description: Makes gadgets.
source: https://example.com/gadget
kinds: [{kind: Gadget.example.com, versions: [v1]}]
`

func gadgetItem(indent, version string) string {
	lines := []string{"- version: " + version, "  source:", "    chart:", "      oci: oci://registry.example.com/gadget", "      version: " + version, "  namespace: gadgets"}
	for i := range lines {
		lines[i] = indent + lines[i] + "\n"
	}
	return strings.Join(lines, "")
}

// TestAddKeeps: a version is put among the others, in their order, and every other line of
// the file stays as it is.
func TestAddKeeps(t *testing.T) {
	const inline = "\n  inline: |\n    apiVersion: v1\n    kind: ConfigMap\n\n    # not a comment of ours"
	for name, c := range map[string]struct{ before, after string }{
		"none":           {"relations: []\n", "relations: []\nversions:\n" + gadgetItem("", "1.5.0")},
		"no newline":     {"relations: []", "relations: []\nversions:\n" + gadgetItem("", "1.5.0")},
		"first":          {"versions:\n" + gadgetItem("", "1.4.0"), "versions:\n" + gadgetItem("", "1.5.0") + gadgetItem("", "1.4.0")},
		"with a comment": {"versions: # all\n# it has one\n" + gadgetItem("", "1.4.0"), "versions: # all\n" + gadgetItem("", "1.5.0") + "# it has one\n" + gadgetItem("", "1.4.0")},
		"between": {
			"versions:\n" + gadgetItem("", "1.6.0") + "\n# the old one\n" + gadgetItem("", "1.4.0"),
			"versions:\n" + gadgetItem("", "1.6.0") + "\n" + gadgetItem("", "1.5.0") + "# the old one\n" + gadgetItem("", "1.4.0"),
		},
		"last": {
			"versions:\n" + gadgetItem("  ", "1.6.0") + "  # the end of it\n\n# Relations.\nrelations: []\n",
			"versions:\n" + gadgetItem("  ", "1.6.0") + gadgetItem("  ", "1.5.0") + "  # the end of it\n\n# Relations.\nrelations: []\n",
		},
		"rising": {
			"versions:\n" + gadgetItem("", "1.3.0") + gadgetItem("", "1.4.0") + "relations: []\n",
			"versions:\n" + gadgetItem("", "1.3.0") + gadgetItem("", "1.4.0") + gadgetItem("", "1.5.0") + "relations: []\n",
		},
		"after a block": {
			"versions:\n- version: 1.6.0\n  namespace: a\n  source:" + strings.ReplaceAll(inline, "\n  ", "\n    ") + "\nrelations: []\n",
			"versions:\n- version: 1.6.0\n  namespace: a\n  source:" + strings.ReplaceAll(inline, "\n  ", "\n    ") + "\n" + gadgetItem("", "1.5.0") + "relations: []\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "gadget.yaml")
			if err := os.WriteFile(file, []byte(gadgetHead+c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			done, err := catalog.Add(folder, gadget("1.5.0"), false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != gadgetHead+c.after {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, gadgetHead+c.after)
			}
			if done.New || fmt.Sprint(done.Versions) != "[1.5.0]" {
				t.Errorf("done: %+v", done)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // which has no such modes
				t.Errorf("the mode of the file: %v, %v", info.Mode(), err)
			}
			again, err := catalog.Add(folder, gadget("1.5.0"), false)
			if err != nil || fmt.Sprint(again.Same, again.Versions) != "[1.5.0] []" {
				t.Errorf("a second time: %+v, %v", again, err)
			}
			alone(t, folder, "gadget.yaml")
		})
	}
}

// TestAddFlow: what is written on one line is written anew, with its comments.
func TestAddFlow(t *testing.T) {
	for name, text := range map[string]string{
		"list": gadgetHead + "versions: [{version: 1.4.0, namespace: a, source: {chart: {path: a.tgz}}}]\n",
		"all":  "# About gadgets.\n{apiVersion: sysop.dev/v1alpha1, kind: Operator, name: gadget, title: Gadget, description: Makes gadgets., source: a, versions: [{version: 1.4.0, namespace: a, source: {chart: {path: a.tgz}}}]}\n",
		"dos":  strings.ReplaceAll(gadgetHead+"relations: []\n", "\n", "\r\n"),
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "gadget.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Add(folder, gadget("1.5.0"), false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(got), "# About gadgets.") {
			t.Errorf("%s: the comment is lost: %v\n%s", name, err, got)
		}
		e, problems := catalog.Parse("gadget", got)
		if v, ok := e.Latest(); len(problems) > 0 || !ok || v.Version != "1.5.0" {
			t.Errorf("%s: %v\n%s", name, problems, got)
		}
	}
}

// TestAddNew: a new entry is made, in the folder in which the others are; what is there in
// another form is replaced when that is said, and refused otherwise.
func TestAddNew(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "mine")
	done, err := catalog.Add(folder, gadget("1.0.0", "2.0.0"), false)
	if err != nil || !done.New || fmt.Sprint(done.Versions) != "[1.0.0 2.0.0]" {
		t.Fatalf("%+v, %v", done, err)
	}
	other := gadget("2.0.0")
	other.Title = "Another"
	other.Versions[0].Namespace = "elsewhere"
	before, err := os.ReadFile(done.File)
	if err != nil {
		t.Fatal(err)
	}
	_, err = catalog.Add(folder, other, false)
	if exists, ok := errors.AsType[*catalog.ExistsError](err); !ok || exists.Version != "2.0.0" {
		t.Errorf("another 2.0.0: %v", err)
	}
	if now, err := os.ReadFile(done.File); err != nil || string(now) != string(before) {
		t.Errorf("the file was changed all the same: %v", err)
	}
	done, err = catalog.Add(folder, other, true)
	if err != nil || fmt.Sprint(done.Replaced) != "[2.0.0]" || len(done.Notes) != 1 {
		t.Errorf("replaced: %+v, %v", done, err)
	}
	c, problems, err := catalog.Load(os.DirFS(folder), "mine")
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	e, _ := c.Find("gadget")
	if v, ok := e.Version("v2.0.0"); !ok || v.Namespace != "elsewhere" || len(e.Versions) != 2 || e.Title != "Gadget" {
		t.Errorf("got %+v", e)
	}

	if err := os.MkdirAll(filepath.Join(folder, "catalog"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(done.File, filepath.Join(folder, "catalog", "gadget.yaml")); err != nil {
		t.Fatal(err)
	}
	if done, err = catalog.Add(folder, gadget("3.0.0"), false); err != nil || done.New || filepath.Base(filepath.Dir(done.File)) != "catalog" {
		t.Errorf("a folder that has one of entries: %+v, %v", done, err)
	}
	alone(t, filepath.Join(folder, "catalog"), "gadget.yaml")
}

// TestAddProvides: a version of an entry with other kinds says which ones are its own.
func TestAddProvides(t *testing.T) {
	folder := t.TempDir()
	if _, err := catalog.Add(folder, gadget("1.0.0"), false); err != nil {
		t.Fatal(err)
	}
	next := gadget("2.0.0")
	next.Kinds[0].Versions = []string{"v1", "v2"}
	done, err := catalog.Add(folder, next, false)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(done.File)
	e, problems := catalog.Parse("gadget", text)
	if len(problems) > 0 || len(e.Versions) != 2 || fmt.Sprint(e.Versions[0].Provides) != "[Gadget.example.com (v1, v2)]" || e.Versions[1].Provides != nil {
		t.Errorf("%v\n%s", problems, text)
	}
}

// TestAddRefuses: what is no entry is not written, and what is none is not added to.
func TestAddRefuses(t *testing.T) {
	folder := t.TempDir()
	wrong := gadget("1.0.0")
	wrong.Versions[0].Namespace = "No Label"
	if _, err := catalog.Add(folder, wrong, false); err == nil {
		t.Error("an entry with problems was added")
	}
	alone(t, folder)
	for _, text := range []string{"title: a", "- 1", "{{"} {
		if err := os.WriteFile(filepath.Join(folder, "gadget.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := catalog.Add(folder, gadget("1.0.0"), false)
		if invalid, ok := errors.AsType[*catalog.InvalidError](err); !ok || len(invalid.Problems) == 0 {
			t.Errorf("%q: %v", text, err)
		}
		if now, _ := os.ReadFile(filepath.Join(folder, "gadget.yaml")); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
	alone(t, folder, "gadget.yaml")
}

// TestAddToEvery: into entries as their authors wrote them versions are put without a change
// to any other line.
func TestAddToEvery(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	for i, file := range append([]string{"testdata/widget.yaml"}, files...) {
		if i%3 != 0 {
			continue // each is parsed many times
		}
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), before, 0o644); err != nil {
			t.Fatal(err)
		}
		more := gadget("99.0.0", "0.0.1-alpha", "1.3.5")
		more.Name = name
		if _, err := catalog.Add(folder, more, false); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		rest := slices.Collect(strings.Lines(string(after)))
		for line := range strings.Lines(string(before)) {
			i := slices.Index(rest, line)
			if i < 0 {
				t.Errorf("%s: the line %q is lost", name, line)
				break
			}
			rest = rest[i+1:]
		}
		e, problems := catalog.Parse(name, after)
		if len(problems) > 0 || len(e.Versions) < 3 || e.Versions[0].Version != "99.0.0" {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// alone wants no other file in a folder.
func alone(t *testing.T, folder string, names ...string) {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range found {
		all = append(all, f.Name())
	}
	if !slices.Equal(all, names) {
		t.Errorf("the folder has %v, want %v", all, names)
	}
}
