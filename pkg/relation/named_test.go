package relation_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestToNamesKinds: each built-in rule has a known kind in To, or its substitute in brackets.
func TestToNamesKinds(t *testing.T) {
	for _, r := range relation.BuiltIn() {
		if want := len(strings.Split(r.To, ", ")); !strings.HasPrefix(r.To, "(") && len(r.ToKinds()) != want {
			t.Errorf("%s: to %q, which is %v", r.Name, r.To, r.ToKinds())
		}
	}
	r := relation.Rule{To: "Secret, Thing.example.com, Nothing"}
	if got := r.ToKinds(); len(got) != 2 || got[0].String() != "Secret" || got[1].String() != "Thing.example.com" {
		t.Errorf("got %v", got)
	}
}
