package inventory

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestUnread: an object that was read before is neither present nor missing, is found by its labels
// and its UID, and never replaces one that is read.
func TestUnread(t *testing.T) {
	both, structure := 0, 0
	inv := New(nil, func(object.Object) func(*Inventory, ID) { both++; return nil })
	inv.ExtractUnread(func(object.Object) func(*Inventory, ID) { structure++; return nil })
	pod := func(name, app string) object.Object {
		return object.Object{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: name}, Version: "v1", Meta: &metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: "0a7c1f60-0000-4000-8000-000000000001", Labels: map[string]string{"app": app},
		}}
	}
	inv.Unread(pod("web", "old"))
	id, ok := inv.Find(object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"})
	if !ok || inv.Present(id) || inv.Missing(id) || !inv.WasRead(id) || inv.Objects() != 0 || both != 0 || structure != 1 {
		t.Fatalf("found %v, present %v, missing %v, %d objects; %d and %d extracted", ok, inv.Present(id), inv.Missing(id), inv.Objects(), both, structure)
	}
	gk := schema.GroupKind{Kind: "Pod"}
	if rows := inv.Index().Select(gk, "shop", false, Query{Labels: map[string]string{"app": "old"}}); len(rows) != 1 || rows[0] != id {
		t.Errorf("rows %v", rows)
	}
	if found, ok := inv.ByUID(inv.RawUID(id)); !ok || found != id {
		t.Errorf("by its UID %v, %v", found, ok)
	}
	inv.Add(pod("web", "new"))
	inv.Unread(pod("web", "old"))
	if app, _ := inv.Label(id, "app"); app != "new" || !inv.Present(id) || inv.Objects() != 1 {
		t.Errorf("label %s, present %v, %d objects", app, inv.Present(id), inv.Objects())
	}
}
