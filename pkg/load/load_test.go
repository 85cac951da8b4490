package load

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestSnapshot: the example has edges of built-in rules, and of rules that its CRDs declare.
func TestSnapshot(t *testing.T) {
	g, err := Snapshot(t.Context(), "../../examples/demo", nil)
	if err != nil {
		t.Fatal(err)
	}
	moodle, ok := g.Find(object.Ref{Group: "moodlecontroller.kubeplus", Kind: "Moodle", Namespace: "moodle", Name: "moodle-1"})
	if !ok {
		t.Fatal("there is no moodle-1")
	}
	stack := g.Stack([]graph.ID{moodle}, graph.StackOptions{})
	kinds := map[string]bool{}
	for _, id := range stack.Members() {
		kinds[g.Ref(id).Kind] = true
	}
	for _, kind := range []string{"Deployment", "Pod", "Service", "MysqlCluster"} {
		if !kinds[kind] {
			t.Errorf("the stack has no %s: %v", kind, kinds)
		}
	}
}

func TestSnapshotErrors(t *testing.T) {
	if _, err := Snapshot(t.Context(), "nowhere.yaml", nil); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Snapshot(t.Context(), "-", strings.NewReader("kind: [")); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("a broken snapshot: %v", err)
	}
}
