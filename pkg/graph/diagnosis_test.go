package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// sick is a file of testdata/diagnosis: objects of a cluster, of which all was read except the
// kinds in the section unread, and their problems, as
//
//	SEVERITY REASON OBJECT RELATED|- FIELD|-
//
// Without roots, every object is one. A line of says is part of some message.
type sick struct {
	objects  []byte
	unread   map[string]bool
	gaps     []object.Gap
	roots    []string
	problems []string
	says     []string
}

func readSick(t *testing.T, file string) sick {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := sick{unread: map[string]bool{}}
	for _, f := range archive.Files {
		lines := strings.FieldsFunc(string(f.Data), func(r rune) bool { return r == '\n' })
		switch f.Name {
		case "objects.yaml":
			s.objects = f.Data
		case "unread":
			for _, l := range lines {
				s.unread[l] = true
			}
		case "gaps":
			for _, l := range lines {
				resource, reason, _ := strings.Cut(l, " ")
				s.gaps = append(s.gaps, object.Gap{Resource: resource, Reason: reason})
			}
		case "roots":
			s.roots = lines
		case "problems":
			s.problems = lines
		case "says":
			s.says = lines
		default:
			t.Fatalf("%s: section %s", file, f.Name)
		}
	}
	return s
}

// uncovered is a sink that ignores Cover.
type uncovered struct{ *inventory.Inventory }

func (uncovered) Cover(schema.GroupKind, string) {}

