package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ShowRecovery lists what ending the open run writes and deletes, on standard error: standard output
// is for the plan after it.
func (u *installUser) ShowRecovery(r *installer.Recovery) {
	u.say(summary.Recovery(r)...)
	u.tellLosses(r.Installation, r.Losses)
}

// ConfirmRecovery asks whether the open run is ended.
func (u *installUser) ConfirmRecovery(ctx context.Context, r *installer.Recovery) (bool, error) {
	n := len(slices.DeleteFunc(slices.Clone(r.Plan.Acts), func(a install.RecoveryAct) bool { return a.Verb == install.RecoverLeave }))
	question := fmt.Sprintf("resume or undo the %s of %s by %s: %s. Do it?", r.Plan.Run.Action, r.Installation.Name, r.Plan.Run.By, object.Count(n, "step"))
	return u.agreed(ctx, r.Installation, r.Losses, question)
}
