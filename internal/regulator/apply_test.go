package regulator

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// TestRefusedByHand is what is asked for by hand and refused: whoever goes on must not take
// the app for held.
func TestRefusedByHand(t *testing.T) {
	for reason, fails := range map[string]bool{
		regulate.BecauseGitOps: true, regulate.ReasonMissing: true, regulate.BecauseAllowStop: true, regulate.BecauseCause: true,
		regulate.BecauseNotHeld: false,
	} {
		p := &regulate.Plan{Refused: []regulate.Refusal{{App: "web", Reason: reason, Message: "why"}}}
		if err := (&Result{Plan: p}).Refusal(); (err != nil) != fails {
			t.Errorf("%s: %v", reason, err)
		}
		p.Steps = []regulate.Step{{App: "web"}}
		if err := (&Result{Plan: p}).Refusal(); err != nil {
			t.Errorf("%s, and something was done: %v", reason, err)
		}
	}
}
