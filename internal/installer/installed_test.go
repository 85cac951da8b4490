package installer

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
)

// A release is believed to be an operator where the catalogue has it, where the manifest of a
// System puts it, and in the namespace that is given; one anywhere else is a hint.
func TestTrust(t *testing.T) {
	b := trust{cats: &catalogs.Catalogs{Catalogue: catalog.Embedded()}}
	if got := b.namespaces("cert-manager"); !slices.Equal(got, []string{"cert-manager"}) {
		t.Errorf("by the catalog: %q", got)
	}
	if got := b.namespaces("unheard-of"); len(got) > 0 {
		t.Errorf("of what no catalog has: %q", got)
	}
	b.given, b.system = "mine", map[string]string{"cert-manager": "theirs"}
	if got := b.namespaces("cert-manager"); !slices.Equal(got, []string{"mine", "theirs", "cert-manager"}) {
		t.Errorf("all of them: %q", got)
	}
	found := installedPackages{elsewhere: map[string][]string{"kafka": {"tenant"}}}
	if got, want := found.hint("kafka"), "a release in tenant has the name kafka: use -n tenant if it is yours"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	if got := found.hint("cert-manager"); got != "" {
		t.Errorf("hint %q where nobody calls itself so", got)
	}
}
