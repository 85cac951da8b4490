package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// What somebody changes of what is held is told by status and plan, with who and when, and what
// can be done; the System is named by its manifest, the app by its flag or without.
func TestRegulateDrift(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	s.regulate("stop", "worker", "--yes").succeeds(t)
	s.patch("apps", "v1", "deployments", "worker", `{"spec":{"replicas":3}}`)
	for _, command := range []string{"status", "plan"} {
		r := s.regulate(command, "-o", "json").succeeds(t)
		var d struct {
			Drift []struct {
				App, Target, Path, Held, Current, Manager, At, Message string
				Choices                                                []struct{ Description, Command string }
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Drift) != 1 || d.Drift[0].App != "worker" || d.Drift[0].Manager != "somebody" || d.Drift[0].At == "" || d.Drift[0].Held != "0" || d.Drift[0].Current != "3" || len(d.Drift[0].Choices) != 3 {
			t.Errorf("%s: %+v", command, d.Drift)
		}
		tree := s.regulate(command).succeeds(t).stdout
		if !strings.Contains(tree, "changed since by somebody at ") || !strings.Contains(tree, "regulate recover shop worker --force") {
			t.Errorf("%s tells nothing of it:\n%s", command, tree)
		}
	}
	s.regulate("recover", "--app", "worker", "--yes", "--force").succeeds(t)
	if got := s.status(); len(got) != 0 {
		t.Errorf("held: %+v", got)
	}
}
