package regulatecmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
)

// HeldRun prints a change of an app while its neighbours are held.
type HeldRun struct {
	Options *applyOptions
	*regulator.HeldRun
}

// PrintHeld says on standard error which apps are held. It is an error if one could not be held.
func (r *HeldRun) PrintHeld(ctx context.Context) error {
	if r.Held.Outcome == nil || len(r.Held.Plan.Steps) == 0 {
		fmt.Fprintf(r.Options.Env.ErrOut, "no app is held: none needs %s\n", r.App)
		return nil
	}
	if err := r.printDone(r.Held); err != nil {
		return err
	}
	if n := len(r.Held.Outcome.Failed); n > 0 {
		if _, err := r.Options.inspect(ctx, r.Session, r.Held.Outcome, glance); err != nil {
			return err
		}
		return hint.With(fmt.Errorf("%d of the neighbours could not be held, so the command was not run: %s", n, r.Held.Outcome.Failed[0].Result), "kubectl sysop regulate recover recovers the others")
	}
	return nil
}

// printDone prints what was done as a table on standard error.
func (r *HeldRun) printDone(d *regulator.Result) error {
	out := regulation.Done(d.Outcome, d.Plan, d.Restored, regulationOptions(r.Session))
	return render.Write(r.Options.Env.ErrOut, "table", out, render.Options{Width: r.Options.Env.Width, NoHeaders: r.Options.NoHeaders})
}

// execute runs the command to its end. Signals reach it as they reach us: it is of our
// process group.
func (r *HeldRun) execute(argv []string) error {
	fmt.Fprintf(r.Options.Env.ErrOut, "running %s\n", command.Safe(strings.Join(argv, " ")))
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // It is what the user asked for.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Options.Env.In, r.Options.Env.Out, r.Options.Env.ErrOut
	return cmd.Run()
}

// PrintRestored inspects the recovered apps, and prints their health.
func (r *HeldRun) PrintRestored(ctx context.Context) error {
	if r.Freed == nil {
		return nil
	}
	report, err := r.Inspect(ctx)
	r.Freed.Restored, err = r.Options.printRestored(ctx, report, regulator.RestoredApps(r.Freed.Outcome), err)
	return err
}

// end says how it ended: failed is how the command did.
func (r *HeldRun) end(ctx context.Context, argv []string, failed error) error {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](failed); ok {
		code = exit.ExitCode()
	} else if failed != nil {
		code = command.ExitError
	}
	if r.Freed != nil && r.Freed.Outcome != nil {
		if err := r.printDone(r.Freed); err != nil {
			return err
		}
	}
	if err := r.PrintRestored(ctx); err != nil {
		return err
	}
	if !r.Options.ForPeople() {
		if err := r.Options.Write(r.answer(argv, code)); err != nil {
			return err
		}
	}
	r.Options.Say(summary.Left(r.HeldRun)...)
	switch {
	case failed != nil:
		return &command.ProcessError{Err: fmt.Errorf("%s: %w", argv[0], failed), Code: code}
	case r.Left != "":
		return command.ErrNotFine
	}
	if err := r.Unrecovered(); err != nil {
		return err
	}
	if r.Freed != nil && r.Freed.Restored != nil && !r.Freed.Restored.Healthy {
		return command.ErrNotFine
	}
	return nil
}

// answer is the whole run, for machines.
func (r *HeldRun) answer(argv []string, code int) view.Output {
	run := regulation.Run{App: r.App, Command: argv, ExitCode: code, Left: r.Left, Held: r.Held.Outcome}
	if r.Freed != nil {
		run.Freed, run.Restored = r.Freed.Outcome, r.Freed.Restored
	}
	return regulation.Ran(run, regulationOptions(r.Session))
}
