package installer

import "testing"

// TestDryRunAgreesToNothing holds that a dry run neither ends an open run nor executes a plan.
func TestDryRunAgreesToNothing(t *testing.T) {
	var user declining
	if req := (&Request{DryRun: DryRunServer}); req.writes() {
		t.Error("a request of a dry run writes")
	}
	open := &Recovery{}
	user.ShowRecovery(open)
	if user.open != open {
		t.Error("the open run is lost")
	}
	if agreed, err := user.ConfirmRecovery(t.Context(), open); agreed || err != nil {
		t.Errorf("the end of an open run: %v, %v", agreed, err)
	}
	if agreed, err := user.Confirm(t.Context(), &Plan{}, nil); agreed || err != nil {
		t.Errorf("a plan: %v, %v", agreed, err)
	}
}
