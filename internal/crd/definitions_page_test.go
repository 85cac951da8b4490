package crd

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updateDefinitions = flag.Bool("update-definitions", false, "write the page of the rules")

const definitionsPage = "../../docs/definitions.md"

// TestDefinitionsPage holds the page of the rules equal to the table; -update-definitions
// writes it.
func TestDefinitionsPage(t *testing.T) {
	got := definitionsText()
	if *updateDefinitions {
		if err := os.WriteFile(definitionsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(definitionsPage)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./internal/crd", definitionsPage)
	}
}

func definitionsText() string {
	var b strings.Builder
	b.WriteString(`# Upgrading definitions

This page is made from the table of rules (` + "`go generate ./internal/crd`" + `).

A CustomResourceDefinition may take the place of another if what is stored is still read, what
is written still accepted, and what clients rely on still served. Each version is compared with
the same version of the new definition, field by field, as the API server understands schemas.
The new storage version is compared with the former one too where nothing converts between them.
[An install](install.md) holds every definition against these rules before it writes anything.

An **unsafe** change is refused, even where no object that is there breaks: manifests, clients
and backups are not seen from here. It can be forced as long as every object that is there
is still taken whole by the new schema: none refused, and no field dropped. A **final** one cannot
be forced, because the API server refuses it or what is stored could not be read. A **safe**
one is only listed.

The objects that are there are held against the new schema with the API server's own libraries:
unknown fields are dropped and reported, defaults filled in, the rest validated. Rules in CEL
are not evaluated: where one is new it is said that it is not decided.

The former definition can be put back as long as it has every version of
` + "`status.storedVersions`" + `. A new storage version is in there from the first moment on, so that putting
back a definition without it needs the objects to be written anew first.

`)
	for _, part := range []struct {
		title string
		rules []Rule
	}{{"The definition", definitionRules()}, {"Its versions", versionRules()}, {"Their schemas", schemaRules()}} {
		fmt.Fprintf(&b, "## %s\n\n| rule | severity | what changed | why |\n|---|---|---|---|\n", part.title)
		for _, r := range part.rules {
			severity := string(r.Severity)
			if r.Final {
				severity += ", final"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.ID, severity, r.Description, r.Why)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
