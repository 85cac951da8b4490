package graph_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// TestStackOfWhatIsUnread: an object that was read before and is forbidden now keeps its place:
// what it owns or needs is not found as a stack of its own.
func TestStackOfWhatIsUnread(t *testing.T) {
	for name, c := range map[string]struct{ lines, top, members string }{
		"the owner of a pod":          {"apps:d owns pod:p\nunread apps:d", "apps:d", "apps:d pod:p"},
		"all owners of a pod":         {"apps:d owns rs:r\nrs:r owns pod:p\nunread apps:d\nunread rs:r", "apps:d", "apps:d pod:p rs:r"},
		"the owner between":           {"apps:d owns rs:r\nrs:r owns pod:p\nunread rs:r", "apps:d", "apps:d pod:p rs:r"},
		"what needs another workload": {"apps:d needs job:j\njob:j owns pod:p\nunread apps:d", "apps:d", "apps:d job:j pod:p"},
		"a custom resource":           {"a owns apps:d\napps:d owns pod:p\nunread a", "a", "a apps:d pod:p"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			if got := found(g, g.FindStacks("", graph.StackOptions{})); got != c.top {
				t.Errorf("stacks %q, want %q", got, c.top)
			}
			if got := names(g, g.Stack(nodes(t, g, c.top), graph.StackOptions{}).Members()); got != c.members {
				t.Errorf("members %q, want %q", got, c.members)
			}
			for n := range g.Nodes() {
				if n.State == graph.Missing {
					t.Errorf("%s is missing", nameOf(n.Ref))
				}
			}
		})
	}
	g := graphOf(t, "apps:d owns pod:p\nunread apps:d")
	if id := node(t, g, "apps:d"); g.State(id) != graph.Unread || !g.WasRead(id) {
		t.Errorf("state %v, was read %v", g.State(id), g.WasRead(id))
	}
}
