package regulation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// What was left is shown below its app, with what was there before and the way out, and in
// the document by itself.
func TestStatusShowsWhatWasLeft(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	left := func(app string) *regulate.Hold {
		return &regulate.Hold{ID: 3, App: app, Signal: "Stop", Phase: regulate.Conflicted, At: now.Add(-time.Hour), Operations: []*regulate.Operation{{
			Action: "scale", Text: "spec.replicas = 0", State: regulate.Conflict, At: now.Add(-time.Minute), Result: "changed since by somebody else",
			Target:  regulate.Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Changes: []patch.Change{{Path: "/spec/replicas", ExistedBefore: true, Before: int64(3), ExistsAfter: true, After: int64(0)}},
		}}}
	}
	j := &regulate.Journal{Conflicts: []*regulate.Hold{left("web"), left("old")}}
	w := &regulate.SystemState{Apps: []regulate.AppState{{Name: "web"}}}
	a := regulation.Status(j, &regulate.Plan{}, w, now, regulation.Options{System: "shop", Namespace: "shop"})
	if len(a.Tree.Roots) != 2 || len(a.Tree.Roots[0].Children) != 1 || a.Tree.Roots[1].Name.Text != "old conflict of Stop #3" {
		t.Fatalf("%+v", a.Tree.Roots)
	}
	line := a.Tree.Roots[0].Children[0]
	if line.Name.Text != "conflict of Stop #3" || line.Cells[0].Text != "Left" || !strings.HasSuffix(line.Cells[2].Text, "regulate recover web --force restores it") || len(line.Children) != 1 {
		t.Errorf("%+v", line)
	}
	if got := line.Children[0].Cells[2].Text; got != "spec.replicas = 0: changed since by somebody else" {
		t.Error(got)
	}
	if len(a.Table.Rows) != 2 || a.Table.Rows[0][2].Text != "Left" || len(a.Names) != 0 {
		t.Errorf("%+v, names %v", a.Table.Rows, a.Names)
	}
	doc, err := json.Marshal(a.Document)
	if err != nil || !strings.Contains(string(doc), `"holds":null,"conflicts":[{"id":3,"app":"web","signal":"Stop","phase":"Left"`) || !strings.Contains(string(doc), `{"path":"/spec/replicas","before":"3","after":"0"}`) {
		t.Errorf("%v: %s", err, doc)
	}
}
