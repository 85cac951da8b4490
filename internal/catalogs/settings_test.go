package catalogs

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

// TestNameOfSignedCatalogue: the settings name the catalogue that an address must bring.
func TestNameOfSignedCatalogue(t *testing.T) {
	head := "apiVersion: " + declare.APIVersion + "\nkind: Config\ncatalogs:\n"
	s, problems := parseSettings([]byte(head+"- {address: 'https://example.com/c.tar', key: c.pub, name: shop}\n"), "/etc")
	if len(problems) > 0 || len(s) != 1 || s[0].Name != "shop" {
		t.Errorf("%+v %v", s, problems)
	}
	if _, problems = parseSettings([]byte(head+"- {address: c.tar, name: shop}\n"), "/etc"); len(problems) != 1 || !strings.Contains(problems[0].Message, "expected a key beside it") {
		t.Errorf("without a key: %v", problems)
	}
}

func TestNearCatalogues(t *testing.T) {
	o := &Options{Offline: true, Bundle: "x.tar"}
	here, notes := o.local([]Source{{Address: "https://example.com/c.tar"}, {Address: "/home/c"}, {Address: "oci://example.com/c"}})
	if len(here) != 1 || here[0].Address != "/home/c" || len(notes) != 2 {
		t.Errorf("%v, %q", here, notes)
	}
	o.Bundle = ""
	if here, notes := o.local([]Source{{Address: "https://example.com/c.tar"}}); len(here) != 1 || len(notes) != 0 {
		t.Errorf("without a bundle: %v, %q", here, notes)
	}
}
