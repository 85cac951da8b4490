package docs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const module = "github.com/kubectl-sysop/kubectl-sysop/"

// imports are the packages of the module that each package may import, both by their last
// element, as the rules of depguard say it.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Mode  string `json:"list-mode"`
						Files []string
						Allow []string
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(b, &config); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for name, r := range config.Linters.Settings.Depguard.Rules {
		if r.Mode != "strict" {
			continue // it forbids something to everybody
		}
		dir := strings.TrimSuffix(strings.TrimPrefix(r.Files[0], "**/"), "/**")
		if _, err := os.Stat(path.Join("..", dir)); err != nil {
			t.Errorf("depguard has a rule %s for %s: %v", name, dir, err)
		}
		if dir != "cmd/kubectl-sysop" && name != path.Base(dir) {
			t.Errorf("depguard's rule for %s is called %s", dir, name)
		}
		out[name] = []string{}
		for _, p := range r.Allow {
			if p, own := strings.CutPrefix(p, module); own {
				out[name] = append(out[name], path.Base(p))
			}
		}
		slices.Sort(out[name])
	}
	return out
}

// drawing writes who may import whom: whoever imports stands above what it imports.
func drawing(t *testing.T, of map[string][]string) string {
	t.Helper()
	height := map[string]int{}
	var rise func(string, []string) int
	rise = func(name string, way []string) int {
		if slices.Contains(way, name) {
			t.Fatalf("depguard allows a circle: %v", append(way, name))
		}
		if _, known := height[name]; !known {
			n := 0
			for _, p := range of[name] {
				n = max(n, 1+rise(p, append(way, name)))
			}
			height[name] = n
		}
		return height[name]
	}
	names := slices.Collect(maps.Keys(of))
	for _, name := range names {
		rise(name, nil)
	}
	height["main"] = len(names)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(height[b], height[a]), strings.Compare(a, b))
	})
	var lines, ground []string
	for _, name := range names {
		if len(of[name]) == 0 {
			ground = append(ground, name)
			continue
		}
		lines = append(lines, wrapped(fmt.Sprintf("%-11s -> ", name), of[name]))
		if name == "main" {
			lines = append(lines, wrapped(fmt.Sprintf("%-11s -> ", "cli"), []string{"everything below"}))
		}
	}
	return strings.Join(append(lines, strings.Join(ground, ", ")), "\n")
}

// wrapped writes a list in lines of about ninety characters.
func wrapped(head string, items []string) string {
	lines := []string{head}
	for i, item := range items {
		if i < len(items)-1 {
			item += ", "
		}
		if len(lines[len(lines)-1])+len(item) > 90 {
			lines = append(lines, strings.Repeat(" ", len(head)))
		}
		lines[len(lines)-1] += item
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// The drawing of who may import whom is what the linter holds.
func TestDrawing(t *testing.T) {
	const begin, end = "<!-- made from .golangci.yml by go test ./docs -update -->\n```text\n", "\n```\n<!-- end -->"
	of := imports(t)
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), begin)
	was, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("architecture.md has no place for the drawing")
	}
	want := drawing(t, of)
	if was == want {
		return
	}
	if !*update {
		t.Fatalf("the drawing in architecture.md is\n%s\nand depguard says\n%s\n(go test ./docs -run TestDrawing -update writes it)", was, want)
	}
	if err := os.WriteFile("architecture.md", bytes.Replace(page, []byte(begin+was+end), []byte(begin+want+end), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A package without a rule could import anybody.
func TestEveryPackageIsGuarded(t *testing.T) {
	of := imports(t)
	checked := 0
	for _, root := range []string{"pkg", "internal"} {
		entries, err := os.ReadDir("../" + root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			// cli may import all that is not denied to it, and demotest only serves tests.
			if !e.IsDir() || e.Name() == "cli" || e.Name() == "demotest" {
				continue
			}
			checked++
			if _, ok := of[e.Name()]; !ok {
				t.Errorf("depguard has no rule for %s/%s: add one to .golangci.yml", root, e.Name())
			}
		}
	}
	if checked < 30 {
		t.Fatalf("%d packages", checked)
	}
}
