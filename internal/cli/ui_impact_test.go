package cli

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func askImpact(t *testing.T, v *app.Page, ref, cascade string) view.ImpactDocument {
	t.Helper()
	query := url.Values{"ref": {ref}}
	if cascade != "" {
		query.Set("cascade", cascade)
	}
	text, err := askPage(t, v, "impact", query)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	var doc view.ImpactDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestImpactOnPage holds that the page is told what the command tells, of an object of every kind.
func TestImpactOnPage(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	kinds := map[string]bool{"Node": true}
	for id := range graph.ID(v.Last.Graph.Len()) {
		r := v.Last.Graph.Ref(id)
		kind := r.GroupKind().String()
		if kinds[kind] || v.Last.Graph.State(id) != graph.Present {
			continue
		}
		kinds[kind] = true
		got := askImpact(t, v, r.String(), "")
		if want := answerOf[view.ImpactDocument](t, "impact", r.String(), "-A"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the page is told %+v, want %+v", r, got, want)
		}
	}
	if len(kinds) < 20 {
		t.Fatalf("%d kinds", len(kinds))
	}
	for _, c := range graph.Cascades() {
		got := askImpact(t, v, "Moodle.moodlecontroller.kubeplus/moodle/moodle-2", c.String())
		want := answerOf[view.ImpactDocument](t, "impact", "moodle/moodle-2", "-n", "moodle", "--cascade", c.String())
		if got.Cascade != c.String() || got.Summary != want.Summary || !reflect.DeepEqual(got.Deletions, want.Deletions) || !reflect.DeepEqual(got.Retained, want.Retained) {
			t.Errorf("--cascade %s: %+v, want %+v", c, got, want)
		}
	}
}

// TestImpactOnPageRefuses: what is not there is not deleted, and a Node is drained.
func TestImpactOnPageRefuses(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	for _, wrong := range []struct{ ref, cascade, want string }{
		{"", "", "is not an object"},
		{"Pod/moodle/nobody", "", "was not read"},
		{"Secret/moodle/moodle-2-smtp", "", "is missing: it cannot be deleted"},
		{"Node/worker-a", "", "kubectl sysop impact Node/worker-a"},
		{"Secret/moodle/cluster1-secret", "sideways", `unknown propagation policy "sideways"`},
	} {
		_, err := askPage(t, v, "impact", url.Values{"ref": {wrong.ref}, "cascade": {wrong.cascade}})
		if err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s %s: %v, want %q", wrong.ref, wrong.cascade, err, wrong.want)
		}
	}
}

// TestImpactOnPageHidesValues: of evidence it has nothing but hosts, as a UIState.
func TestImpactOnPageHidesValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(secretive), 0o600); err != nil {
		t.Fatal(err)
	}
	v, _ := surveyFrom(t, file, true)
	text, err := askPage(t, v, "impact", url.Values{"ref": {"Service/default/db"}})
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile("hunter2[a-z-]*|aHVudGVy").FindAll(text, -1); found != nil || !bytes.Contains(text, []byte("env[1].value")) {
		t.Errorf("it holds %q: %s", found, text)
	}
}

// impactWords are what a terminal shows of impacts: ui/test/impact.test.mjs holds the page to them.
// SYSOP_UPDATE=1 writes them.
const impactWords = "../../ui/test/fixtures/impacts.json"

// impactTwin is an impact, and the lines of its tree: how deep, the object, what happens to it.
type impactTwin struct {
	Document any         `json:"document"`
	Lines    [][3]string `json:"lines"`
}

// TestImpactWords writes an impact that has every effect, every reason and every remark, and some of
// the example.
func TestImpactWords(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	g := v.Last.Graph
	twins := []impactTwin{impactTwinOf(t, view.Impact(everyImpact(t, g)))}
	for _, text := range []string{"Deployment.apps/moodle/moodle-1", "PersistentVolumeClaim/moodle/wordpress-content", "StorageClass.storage.k8s.io/standard"} {
		twins = append(twins, impactTwinOf(t, app.Impact(g, nodeOf(t, g, text), graph.ImpactOptions{})))
	}
	got, err := json.Marshal(twins)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SYSOP_UPDATE") != "" {
		if err := os.WriteFile(impactWords, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(impactWords)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what a terminal shows: SYSOP_UPDATE=1 writes it", impactWords)
	}
}

