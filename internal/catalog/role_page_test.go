package catalog_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

const roleOfOperators = "../../docs/rbac/operators.yaml"

// TestRoleOfOperators holds the role that reads the kinds of operators equal to the entries;
// -update writes it.
func TestRoleOfOperators(t *testing.T) {
	got := operatorsRole()
	if *update {
		if err := os.WriteFile(roleOfOperators, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(roleOfOperators)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./internal/catalog", roleOfOperators)
	}
}

func operatorsRole() string {
	groups := map[string]bool{}
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			_, group, _ := strings.Cut(k.Kind, ".")
			groups[group] = true
		}
	}
	var b strings.Builder
	b.WriteString(`# This file is made from the entries of the catalog (go generate ./internal/catalog).
# It lets the role sysop-view of docs/rbac/view.yaml read what the operators of the catalog
# serve. Most operators add their kinds to the role view themselves; take out whom you do not have.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: sysop-view-operators
  labels: {sysop.dev/aggregate-to-view: "true"}
rules:
- apiGroups:
`)
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		b.WriteString("  - " + g + "\n")
	}
	b.WriteString("  resources: [\"*\"]\n  verbs: [get, list, watch]\n")
	return b.String()
}
