package catalog_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

const page = "../../docs/relationships.md"

// TestPage holds the page of all relationships equal to the tables; -update
// writes it.
func TestPage(t *testing.T) {
	got := relationshipsPage()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./internal/catalog", page)
	}
}

func relationshipsPage() string {
	var b strings.Builder
	b.WriteString(`# Every relationship

This page is made from the tables of rules (` + "`go generate ./internal/catalog`" + `). What the words
mean is in [graph.md](graph.md); how a rule is written, in [rules-file.md](rules-file.md)
and [rules-file.md](rules-file.md). Beside these rules there are those that the CRDs of a
cluster declare, those of a user's files, and what is inferred from schemas where nothing
is declared: ` + "`kubectl sysop rules list`" + ` shows them all, with the edges that each makes.

A path that begins with spec.containers, spec.volumes and the like is in every pod template:
of Pods, of the built-in workloads, and of the custom resources whose entry says template.

## Built in

| kind | relation | to | path | rule |
|---|---|---|---|---|
`)
	rules := relation.BuiltIn()
	slices.SortStableFunc(rules, func(x, y relation.Rule) int { return strings.Compare(readers(x), readers(y)) })
	for _, r := range rules {
		if !r.Evidence {
			row(&b, readers(r), words(r), r.To, r.Field, r.Name)
		}
	}
	b.WriteString("\n## The catalog\n")
	for _, e := range catalog.All() {
		if len(e.Relations) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s Origin: `catalog/%s.yaml`, after %s.\n\n", e.Title, e.Description, e.Name, strings.Join(links(e.Source), ", "))
		b.WriteString("| kind | relation | to | path |\n|---|---|---|---|\n")
		for i := range e.Relations {
			s := &e.Relations[i]
			to := strings.Join(s.To, ", ")
			switch {
			case s.Template != "" || s.PodSpec != "":
				row(&b, strings.Join(s.From, ", "), "(as a pod)", "(as a pod)", s.Path())
				continue
			case s.Host != "":
				to = "Service"
			case to == declare.Any:
				to = "(any kind)"
			}
			row(&b, kindsIn(s.From), specWords(s), to, pathOf(s))
		}
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func links(sources []string) []string {
	var all []string
	for _, s := range sources {
		all = append(all, "<"+s+">")
	}
	return all
}

func kindsIn(kinds []string) string {
	if len(kinds) == 1 && kinds[0] == declare.Any {
		return "(any kind)"
	}
	return strings.Join(kinds, ", ")
}

func readers(r relation.Rule) string {
	var all []string
	for _, gk := range r.From {
		all = append(all, declare.Spell(gk))
	}
	if len(all) == 0 {
		return "(any kind)"
	}
	return strings.Join(all, ", ")
}

func words(r relation.Rule) string {
	out := r.Relation.String()
	for _, f := range []struct {
		set  bool
		word string
	}{{r.Peer, "aside"}, {r.Terminal, "leaf"}, {r.Manages, "manages"}, {r.Exposes, "exposes"}, {r.OnDemand, "on demand"}} {
		if f.set {
			out += ", " + f.word
		}
	}
	return out
}

func specWords(s *declare.Spec) string {
	out := s.Relation
	for _, f := range []struct {
		set  bool
		word string
	}{{s.Terminal, "leaf"}, {s.Manages, "manages"}, {s.Exposes, "exposes"}, {s.Optional, "optional"}, {s.Inferred || s.Name != "", "inferred"}} {
		if f.set {
			out += ", " + f.word
		}
	}
	return out
}

// pathOf is the path with what is wanted there, and who carries it where that is
// not the kind of the first column.
func pathOf(s *declare.Spec) string {
	out := "`" + s.Path() + "`"
	switch {
	case s.Name != "":
		out = "named `" + s.Name + "`"
	case s.Value != "":
		out += " = `" + s.Value + "`"
	}
	if s.Read == "to" || s.Value != "" {
		out += " on the other"
	}
	return out
}