// graph reads the objects, without those of a hidden kind.
func (s sick) graph(t *testing.T, hidden schema.GroupKind, random *rand.Rand) *graph.Graph {
	t.Helper()
	docs, err := source.Parse("objects.yaml", bytes.NewReader(s.objects))
	if err != nil {
		t.Fatal(err)
	}
	docs = slices.DeleteFunc(docs, func(d source.Document) bool { return d.Object["kind"] == hidden.Kind })
	if random != nil {
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	snapshot, err := source.SnapshotOptions{}.New("objects.yaml", docs)
	if err != nil {
		t.Fatal(err)
	}
	all, err := snapshot.Kinds(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := object.NewKinds(all.All()) // all that are served, for certain
	b := graph.NewBuilder(relation.NewSet(relation.BuiltIn()...), kinds)
	inv := inventory.New(nil, b.Extract)
	if err := snapshot.Read(context.Background(), source.Query{All: true}, uncovered{inv}); err != nil {
		t.Fatal(err)
	}
	for _, r := range kinds.All() {
		if gk := r.GroupKind(); !s.unread[gk.String()] && gk != hidden {
			inv.Cover(gk, "")
		}
	}
	for _, g := range s.gaps {
		inv.Gap(g)
	}
	return b.Build(inv)
}

func (s sick) diagnose(t *testing.T, g *graph.Graph) []graph.Problem {
	t.Helper()
	var roots []graph.ID
	for n := range g.Nodes() {
		if n.State == graph.Present && (len(s.roots) == 0 || slices.Contains(s.roots, n.Ref.String())) {
			roots = append(roots, n.ID)
		}
	}
	return g.Stack(roots, graph.StackOptions{}).Diagnose()
}

func problemLine(p graph.Problem) string {
	related, field := "-", "-"
	if p.Related.Kind != "" {
		related = p.Related.String()
	}
	if p.Field != "" {
		field = p.Field
	}
	return strings.Join([]string{p.Severity.String(), p.Reason, p.Object.String(), related, field}, " ")
}

func eachSick(t *testing.T, check func(*testing.T, sick)) {
	t.Helper()
	files, err := filepath.Glob("testdata/diagnosis/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { check(t, readSick(t, f)) })
	}
}

func TestDiagnose(t *testing.T) {
	eachSick(t, func(t *testing.T, s sick) {
		problems := s.diagnose(t, s.graph(t, schema.GroupKind{}, nil))
		var got, messages []string
		for _, p := range problems {
			got = append(got, problemLine(p))
			messages = append(messages, p.Message)
			if p.Message == "" || strings.HasSuffix(p.Message, ".") || strings.Contains(p.Message, "\n") || strings.Contains(p.Message, "%!") {
				t.Errorf("%s: message %q", problemLine(p), p.Message)
			}
		}
		if !slices.IsSortedFunc(problems, func(a, b graph.Problem) int { return int(a.Severity) - int(b.Severity) }) {
			t.Errorf("the worst does not come first: %v", got)
		}
		for _, want := range s.problems {
			if !slices.Contains(got, want) {
				t.Errorf("not found: %s", want)
			}
		}
		for _, line := range got {
			if !slices.Contains(s.problems, line) {
				t.Errorf("not listed: %s", line)
			}
		}
		all := strings.Join(messages, "\n")
		for _, want := range s.says {
			if !strings.Contains(all, want) {
				t.Errorf("nothing says %q in\n%s", want, all)
			}
		}
	})
}

func TestDiagnoseInAnyOrder(t *testing.T) {
	eachSick(t, func(t *testing.T, s sick) {
		want := fmt.Sprint(s.diagnose(t, s.graph(t, schema.GroupKind{}, nil)))
		for seed := range uint64(4) {
			if got := fmt.Sprint(s.diagnose(t, s.graph(t, schema.GroupKind{}, rand.New(rand.NewPCG(seed, 8))))); got != want {
				t.Errorf("seed %d:\n%s\nwant\n%s", seed, got, want)
			}
		}
	})
}

// TestUnreadIsNotNone hides each kind in turn, as if it were forbidden: problems that require it
// must not be reported.
func TestUnreadIsNotNone(t *testing.T) {
	mounts := []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "PodTemplate"}
	eachSick(t, func(t *testing.T, s sick) {
		g := s.graph(t, schema.GroupKind{}, nil)
		hidden := map[schema.GroupKind]bool{}
		for n := range g.Nodes() {
			hidden[n.Ref.GroupKind()] = true
		}
		for gk := range hidden {
			for _, p := range s.diagnose(t, s.graph(t, gk, nil)) {
				wrong := false
				switch p.Reason {
				case graph.ReferenceMissing, graph.ReferenceMissingOptional, graph.OwnerAbsent:
					wrong = p.Related.GroupKind() == gk && strings.Contains(p.Message, "exist")
				case graph.ServiceSelectsNothing, graph.ServiceSelectsEnded, graph.SelectorMatchesNothing:
					wrong = gk.Kind == "Pod"
				case graph.NotAllowedByListeners:
					wrong = gk.Kind == "Gateway" || gk.Kind == "Namespace" && strings.Contains(p.Message, "listeners[1]")
				case graph.ClaimUnmounted:
					wrong = gk.Kind == "Pod" || slices.Contains(mounts, gk.Kind) && p.Severity < graph.Info
				case graph.SelectorOwnerDisagree:
					wrong = gk.Kind == "Pod" || gk.Kind == "ReplicaSet" && strings.Contains(p.Message, "web-1-a")
				}
				if wrong {
					t.Errorf("nobody read a %s, and yet: %s: %s", gk, problemLine(p), p.Message)
				}
			}
		}
	})
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	eachSick(t, func(_ *testing.T, s sick) {
		for _, line := range s.problems {
			seen[strings.Fields(line)[1]] = true
		}
	})
	owners := []string{graph.NotGranted, graph.OwnerForeignNamespace, graph.OwnerNamespaced, graph.OwnerCycle} // TestOwners, TestReferenceGrant
	source, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range regexp.MustCompile(`(?m)^\t\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		r := named[1]
		if !seen[r] && !slices.Contains(owners, r) {
			t.Errorf("no file shows %s", r)
		}
	}
}

// TestConsequences: each rule name in the table exists.
func TestConsequences(t *testing.T) {
	var names []string
	for _, file := range []string{"consequence.go", "impact_harm.go", "impact_deleted.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, regexp.MustCompile(`"[a-z]+(-[a-z]+)+"`).FindAllString(string(text), -1)...)
	}
	for _, name := range names {
		if !slices.ContainsFunc(relation.BuiltIn(), func(r relation.Rule) bool { return `"`+r.Name+`"` == name }) {
			t.Errorf("no rule %s", name)
		}
	}
	if len(names) == 0 {
		t.Error("no names found")
	}
}

// A value that differs from the name is shown.
func TestDiagnoseValue(t *testing.T) {
	w := newWorld(t, "a\ngone far/s")
	r := refOf("far/s")
	w.object("far/s")
	w.link("a", "needs", relation.Link{Target: relation.Target{Kind: r.GroupKind(), Namespace: "far", Name: "s"}, Field: "spec.s", Value: "far/s"})
	g := w.build(nil)
	problems := g.Stack(nodes(t, g, "a"), graph.StackOptions{}).Diagnose()
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "needs Thing.test/far/s, ") || !strings.HasSuffix(problems[0].Message, `correct spec.s = "far/s"`) {
		t.Errorf("problems %v", problems)
	}
}

// The chain of owners may be a cycle: no problem gets lost in it.
func TestDiagnoseOwnerCycle(t *testing.T) {
	g := graphOf(t, `
a owns b
b owns a
a needs s
b needs s
gone s`)
	problems := g.Stack(nodes(t, g, "a"), graph.StackOptions{}).Diagnose()
	var got []string
	for _, p := range problems {
		got = append(got, p.Reason)
	}
	if !slices.Contains(got, graph.ReferenceMissing) || !slices.Contains(got, graph.OwnerCycle) {
		t.Errorf("problems %v", problems)
	}
}

// A problem that two roots share is reported once, one outside of the stack never; an inferred edge
// is no reference.
func TestDiagnoseMembers(t *testing.T) {
	g := graphOf(t, `
a needs s
b needs s
b needs? o
b guesses x
c needs y
gone s
gone o
gone x
gone y`)
	for roots, want := range map[string]string{
		"a":   "error test:a s",
		"a b": "error test:a s\nerror test:b s\ninfo test:b o",
	} {
		var got []string
		for _, p := range g.Stack(nodes(t, g, roots), graph.StackOptions{}).Diagnose() {
			got = append(got, fmt.Sprintf("%s test:%s %s", p.Severity, nameOf(p.Object), nameOf(p.Related)))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %v", roots, got)
		}
	}
}
