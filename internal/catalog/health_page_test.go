package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

const healthPage = "../../docs/health-kinds.md"

// TestPageOfHealth holds the page of kinds whose health is known equal to the entries;
// -update writes it.
func TestPageOfHealth(t *testing.T) {
	got := kindsPage()
	if *update {
		if err := os.WriteFile(healthPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(healthPage)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./internal/catalog", healthPage)
	}
}

func kindsPage() string {
	var b strings.Builder
	operators, kinds := 0, 0
	for _, e := range catalog.All() {
		rows := healthRows(e)
		if len(rows) == 0 {
			continue
		}
		operators++
		for _, k := range e.Kinds {
			if len(k.Health) > 0 {
				kinds++
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n`catalog/%s.yaml`, after %s.\n\n| kind | states | source |\n|---|---|---|\n", e.Title, e.Name, strings.Join(links(e.Source), ", "))
		for _, r := range rows {
			row(&b, r...)
		}
	}
	return fmt.Sprintf(`# Kinds whose health is known

This page is made from the entries of the catalog (`+"`go generate ./internal/catalog`"+`): %d kinds of %d
operators. [How a rule is written and asked](health-rules.md). A kind that is "always" Healthy where nothing is wrong has no
state: to be there is all. Of a kind that is not here the general rules say what they can, and
Unknown otherwise.
`, kinds, operators) + b.String()
}

// healthRows has a row for each rule of the kinds of an entry.
func healthRows(e catalog.Entry) [][]string {
	var rows [][]string
	for _, k := range e.Kinds {
		for i := range k.Health {
			rows = append(rows, healthRow(k.Kind, &k.Health[i]))
		}
	}
	return rows
}

func healthRow(kind string, h *health.Rule) []string {
	var states []string
	for _, s := range []struct{ name, text string }{{"Degraded", h.Degraded}, {"Progressing", h.Progressing}, {"Suspended", h.Suspended}, {"Healthy", h.Healthy}} {
		switch s.text {
		case "":
		case "true":
			states = append(states, s.name+" (always)")
		default:
			states = append(states, s.name)
		}
	}
	if len(h.Versions) > 0 {
		kind += " " + strings.Join(h.Versions, ", ")
	}
	return []string{kind, strings.Join(states, ", "), h.Source}
}