func impactTwinOf(t *testing.T, a view.Output) impactTwin {
	t.Helper()
	type deep struct {
		line  *view.TreeRow
		depth string
	}
	var document bytes.Buffer
	if err := render.JSONLine(&document, a.Document); err != nil {
		t.Fatal(err)
	}
	tw := impactTwin{Document: json.RawMessage(document.Bytes())}
	next := []deep{{line: a.Tree.Roots[0]}}
	for len(next) > 0 {
		at := next[0]
		tw.Lines = append(tw.Lines, [3]string{at.depth, at.line.Name.Text, at.line.Cells[0].Text})
		var below []deep
		for _, l := range at.line.Children {
			below = append(below, deep{l, at.depth + " "})
		}
		next = append(below, next[1:]...)
	}
	return tw
}

func nodeOf(t *testing.T, g *graph.Graph, text string) graph.ID {
	t.Helper()
	ref, err := object.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	id, ok := g.Find(ref)
	if !ok {
		t.Fatalf("no %s in the example", text)
	}
	return id
}

// everyImpact is an impact with all that one can have, made up of objects of the example.
func everyImpact(t *testing.T, g *graph.Graph) view.ImpactOf {
	t.Helper()
	e := &everything{t: t, g: g, root: nodeOf(t, g, "StatefulSet.apps/moodle/cluster1-mysql")}
	for out := range g.Out(e.root) {
		e.edge = out
	}
	im := &e.of.Impact
	*im = graph.Impact{Object: e.root, Remaker: e.another(), RemakerKnown: true}
	e.of.Graph, e.of.Cascade = g, graph.Foreground
	e.effects()
	im.Indirect = []graph.Dependent{{ID: e.another(), Effect: graph.Breaks, Cause: e.root, Edge: e.edge}} // in no stack
	e.of.Stacks = append(e.of.Stacks, graph.StackImpact{Stack: e.stack(), Gone: true, Deleted: 1})
	for _, r := range []graph.Removal{graph.Collected, graph.InNamespace, graph.OfDefinition, graph.Reclaimed, graph.ByController} {
		im.Deleted = append(im.Deleted, graph.Deletion{ID: e.another(), By: e.root, Removal: r, Edge: e.edge, Blocks: r == graph.Collected})
	}
	im.Deleted = append(im.Deleted, graph.Deletion{ID: nodeOf(t, g, "PersistentVolumeClaim/moodle/wordpress-content"), By: e.root, Removal: graph.Collected})
	im.MayGo = []graph.Deletion{{ID: e.another(), By: e.root, Removal: graph.ByController, Edge: e.edge}}
	for _, r := range []graph.Reason{graph.AnotherOwner, graph.Orphaned, graph.Retained, graph.NotCleared} {
		im.Kept = append(im.Kept, graph.Kept{ID: e.another(), By: e.root, Reason: r})
	}
	return e.of
}

// everything takes an object of the example after another.
type everything struct {
	t    *testing.T
	g    *graph.Graph
	root graph.ID
	edge graph.Edge
	next graph.ID
	of   view.ImpactOf
}

func (e *everything) another() graph.ID {
	e.t.Helper()
	for ; int(e.next) < e.g.Len(); e.next++ {
		if e.g.State(e.next) == graph.Present && e.next != e.root && e.g.Ref(e.next).Namespace == "moodle" {
			e.next++
			return e.next - 1
		}
	}
	e.t.Fatal("the example has too few objects")
	return -1
}

func (e *everything) stack() graph.FoundStack {
	return graph.FoundStack{Roots: []graph.ID{e.another()}}
}

// effects adds every effect, sure and inferred, each to a stack of its own.
func (e *everything) effects() {
	im := &e.of.Impact
	for effect := graph.Breaks; effect <= graph.DoesWithout; effect++ {
		for _, inferred := range []bool{false, true} {
			d := graph.Dependent{ID: e.another(), Effect: effect, Inferred: inferred, Cause: e.root, Edge: e.edge}
			if inferred {
				d.Cause, d.Follows, d.Below = im.Direct[0].ID, "and so on", []graph.ID{e.another()}
			}
			if effect == graph.LosesReplica {
				d.Left, d.Of = 1, 3
			}
			at := len(im.Direct)
			e.of.Stacks = append(e.of.Stacks, graph.StackImpact{Stack: e.stack(), Effect: effect, Inferred: inferred, Because: d.ID, Deleted: at % 3, Members: slices.Compact([]int{0, at})})
			im.Direct = append(im.Direct, d)
		}
	}
}
