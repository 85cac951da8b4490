package relation_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestTraps runs all rules on what other tools get wrong: every edge is listed. The graph tests two
// more traps: wrong owners (TestOwners), and objects that two groups serve (TestEventTwins).
func TestTraps(t *testing.T) {
	files, err := os.ReadDir("testdata/traps")
	if err != nil || len(files) == 0 {
		t.Fatal("no traps", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".txtar")
		t.Run(name, func(t *testing.T) {
			f := readFixture(t, "traps/"+name)
			got := map[string]bool{}
			for _, o := range f.objects {
				set().Links(o, func(rule int, l relation.Link) {
					if set().Rules()[rule].Evidence {
						return // makes no edge
					}
					for _, to := range f.resolve(o.Ref, l) {
						edge, flags := edgeText(o.Ref, to, set().Rules()[rule], l)
						got[edge+flags] = true
					}
				})
			}
			for _, edge := range slices.Sorted(maps.Keys(got)) {
				if !f.want[edge] {
					t.Errorf("not listed: edge %s", edge)
				}
			}
			for _, edge := range slices.Sorted(maps.Keys(f.want)) {
				if !got[edge] {
					t.Errorf("missing: edge %s", edge)
				}
			}
		})
	}
}
