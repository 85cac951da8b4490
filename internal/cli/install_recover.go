package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// recovering is a run that was not ended, with what ending it will write.
type recovering struct {
	o       *installOptions
	cluster *installCluster
	runner  *install.Runner
	of      install.Installation
	plan    install.RecoveryPlan
	// fingerprint is that of what is wanted now; empty where the run is undone in any case.
	fingerprint string
	options     install.Options
	// losses are what ending it deletes that holds data.
	losses []object.Ref
	// next is what was agreed to do after it, before it was ended.
	next *install.Plan
}

// recovering holds the run that is not ended against the cluster, and shows what ending it will
// write. Nothing is written. The fingerprint is that of the plan that may continue the run; empty
// where it is undone in any case.
func (p *installPlan) recovering(ctx context.Context, fingerprint string) (*recovering, error) {
	r := &recovering{o: p.o, cluster: p.cluster, runner: p.runner, of: p.of, fingerprint: fingerprint, options: p.options()}
	var err error
	if r.plan, err = p.runner.PlanRecovery(ctx, p.of, fingerprint, r.options); err != nil {
		return nil, err
	}
	r.options.Seen = r.plan.Seen
	r.show()
	if p.o.printRBAC {
		return r, nil // a user who prints the roles may not be able to read yet
	}
	if r.losses, err = p.runner.RecoveryLosses(ctx, p.of, r.plan, p.cluster.Kinds); err != nil {
		return nil, hint.With(fmt.Errorf("what undoing the %s of %s would delete is unknown, and nothing was written: %w", r.plan.Run.Action, p.of.Name, err), "--print-rbac prints the roles that it needs")
	}
	p.o.tellLosses(p.of, r.losses)
	return r, nil
}

