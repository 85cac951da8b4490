package regulate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// force takes back by force what was left of an app, in one run.
func (b *bench) force(t *testing.T, app string) {
	t.Helper()
	b.runner = func(r *Runner) { r.Force = true }
	defer func() { b.runner = nil }()
	j := b.journal(t)
	w := &SystemState{Apps: []AppState{{Name: app}}}
	p := RecoverByHand(w, b.sys, j, app, "bob", true, b.now)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.api.dead, b.api.kill = false, cancel
	if _, err := b.run(ctx).Do(ctx, p, j); err != nil && !b.api.dead {
		t.Error(err)
	}
}

// leftBench is an app of which something was left, besides what was put back.
func leftBench(t *testing.T) (*bench, map[string]string) {
	t.Helper()
	b := shared(t)
	before := b.api.image(t)
	b.until(t, "a")
	web := Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	b.api.change(t, web, "kubectl", int64(7), "spec", "replicas")
	b.api.change(t, web, "kubectl", "mine", "metadata", "annotations", "held")
	b.until(t)
	return b, before
}

// What somebody changed is left, remembered with what was there before, and put back by force.
func TestLeftIsPutBackByForce(t *testing.T) {
	for n := range 7 { // killed after so many writes of that; 0 for never
		b, before := leftBench(t)
		j := b.journal(t)
		if len(j.Holds) != 0 || len(j.Conflicts) != 1 {
			t.Fatalf("%d holds, %d left", len(j.Holds), len(j.Conflicts))
		}
		if got, want := leftText(j.Conflicts[0]), "Deployment.apps/shop/web (it was spec.replicas = 3), Deployment.apps/shop/web (it was annotation held not set)"; got != want || j.Conflicts[0].Phase != Conflicted {
			t.Errorf("%s %s\nwant %s", j.Conflicts[0].Phase, got, want)
		}
		from := b.api.requests
		b.api.fault = func(i int, _ string) fate { return fate{kill: n > 0 && i == from+n} }
		b.force(t, "a")
		b.api.fault = nil
		b.force(t, "a") // there is nothing any more, or it goes on
		b.sameAs(t, before)
		if j := b.journal(t); len(j.Conflicts)+len(j.Holds) > 0 {
			t.Errorf("%d holds, %d left", len(j.Holds), len(j.Conflicts))
		}
		if t.Failed() {
			t.Fatalf("killed after %d", n)
		}
	}
}

// Without force nothing is written, and it is said what there is.
func TestLeftIsSaid(t *testing.T) {
	b, _ := leftBench(t)
	left := b.api.image(t)
	p := RecoverByHand(&SystemState{Apps: []AppState{{Name: "a"}}}, b.sys, b.journal(t), "a", "bob", false, b.now)
	if len(p.Steps) > 0 || len(p.Refused) != 1 || p.Refused[0].Reason != ReasonConflict || !strings.Contains(p.Refused[0].Message, "spec.replicas = 3") || !strings.HasSuffix(p.Refused[0].Message, "--force restores it") {
		t.Errorf("%+v", p)
	}
	b.until(t)
	if now := b.api.image(t); now["Deployment.apps/shop/web"] != left["Deployment.apps/shop/web"] {
		t.Error(now)
	}
}

// What on.Recover says is done when an app is let go, not once more when what was left is put back.
func TestLeftIsNoRecover(t *testing.T) {
	b := shared(t)
	web := ref("apps", "Deployment", "web")
	b.sys.Apps[0].On[system.Recover] = []system.Action{{Annotate: map[string]*string{"again": new("1")}}}
	b.after["a"] = [][]object.Ref{{web}}
	b.until(t, "a")
	target := Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	b.api.change(t, target, "kubectl", int64(7), "spec", "replicas")
	b.until(t)
	b.api.change(t, target, "kubectl", "2", "metadata", "annotations", "again")
	from := b.api.requests
	b.api.fault = func(i int, _ string) fate { return fate{kill: i == from+1} }
	b.force(t, "a")
	b.api.fault = nil
	b.until(t) // resumed, with what on.Recover says
	if got, _ := patch.Lookup(b.api.objects["Deployment.apps/shop/web"].Object, []string{"metadata", "annotations", "again"}); got != "2" {
		t.Error(got)
	}
}

