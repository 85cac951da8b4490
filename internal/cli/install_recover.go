package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

// ShowRecovery lists what ending the open run writes and deletes, on standard error: standard output
// is for the plan after it.
func (u *installUser) ShowRecovery(r *installer.Recovery) {
	u.showActs(r)
	u.tellLosses(r.Installation, r.Losses)
}

func (u *installUser) showActs(r *installer.Recovery) {
	run, out := r.Plan.Run, u.env.ErrOut
	outcome := map[install.Recovery]string{
		install.RecoveredResumed: "the steps that only started are undone or finished, then it continues", install.RecoveredDone: "all steps were done: it is closed",
		install.RecoveredUndone: "it is undone",
	}[r.Plan.What]
	if r.Changed {
		outcome = "it had other arguments or charts, so it is undone first"
	}
	if outcome == "" {
		return
	}
	article := "an"
	if run.Action == install.Rollback {
		article = "a"
	}
	fmt.Fprintf(out, "%s %s of %s by %s did not finish: %s\n", article, safe(string(run.Action)), safe(r.Installation.Name), safe(run.By), outcome)
	for _, a := range r.Plan.Acts {
		fmt.Fprintf(out, "  %s\n", safe(recoveryLine(a)))
		for _, ref := range a.Objects {
			if ref.Namespace != a.Release.Namespace {
				fmt.Fprintf(out, "    with %s\n", safe(ref.String()))
			}
		}
	}
}

func recoveryLine(a install.RecoveryAct) string {
	text := string(a.Verb) + " "
	if a.Release != (helm.ReleaseName{}) {
		text += fmt.Sprintf("release %s", a.Release)
		if a.Verb == install.RecoverRollback {
			text += fmt.Sprintf(" to revision %d", a.Revision)
		}
		if len(a.Objects) > 0 {
			text += " (" + plural(len(a.Objects), "object") + ")"
		}
	} else {
		text += a.Object.String()
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return text
}

// ConfirmRecovery asks whether the open run is ended.
func (u *installUser) ConfirmRecovery(ctx context.Context, r *installer.Recovery) (bool, error) {
	n := len(slices.DeleteFunc(slices.Clone(r.Plan.Acts), func(a install.RecoveryAct) bool { return a.Verb == install.RecoverLeave }))
	question := fmt.Sprintf("resume or undo the %s of %s by %s: %s. Do it?", r.Plan.Run.Action, r.Installation.Name, r.Plan.Run.By, plural(n, "step"))
	return u.agreed(ctx, r.Installation, r.Losses, question)
}