// show lists what ending the run will write, on standard error: the answer is about what comes after.
func (r *recovering) show() {
	run, out := r.plan.Run, r.o.env.ErrOut
	outcome := map[install.Recovery]string{
		install.RecoveredResumed: "the steps that only started are undone or finished, then it continues", install.RecoveredDone: "all steps were done: it is closed",
		install.RecoveredUndone: "it is undone",
	}[r.plan.What]
	if r.plan.What == install.RecoveredUndone && r.fingerprint != "" && !run.Undoing && run.Action == r.o.action {
		outcome = "it had other arguments or charts, so it is undone first"
	}
	if outcome == "" {
		return
	}
	article := "an"
	if run.Action == install.Rollback {
		article = "a"
	}
	fmt.Fprintf(out, "%s %s of %s by %s did not finish: %s\n", article, safe(string(run.Action)), safe(r.of.Name), safe(run.By), outcome)
	for _, a := range r.plan.Acts {
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
	if a.Release != (install.ReleaseName{}) {
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

// permissions refuses if a permission is missing, before anything is written.
func (r *recovering) permissions(ctx context.Context) error {
	missing, err := regulate.Review(ctx, r.cluster.Config, install.RecoveryRights(r.of, r.plan, r.cluster.Kinds))
	if undecided, ok := errors.AsType[*regulate.UnknownPermissionsError](err); ok {
		fmt.Fprintf(r.o.env.ErrOut, "note: %s\n", safe(undecided.Error()))
	} else if err != nil {
		return err
	}
	for _, text := range regulate.OrderedNotes(missing) {
		fmt.Fprintf(r.o.env.ErrOut, "note: %s\n", safe(text))
	}
	var lines []string
	for _, m := range missing {
		if text := fmt.Sprintf("you may not %s", m.Permission); !m.Optional && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return hint.With(&hint.Lines{Lines: append(lines, "nothing was written")}, "--print-rbac prints the roles that it needs")
}

// agree decides, before the first write, about the run and what is done after it. What stands against
// that is refused now. Where the run continues, both are one thing, which decide asks for; else
// the question is about the run alone, and what comes after is asked for once it is undone.
func (r *recovering) agree(ctx context.Context, after *installPlan, decide func() (bool, error)) (bool, error) {
	if r.plan.What == install.RecoveredNothing {
		return true, nil
	}
	if err := r.permissions(ctx); err != nil {
		return false, err
	}
	if err := after.review(ctx); err != nil {
		return false, err
	}
	if r.plan.What == install.RecoveredResumed {
		if err := after.preflight(ctx); err != nil {
			return false, err
		}
	}
	r.liftRefusals(after.planned)
	if r.plan.What == install.RecoveredResumed || len(after.planned.Refusals) > 0 {
		yes, err := decide()
		r.next = after.planned
		if err != nil || !yes || len(after.planned.Steps) > 0 {
			return yes, err
		}
		// The plan after it is empty, so decide asked nothing: the run is asked about by itself.
	}
	return r.asked(ctx)
}

// liftRefusals drops refusals of the plan after a run that is undone first, where they are about a
// definition that the undoing changes: whether they stand is known after it. The last of the
// others gets the way to undo the run alone as a hint.
func (r *recovering) liftRefusals(p *install.Plan) {
	if r.plan.What != install.RecoveredUndone {
		return
	}
	p.Refusals = slices.DeleteFunc(p.Refusals, func(refused install.Refusal) bool {
		return refused.Topic == "definitions" && slices.ContainsFunc(r.plan.Acts, func(a install.RecoveryAct) bool { return a.Object == refused.Object && a.Verb != install.RecoverLeave })
	})
	if n := len(p.Refusals); n > 0 {
		undo := fmt.Sprintf("kubectl sysop rollback %s -n %s --unfinished only undoes the run that did not finish", r.of.Name, r.of.Namespace)
		p.Refusals[n-1].Hint = strings.TrimPrefix(p.Refusals[n-1].Hint+"\n"+undo, "\n")
	}
}

// covers says that a plan, made when the run was ended, does nothing but what was agreed to before.
func (r *recovering) covers(p *install.Plan) bool {
	if r == nil || r.next == nil || len(p.Refusals) > 0 {
		return false
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if !slices.ContainsFunc(r.next.Steps, func(was install.Step) bool {
			return was.ID == s.ID && was.Kind == s.Kind && isSubset(s.Objects, was.Objects)
		}) {
			return false
		}
	}
	return isSubset(p.Losses(), slices.Concat(r.next.Losses(), r.losses))
}

// isSubset says that all has each object of some.
func isSubset(some, all []object.Ref) bool {
	return !slices.ContainsFunc(some, func(ref object.Ref) bool { return !slices.Contains(all, ref) })
}

// continuedLosses is what is lost by a run that continues, besides what is lost after it.
func (r *recovering) continuedLosses() []object.Ref {
	if r == nil || r.plan.What != install.RecoveredResumed || r.next != nil {
		return nil
	}
	return r.losses
}

// asked asks whether the run is ended. One that had done all of it is closed without asking.
func (r *recovering) asked(ctx context.Context) (bool, error) {
	if r.plan.What == install.RecoveredDone {
		return true, nil
	}
	n := len(slices.DeleteFunc(slices.Clone(r.plan.Acts), func(a install.RecoveryAct) bool { return a.Verb == install.RecoverLeave }))
	question := fmt.Sprintf("resume or undo the %s of %s by %s: %s. Do it?", r.plan.Run.Action, r.of.Name, r.plan.Run.By, strings.TrimSpace(plural(n, "step")))
	yes, err := r.o.agreed(ctx, r.of, r.losses, question)
	if err != nil || !yes {
		return false, errors.Join(err, errDeclined)
	}
	return true, nil
}

// do reviews the permissions, asks, and ends the run.
func (r *recovering) do(ctx context.Context) (install.Recovery, install.Report, error) {
	if r.plan.What != install.RecoveredNothing {
		if err := r.permissions(ctx); err != nil {
			return "", install.Report{}, err
		}
		if _, err := r.asked(ctx); err != nil {
			return "", install.Report{}, err
		}
	}
	return r.end(ctx)
}

// end ends the run, as was agreed.
func (r *recovering) end(ctx context.Context) (install.Recovery, install.Report, error) {
	if r.plan.What == install.RecoveredNothing {
		return install.RecoveredNothing, install.Report{}, nil
	}
	outcome, report, err := r.runner.Recover(ctx, r.of, r.fingerprint, r.options)
	if outcome != install.RecoveredResumed {
		r.o.remember(ctx, r.cluster, r.runner, r.of, report)
	}
	return outcome, report, err
}
