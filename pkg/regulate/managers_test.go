package regulate

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Who is read as a manager is known as one; who keeps an ApplySet reverts nothing.
func TestManagerKinds(t *testing.T) {
	for _, gk := range ManagerKinds() {
		if by := revertingTool(object.Ref{Group: gk.Group, Kind: gk.Kind}); by != ByArgoCD && by != ByFlux {
			t.Errorf("%s: %q", gk, by)
		}
	}
	for _, r := range []object.Ref{{Kind: "ConfigMap"}, {Group: "argoproj.io", Kind: "Rollout"}, {Group: "example.dev", Kind: "Application"}} {
		if by := revertingTool(r); by != "" {
			t.Errorf("%s: %q", r, by)
		}
	}
}
