package colocation

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestPlacedBy(t *testing.T) {
	w := checktest.Read(t, operator.Find, checktest.ThreeNodes+checktest.ClusterPods("n1", "n2")+checktest.App("web", 1, checktest.OneContainer, "n1"))
	custom := func(r object.Ref) bool { return r.Group == "db.example" }
	var got []string
	for _, r := range PlacedBy(w.ClusterState, w.Stack("Database.db.example/ns/pg"), custom) {
		got = append(got, r.String())
	}
	if want := []string{"Database.db.example/ns/pg"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := PlacedBy(w.ClusterState, w.Stack("Deployment.apps/ns/web"), custom); len(got) > 0 {
		t.Errorf("of a Deployment: %v", got)
	}
}
