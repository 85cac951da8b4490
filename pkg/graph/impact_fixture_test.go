package graph_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// foretold is a file of testdata/impact: objects of a cluster, of which all was read except the
// kinds in the section unread, and for some of them, in a section of that name, all effects of
// their deletion, as
//
//	EFFECT[?] OBJECT [BELOW]
//
// with a question mark for an inferred one. The name of a section may have a propagation policy:
// OBJECT orphan.
type foretold struct {
	objects []byte
	unread  []string
	impacts map[string][]string
}

func readForetold(t *testing.T, file string) foretold {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := foretold{impacts: map[string][]string{}}
	for _, section := range archive.Files {
		switch section.Name {
		case "objects.yaml":
			f.objects = section.Data
			continue
		case "unread":
			f.unread = strings.Fields(string(section.Data))
			continue
		}
		lines := strings.FieldsFunc(string(section.Data), func(r rune) bool { return r == '\n' })
		f.impacts[section.Name] = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "#") })
	}
	return f
}

// effectsOf formats an impact as the lines of a fixture.
func effectsOf(g *graph.Graph, im graph.Impact) []string {
	lines := []string{}
	guess := map[bool]string{true: "?"}
	for _, d := range im.Deleted {
		lines = append(lines, "deleted "+g.Ref(d.ID).String()+" by "+d.Removal.String())
	}
	for _, d := range im.MayGo {
		lines = append(lines, "deleted? "+g.Ref(d.ID).String()+" by "+d.Removal.String())
	}
	for _, k := range im.Kept {
		lines = append(lines, "kept "+g.Ref(k.ID).String()+": "+k.Reason.String())
	}
	for _, d := range slices.Concat(im.Direct, im.Bereft) {
		line := strings.ReplaceAll(d.Effect.String(), " ", "-") + guess[d.Inferred] + " " + g.Ref(d.ID).String()
		if n := len(d.Below); n > 0 {
			line += fmt.Sprintf(" +%d", n)
		}
		lines = append(lines, line)
	}
	for _, d := range im.Indirect {
		line := "through: " + strings.ReplaceAll(d.Effect.String(), " ", "-") + guess[d.Inferred] + " " + g.Ref(d.ID).String()
		if d.Effect == graph.LosesReplica {
			line += fmt.Sprintf(" %d/%d", d.Left, d.Of)
		}
		lines = append(lines, line)
	}
	if im.Remaker >= 0 {
		lines = append(lines, "anew"+guess[!im.RemakerKnown]+" by "+g.Ref(im.Remaker).String())
	}
	return lines
}

func TestImpactFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/impact/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f := readForetold(t, file)
			r := readAll(t, file, f.objects)
			r.unread = f.unread
			g := r.graph(nil)
			for _, name := range slices.Sorted(maps.Keys(f.impacts)) {
				text, policy, _ := strings.Cut(name, " ")
				ref, err := object.ParseRef(text)
				if err != nil {
					t.Fatal(err)
				}
				id, ok := g.Find(ref)
				if !ok {
					t.Fatalf("%s is not there", ref)
				}
				o := graph.ImpactOptions{}
				for _, c := range graph.Cascades() {
					if c.String() == policy {
						o.Cascade = c
					}
				}
				got, want := effectsOf(g, g.Impact(id, o)), f.impacts[name]
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("impact of %s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}