// A later hold of the app forgets what was left, and so does one of another app the fields
// that it wrote itself.
func TestLeftIsForgotten(t *testing.T) {
	b, _ := leftBench(t)
	b.until(t, "a")
	if j := b.journal(t); len(j.Conflicts) != 0 {
		t.Errorf("%+v", j.Conflicts)
	}
	b, _ = leftBench(t)
	left := b.api.image(t)
	b.until(t, "b") // scales the same object, and writes the same annotation
	if j := b.journal(t); len(j.Conflicts) != 0 {
		t.Errorf("%+v", j.Conflicts)
	}
	b.until(t)
	b.sameAs(t, left)
}

// What was left of a hold on top of another is what was there before both, when that ends.
func TestLeftOnTop(t *testing.T) {
	for _, order := range []string{"a", "b"} { // who is forced first
		b := shared(t)
		before := b.api.image(t)
		b.until(t, "a")
		b.until(t, "a", "b")
		b.api.change(t, Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}, "kubectl", int64(7), "spec", "replicas")
		b.until(t, "a")
		b.until(t)
		if j := b.journal(t); len(j.Conflicts) != 2 {
			t.Fatalf("%+v", j.Conflicts)
		}
		other := map[string]string{"a": "b", "b": "a"}[order]
		b.force(t, order)
		b.force(t, other)
		b.sameAs(t, before)
	}
}

func leftHold(id int, app string) *Hold {
	return &Hold{ID: id, App: app, Signal: "Stop", Phase: Recovering, Operations: []*Operation{
		{State: Conflict, Target: Target{Kind: "A", Name: app, UID: fmt.Sprint("u", id)}, Changes: []patch.Change{{Path: "/a", ExistsAfter: true, After: "x", ExistedBefore: true, Before: strings.Repeat("w", 100)}, {Path: "/b", Kept: true}}},
		{State: Undone, Target: Target{UID: "v"}, Changes: []patch.Change{{Path: "/a"}}},
		{State: Conflict}, // nothing of an object
	}}
}

func TestLeftIsBounded(t *testing.T) {
	j := &Journal{}
	for i := range MaxConflicts + 5 {
		j.CloseHold(leftHold(i+1, fmt.Sprint("app", i)), time.Time{}, Record{Result: strings.Repeat("r", 500)})
	}
	if len(j.Conflicts) != MaxConflicts || j.Conflicts[0].ID != 6 {
		t.Fatalf("%d, the first is %d", len(j.Conflicts), j.Conflicts[0].ID)
	}
	for _, h := range j.Conflicts {
		if len(h.Operations) != 1 || len(h.Operations[0].Changes) != 1 || h.Phase != Conflicted {
			t.Fatalf("%+v", h)
		}
	}
	c := j.Clone()
	c.Conflicts[0].Operations[0].Changes[0].Path = "/changed"
	if j.Conflicts[0].Operations[0].Changes[0].Path != "/a" {
		t.Error("a clone shares what was left")
	}
	// The history goes first, then the oldest of what was left.
	size := func() int { b, _ := json.Marshal(j); return len(b) }
	if !j.Trim(size()-600) || len(j.Conflicts) != MaxConflicts {
		t.Errorf("%d left", len(j.Conflicts))
	}
	if most := size() / 3; !j.Trim(most) || len(j.History) != 0 || len(j.Conflicts) == 0 || len(j.Conflicts) == MaxConflicts || size() > most {
		t.Errorf("%d bytes, %d left, %d records", size(), len(j.Conflicts), len(j.History))
	}
	if newest := j.Conflicts[len(j.Conflicts)-1].ID; newest != MaxConflicts+5 {
		t.Errorf("the newest is %d", newest)
	}
	if h := j.Open(Step{App: "new", Signal: "Stop"}, nil, time.Time{}); h.ID <= MaxConflicts+5 {
		t.Errorf("number %d is used twice", h.ID)
	}
}

// What was left goes through the document of the store, and is told to people in it.
func TestLeftIsStored(t *testing.T) {
	b, _ := leftBench(t)
	j := b.journal(t)
	format := formatOf("shop", "shop")
	o, err := format.Encode(j)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Data["held"]; !strings.HasPrefix(got, "nothing is held\na Stop conflict: Deployment.apps/shop/web (it was spec.replicas = 3)") {
		t.Error(got)
	}
	back, err := format.Decode(o)
	if err != nil || len(back.Conflicts) != 1 || !slices.EqualFunc(back.Conflicts[0].Operations, j.Conflicts[0].Operations, func(x, y *Operation) bool { return patch.Equal(x, y) }) {
		t.Errorf("%v: %+v", err, back)
	}
}
