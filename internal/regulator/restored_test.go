package regulator

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// An app that was let go and is Suspended is not well, unless it was so before, or something else
// holds it still.
func TestLetGoAndSuspended(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	held := &regulate.Journal{Holds: []*regulate.Hold{{App: "web", Signal: "drain"}}}
	for _, c := range []struct {
		name      string
		status    health.Status
		rollout   string
		suspended bool
		journal   *regulate.Journal
		well      bool
	}{
		{"Healthy", health.Healthy, "", false, &regulate.Journal{}, true},
		{"being rolled out", health.Healthy, "1 of 2", false, &regulate.Journal{}, false},
		{"Suspended", health.Suspended, "", false, &regulate.Journal{}, false},
		{"Suspended as before", health.Suspended, "", true, &regulate.Journal{}, true},
		{"Suspended and held", health.Suspended, "", false, held, true},
		{"Degraded and held", health.Degraded, "", true, held, false},
	} {
		out := &regulate.Outcome{Restored: []regulate.Restored{{App: "web", Object: web, Suspended: c.suspended}}}
		b := &Session{View: &systems.View{}, Journal: c.journal}
		app := &regulate.AppState{Name: "web", Health: c.status, Rollout: c.rollout}
		if got := newRecovered(out).isHealthy(b, app); got != c.well {
			t.Errorf("%s: well %v", c.name, got)
		}
	}
}
