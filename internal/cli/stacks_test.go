package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

// stacksWorld is the snapshot of the script.
func stacksWorld(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/stacks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "world.yaml" {
			name := filepath.Join(t.TempDir(), f.Name)
			if err := os.WriteFile(name, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			return name
		}
	}
	t.Fatal("no world.yaml")
	return ""
}

func answer(t *testing.T, width int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	e := env(strings.NewReader(""), &out, &talk)
	e.Width = width
	if code := cli.Main(t.Context(), e, args); code != command.ExitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, &talk)
	}
	return out.String(), talk.String()
}

// Every name that is printed is a ROOT of the other commands, and means the same there:
// what a stack was found by is in it, and its health is that which health tells.
func TestStackNames(t *testing.T) {
	for _, from := range []string{"demo", stacksWorld(t)} {
		out, _ := answer(t, 0, "stacks", "-A", "--all", "-o", "json", "--from", from)
		var doc struct {
			Stacks []struct {
				Name   string
				Roots  []string
				Health struct{ Status string }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Stacks) == 0 {
			t.Fatalf("%d stacks: %v", len(doc.Stacks), err)
		}
		for _, s := range doc.Stacks {
			graph, _ := answer(t, 0, "graph", s.Name, "-o", "json", "--from", from)
			for _, root := range s.Roots {
				if !strings.Contains(graph, `"id": "`+root+`"`) {
					t.Errorf("graph %s: %s is not in it", s.Name, root)
				}
			}
			answer(t, 0, "metrics", s.Name, "-o", "json", "--from", from)
			told, _ := answer(t, 0, "health", s.Name, "-o", "json", "--from", from)
			var one struct{ Stacks []struct{ Health string } }
			if err := json.Unmarshal([]byte(told), &one); err != nil || len(one.Stacks) != 1 || one.Stacks[0].Health != s.Health.Status {
				t.Errorf("health %s: %v, and stacks says %s (%v)", s.Name, one.Stacks, s.Health.Status, err)
			}
		}
	}
}

// What people type is short: a name of the table is a ROOT in its namespace.
func TestStackShortNames(t *testing.T) {
	from := stacksWorld(t)
	out, _ := answer(t, 0, "stacks", "-A", "--all", "--no-headers", "--from", from)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if strings.HasPrefix(words[2], "(") {
			continue
		}
		answer(t, 0, "graph", words[1], "-n", words[0], "--from", from)
	}
}

// Nothing occurs twice: the costs of the stacks, and of the volumes that no stack has, add up to
// that of the metrics command, and each pod counts once.
func TestStacksAddUp(t *testing.T) {
	var stacks struct {
		Total struct {
			Pods int
			Cost struct{ Hour json.Number }
		}
		Stacks []struct{ Roots []string }
	}
	var metrics struct {
		Total struct {
			Pods int
			Cost struct{ Hour json.Number }
		}
		Rows []struct {
			Level string
			Cost  struct{ Hour json.Number }
		}
	}
	for args, into := range map[string]any{"stacks": &stacks, "metrics": &metrics} {
		out, _ := answer(t, 0, args, "-A", "-o", "json", "--from", "demo")
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatal(err)
		}
	}
	sum := decimal.RequireFromString(stacks.Total.Cost.Hour.String())
	for _, row := range metrics.Rows {
		if row.Level == "rest" {
			sum = sum.Add(decimal.RequireFromString(row.Cost.Hour.String()))
		}
	}
	if stacks.Total.Pods != metrics.Total.Pods || sum.String() != metrics.Total.Cost.Hour.String() {
		t.Errorf("stacks %+v, with the rest %s, metrics %+v", stacks.Total, sum, metrics.Total)
	}
	var roots []string
	for _, s := range stacks.Stacks {
		roots = append(roots, s.Roots...)
	}
	slices.Sort(roots)
	if len(slices.Compact(slices.Clone(roots))) != len(roots) {
		t.Errorf("a root twice: %v", roots)
	}
}

// On a narrow terminal the stack, how it fares and why are what stays.
func TestStacksNarrow(t *testing.T) {
	for width, want := range map[int][]string{80: {"NAME", "(SHARED)", "HEALTH", "CAUSE", "PODS", "USD/MONTH", "AGE"}, 160: {"NAME", "(SHARED)", "ROOTS", "HEALTH", "CAUSE", "PODS", "CPU", "MEMORY", "USD/MONTH", "AGE"}} {
		out, _ := answer(t, width, "stacks", "--from", "demo")
		head, _, _ := strings.Cut(out, "\n")
		if got := strings.Fields(head); !slices.Equal(got, want) {
			t.Errorf("width %d: columns %v, want %v", width, got, want)
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("width %d: a line of %d: %s", width, n, line)
			}
		}
	}
}
