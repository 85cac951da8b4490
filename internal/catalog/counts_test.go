package catalog_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// counted is the sentence that pages say of the catalogue as a whole. It stands in one line.
var counted = regexp.MustCompile(`\d+ operators, with \d+ kinds, \d+ relations, \d+ health rules and \d+ signals; \d+ can be installed`)

// TestCounts holds what pages say of how much the catalogue has equal to the entries; -update writes it.
func TestCounts(t *testing.T) {
	want := counts(written(t))
	for _, file := range []string{"../../README.md", "../../docs/catalog.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said := counted.FindAllString(string(text), -1)
		if len(said) != 1 {
			t.Errorf("%s says %q: want it once", file, said)
			continue
		}
		if *update {
			if err := os.WriteFile(file, counted.ReplaceAll(text, []byte(want)), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if said[0] != want {
			t.Errorf("%s says %s; there are %s: run go generate ./internal/catalog", file, said[0], want)
		}
	}
}

// counts is the sentence of the entries.
func counts(entries []catalog.Entry) string {
	var kinds, relations, health, signals, versions int
	for _, e := range entries {
		kinds += len(e.Kinds)
		relations += len(e.Relations)
		signals += len(e.Signals)
		for _, k := range e.Kinds {
			signals += len(k.Signals)
			health += len(k.Health)
		}
		if len(e.Versions) > 0 {
			versions++
		}
	}
	return fmt.Sprintf("%d operators, with %d kinds, %d relations, %d health rules and %d signals; %d can be installed",
		len(entries), kinds, relations, health, signals, versions)
}

// TestCountsOf: each is counted where it stands.
func TestCountsOf(t *testing.T) {
	c := load(t, layer(map[string]string{
		"a.yaml": "kinds:\n- {kind: A.example.com, versions: [v1], health: {source: a, healthy: 'true'}}\n- {kind: B.example.com, versions: [v1]}\n" +
			"relations: [{from: A.example.com, to: Secret, relation: needs, field: spec.a}]\nversions:\n" + version("1.0.0", ""),
		"b.yaml": "kinds: [{kind: C.example.com, versions: [v1]}]\nrelations: []\n",
	}), "mine")
	if got, want := counts(c.Entries()), "2 operators, with 3 kinds, 1 relations, 1 health rules and 0 signals; 1 can be installed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
