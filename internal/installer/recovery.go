package installer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// ErrDeclined reports that the user did not confirm.
var ErrDeclined = errors.New("nothing was done")

// Recovery is an open run with what ending it writes.
type Recovery struct {
	Installation install.Installation
	Plan         install.RecoveryPlan
	// Losses are the objects with data that ending it deletes.
	Losses []object.Ref
	// Changed says that the request has the action of the run, but other arguments or charts, so
	// that the run is undone first.
	Changed bool

	owner   *Plan
	options install.Options
	// fingerprint is that of the plan that may continue the run; empty if it is undone in any case.
	fingerprint string
	// next is the plan that was confirmed before the run was ended; nil for none.
	next *install.Plan
}

// planRecovery compares the open run with the cluster, and shows the user what ending it writes.
// Nothing is written. The fingerprint is that of the plan that may continue the run; empty if it is
// undone in any case.
func (p *Plan) planRecovery(ctx context.Context, fingerprint string, user User) (*Recovery, error) {
	r := &Recovery{Installation: p.Installation, owner: p, fingerprint: fingerprint, options: p.options()}
	var err error
	if r.Plan, err = p.runner.PlanRecovery(ctx, p.Installation, fingerprint, r.options); err != nil {
		return nil, err
	}
	r.options.Seen = r.Plan.Seen
	r.Changed = r.Plan.What == install.RecoveredUndone && fingerprint != "" && !r.Plan.Run.Undoing && r.Plan.Run.Action == p.req.Action
	if r.Changed && p.req.SameRun {
		return nil, hint.With(fmt.Errorf("%s cannot be continued: its unfinished run is for other objects than those that would be saved now", p.Installation.Name),
			fmt.Sprintf("kubectl sysop rollback %s --unfinished -n %s undoes the run", p.Installation.Name, p.Installation.Namespace))
	}
	if p.req.RolesOnly { // A user who wants the roles may not be able to read yet.
		user.ShowRecovery(r)
		return r, nil
	}
	r.Losses, err = p.runner.RecoveryLosses(ctx, p.Installation, r.Plan, p.kinds)
	user.ShowRecovery(r)
	if err != nil {
		return nil, hint.With(fmt.Errorf("what undoing the %s of %s would delete is unknown, and nothing was written: %w", r.Plan.Run.Action, p.Installation.Name, err), "--print-rbac prints the roles that it needs")
	}
	return r, nil
}

// reviewPermissions returns an error if a permission is missing, before anything is written.
func (r *Recovery) reviewPermissions(ctx context.Context) error {
	missing, notes, err := r.owner.review(ctx, install.RecoveryRights(r.Installation, r.Plan, r.owner.kinds))
	if err != nil {
		return err
	}
	for _, text := range notes {
		r.owner.Input.Report.Note(text)
	}
	var required []permission.Permission
	for _, m := range missing {
		if !m.Optional {
			required = append(required, m.Permission)
		}
	}
	if len(required) == 0 {
		return nil
	}
	return hint.With(&hint.Lines{Lines: append(deniedLines(required), "nothing was written")}, "--print-rbac prints the roles that it needs")
}

// confirm decides, before the first write, about the open run and the plan after it. Refusals of
// that plan are reported now. If the run continues, both are confirmed as one; else the question is
// about the run alone, and the plan after it is confirmed when the run is undone.
func (r *Recovery) confirm(ctx context.Context, after *Plan, user User) (bool, error) {
	if r.Plan.What == install.RecoveredNothing {
		return true, nil
	}
	if err := r.reviewPermissions(ctx); err != nil {
		return false, err
	}
	if err := after.reviewPermissions(ctx); err != nil {
		return false, err
	}
	if r.Plan.What == install.RecoveredResumed {
		if err := after.preflight(ctx); err != nil {
			return false, err
		}
	}
	r.liftRefusals(after.Planned)
	if r.Plan.What == install.RecoveredResumed || len(after.Planned.Refusals) > 0 {
		agreed, err := after.confirm(ctx, user, r.continuedLosses())
		r.next = after.Planned
		if err != nil || !agreed || len(after.Planned.Steps) > 0 {
			return agreed, err
		}
		// An empty plan is not confirmed, so the run is confirmed by itself.
	}
	return r.ask(ctx, user)
}

// liftRefusals drops refusals of the plan after a run that is undone first, if they are about a CRD
// that the undoing changes: whether they hold is known after it. The last of the others gets the
// way to undo only the run as a hint.
func (r *Recovery) liftRefusals(p *install.Plan) {
	if r.Plan.What != install.RecoveredUndone {
		return
	}
	p.Refusals = slices.DeleteFunc(p.Refusals, func(refused install.Refusal) bool {
		return refused.Topic == "definitions" && slices.ContainsFunc(r.Plan.Acts, func(a install.RecoveryAct) bool { return a.Object == refused.Object && a.Verb != install.RecoverLeave })
	})
	if n := len(p.Refusals); n > 0 {
		undo := fmt.Sprintf("kubectl sysop rollback %s -n %s --unfinished only undoes the run that did not finish", r.Installation.Name, r.Installation.Namespace)
		p.Refusals[n-1].Hint = strings.TrimPrefix(p.Refusals[n-1].Hint+"\n"+undo, "\n")
	}
}

// covers says that a plan, made after the run was ended, does nothing but what was confirmed before.
func (r *Recovery) covers(p *install.Plan) bool {
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
	return isSubset(p.Losses(), slices.Concat(r.next.Losses(), r.Losses))
}

// isSubset says that all has each object of some.
func isSubset(some, all []object.Ref) bool {
	return !slices.ContainsFunc(some, func(ref object.Ref) bool { return !slices.Contains(all, ref) })
}

// continuedLosses are the losses of a run that continues, next to those of the plan after it.
func (r *Recovery) continuedLosses() []object.Ref {
	if r == nil || r.Plan.What != install.RecoveredResumed || r.next != nil {
		return nil
	}
	return r.Losses
}

// ask asks whether the run is ended. A run whose steps were all run is closed without asking.
func (r *Recovery) ask(ctx context.Context, user User) (bool, error) {
	if r.Plan.What == install.RecoveredDone {
		return true, nil
	}
	agreed, err := user.ConfirmRecovery(ctx, r)
	if err != nil || !agreed {
		return false, errors.Join(err, ErrDeclined)
	}
	return true, nil
}

// Undo reviews the permissions, asks the user, and ends the run.
func (r *Recovery) Undo(ctx context.Context, user User) (install.Recovery, install.Report, error) {
	if r.Plan.What != install.RecoveredNothing {
		if err := r.reviewPermissions(ctx); err != nil {
			return "", install.Report{}, err
		}
		if _, err := r.ask(ctx, user); err != nil {
			return "", install.Report{}, err
		}
	}
	return r.end(ctx)
}

// end ends the run.
func (r *Recovery) end(ctx context.Context) (install.Recovery, install.Report, error) {
	if r.Plan.What == install.RecoveredNothing {
		return install.RecoveredNothing, install.Report{}, nil
	}
	outcome, report, err := r.owner.runner.Recover(ctx, r.Installation, r.fingerprint, r.options)
	if outcome != install.RecoveredResumed {
		r.owner.relabel(ctx, report)
	}
	return outcome, report, err
}
