package regulator

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// What a run has begun to stop is recovered at its end, as what it has stopped.
func TestHolding(t *testing.T) {
	t.Parallel()
	cause := []regulate.Cause{{Run: "r1"}}
	p := Pause{HeldRun: HeldRun{ID: "r1", Session: &Session{Journal: &regulate.Journal{Holds: []*regulate.Hold{
		{App: "worker", Phase: regulate.Stopping, Causes: cause},
		{App: "web", Phase: regulate.Held, Causes: cause},
		{App: "gate", Phase: regulate.Recovering, Causes: cause},
		{App: "mail", Phase: regulate.Held, Causes: []regulate.Cause{{Run: "r2"}}},
	}}}}}
	if got := p.holding(); !slices.Equal(got, []string{"web", "worker"}) {
		t.Errorf("it holds %v", got)
	}
	p.Session.Journal = nil
	if got := p.holding(); got != nil {
		t.Errorf("without a journal it holds %v", got)
	}
}
