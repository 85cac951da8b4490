package regulate

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Whether an app was Suspended before it was held is known when it is let go: whatever held it
// first says so, not a hold on top of that one.
func TestRestoredSuspended(t *testing.T) {
	for status, suspended := range map[health.Status]bool{health.Healthy: false, health.Suspended: true, health.Degraded: false} {
		b := shop(t)
		b.runner = func(r *Runner) { r.World = &SystemState{Apps: []AppState{{Name: "web", Health: status}}} }
		if _, err := b.once(t, "web"); err != nil {
			t.Fatal(err)
		}
		b.runner = func(r *Runner) { r.World = &SystemState{Apps: []AppState{{Name: "web", Health: health.Suspended}}} }
		second := b.run(t.Context())
		b.sys.Apps[0].On["drain"] = b.sys.Apps[0].On[system.Stop]
		drain := &Plan{Steps: []Step{{Verb: Send, App: "web", Signal: "drain", Why: "because", Actions: b.resolved("web", system.Stop), Managers: b.mgrs["web"], Causes: []Cause{{RequestedBy: "ann"}}}}}
		if _, err := second.Do(t.Context(), drain, b.journal(t)); err != nil {
			t.Fatal(err)
		}
		for _, h := range b.journal(t).Holds {
			if h.Suspended != suspended {
				t.Errorf("%s: hold %s: suspended %v", status, h.Signal, h.Suspended)
			}
		}
		b.runner = nil
		j, back := b.journal(t), &Plan{}
		for _, h := range j.Holds {
			back.Steps = append(back.Steps, Step{Verb: RecoverApp, App: "web", Signal: h.Signal, Hold: h.ID})
		}
		out, err := b.run(t.Context()).Do(t.Context(), back, j)
		if err != nil || len(out.Restored) == 0 {
			t.Fatalf("%s: let go: %+v, %v", status, out, err)
		}
		for _, r := range out.Restored {
			if r.Suspended != suspended {
				t.Errorf("%s: %s was suspended: %v", status, r.Object, r.Suspended)
			}
		}
	}
}
