package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type regulateRunOptions struct {
	*applyOptions
	signal     string
	timeout    time.Duration
	refusedToo bool
}

func newRegulateRun(env Env) *cobra.Command {
	o := &regulateRunOptions{applyOptions: newActing(env, "table", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "run [SYSTEM] APP -- COMMAND [ARG...]",
		Short: "Hold the neighbours of an app, run a command such as an upgrade, and recover them",
		Long: `Hold the neighbours of an app, run a command such as its upgrade, wait until the app
is Healthy, and recover the neighbours.

If the app is not Healthy in time, they stay held, and that is reported: regulate recover
recovers them. Recovered neighbours are checked too; those that are not Healthy are
listed with the command that helps. The exit code is that of the command; if that is 0
and neighbours stay held or are not Healthy, it is 2. Standard output is the command's;
reports go to standard error, and with -o json to the end of standard output.`,
		Example: `  # hold the apps that need the database while it is upgraded
  kubectl sysop regulate run shop db -- helm upgrade db ./db --wait

  # which apps would that be?
  kubectl sysop regulate run --app db -f demo --from demo --dry-run=client -- helm upgrade db`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if cmd.ArgsLenAtDash() >= 0 { // Behind it is another command, which the shell completes itself.
				return nil, cobra.ShellCompDirectiveDefault
			}
			return o.completeAppArgs(1)(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 || dash == len(args) {
				return hint.With(errors.New("no command to run"), "write it behind --: kubectl sysop regulate run shop db -- helm upgrade db ./db")
			}
			name, app, err := o.splitOne(args[:dash])
			if err != nil {
				return err
			}
			o.app = app
			return o.run(cmd.Context(), name, args[dash:])
		},
	}
	o.naming(cmd)
	o.writing(cmd)
	o.doing(cmd)
	f := cmd.Flags()
	o.appFlag(cmd, "the app that the command is about")
	f.StringVar(&o.signal, "signal", system.Stop, "the signal to send: Stop, or one of the System's own")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait until the app is Healthy after the command")
	f.BoolVar(&o.refusedToo, "ignore-refused", false, "run the command even if a neighbour cannot be held")
	must(cmd.RegisterFlagCompletionFunc("signal", o.completeSignals))
	return cmd
}

// regulateRun is a run while the neighbours are held.
type regulateRun struct {
	o       *regulateRunOptions
	b       *systemSession
	id      string
	command []string
	// what is what the journal says of the command: the program alone, since its arguments may
	// be secrets.
	what string
	held *applyResult
	// failed is how the command ended; nil for well.
	failed error
	// freed is what was done at the end; nil where the neighbours are left held, because of
	// left.
	freed *applyResult
	left  string
	// help are commands that help the app, where it is known what it waits for.
	help []string
}

func (o *regulateRunOptions) run(ctx context.Context, name string, command []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	}
	if _, err := exec.LookPath(command[0]); err != nil && o.dryRun == "none" {
		return fmt.Errorf("run %s: %w", command[0], err) // Before anything is held.
	}
	b, err := o.beginApp(ctx, name)
	if err != nil {
		return err
	}
	r := &regulateRun{o: o, b: b, command: command, what: command[0], id: strconv.FormatInt(o.env.Now().UnixMilli(), 36)}
	r.held, err = o.confirmAndApply(ctx, b, r.hold)
	switch {
	case err != nil:
		return err
	case o.dryRun != "none":
		return o.tellDone(ctx, b, r.held, noLook)
	case r.held.declined:
		return nil
	}
	if err := r.tellHeld(ctx); err != nil {
		return err
	}
	r.failed = r.execute()
	// An interrupt is for the command: the held apps are recovered all the same.
	if err := r.free(context.WithoutCancel(ctx), ctx); err != nil {
		return err
	}
	return r.end(ctx)
}

// hold plans to hold the neighbours. The command does not run if one cannot be held, unless a flag
// allows it.
func (r *regulateRun) hold(b *systemSession, now time.Time) (*regulate.Plan, error) {
	p, err := regulate.HoldForRun(b.State, b.System, b.journal, r.o.app, r.o.signal, r.id, r.what, r.o.requester(), now)
	if err != nil {
		return nil, err
	}
	if len(p.Refused) > 0 && !r.o.refusedToo && r.o.dryRun != "client" {
		f := p.Refused[0]
		return nil, hint.With(fmt.Errorf("%s cannot be held, so the command is not run: %s", f.App, f.Message), "--ignore-refused runs it anyway")
	}
	return p, nil
}

// tellHeld says on standard error who is held.
func (r *regulateRun) tellHeld(ctx context.Context) error {
	if r.held.out == nil || len(r.held.planned.Steps) == 0 {
		fmt.Fprintf(r.o.env.ErrOut, "no app is held: none needs %s\n", r.o.app)
		return nil
	}
	if err := r.o.writeTo(r.o.env.ErrOut, view.RegulationDone(r.held.out, r.held.planned, nil, r.b.options())); err != nil {
		return err
	}
	if n := len(r.held.out.Failed); n > 0 {
		if _, err := r.o.lookAtRestored(ctx, r.b, r.held.out, glance); err != nil {
			return err
		}
		return hint.With(fmt.Errorf("%d of the neighbours could not be held, so the command was not run: %s", n, r.held.out.Failed[0].Result), "kubectl sysop regulate recover recovers the others")
	}
	return nil
}

// execute runs the command to its end. Signals reach it as they reach us: it is of our
// process group.
func (r *regulateRun) execute() error {
	fmt.Fprintf(r.o.env.ErrOut, "running %s\n", safe(strings.Join(r.command, " ")))
	cmd := exec.Command(r.command[0], r.command[1:]...) //nolint:gosec // It is what the user asked for.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.o.env.In, r.o.env.Out, r.o.env.ErrOut
	return cmd.Run()
}

// free waits until the app is Healthy, and lets the neighbours go. asked ends with an
// interrupt, which ends the waiting.
func (r *regulateRun) free(ctx, asked context.Context) error {
	if len(r.held.planned.Steps) == 0 {
		return nil
	}
	patience, stop := context.WithTimeoutCause(asked, r.o.timeout, errTooLong)
	defer stop()
	w := newRegulateWatcher(r.o.applyOptions, r.b)
	w.idle = true
	err := w.run(patience, func(*regulate.Plan) bool { return r.well() })
	switch {
	case err != nil && asked.Err() != nil && !r.well():
		r.left = "interrupted before " + r.o.app + " was Healthy"
		return nil
	case errors.Is(context.Cause(patience), errTooLong):
		state, _ := r.b.State.App(r.o.app)
		r.left = fmt.Sprintf("%s is %s after %s: %s", r.o.app, state.Health, r.o.timeout, state.Message)
		r.help = r.o.stuckPods(ctx, r.b, r.o.app)
		return nil
	case err != nil && asked.Err() == nil:
		return err
	}
	o := *r.o.applyOptions
	o.yes = true
	r.freed, err = o.confirmAndApply(ctx, r.b, func(b *systemSession, now time.Time) (*regulate.Plan, error) {
		return regulate.EndRun(b.State, b.System, b.journal, r.id, now), nil
	})
	if err != nil || r.allFree() {
		return err
	}
	return r.freeRest(asked)
}

// look checks the recovered apps.
func (r *regulateRun) look(ctx context.Context) (err error) {
	if r.freed != nil {
		r.freed.restored, err = r.o.lookAtRestored(ctx, r.b, r.freed.out, r.o.timeout)
	}
	return err
}

// tellLeft says why the neighbours are left held, and what helps.
func (r *regulateRun) tellLeft() {
	if r.left == "" {
		return
	}
	fmt.Fprintf(r.o.env.ErrOut, "STILL HELD: %s\n", safe(r.left))
	for _, command := range r.help {
		fmt.Fprintf(r.o.env.ErrOut, "hint: a StatefulSet waits for a pod of another revision (OrderedReady): %s\n", safe(command))
	}
	fmt.Fprintln(r.o.env.ErrOut, "hint: kubectl sysop regulate status shows them; kubectl sysop regulate recover APP recovers one")
}

// allFree says whether every app without another cause is recovered.
func (r *regulateRun) allFree() bool {
	return !slices.ContainsFunc(r.b.journal.Holds, func(h *regulate.Hold) bool { return len(h.Causes) == 0 })
}

// freeRest recovers, one after the other, the apps that waited for their dependencies.
func (r *regulateRun) freeRest(ctx context.Context) error {
	patience, stop := context.WithTimeoutCause(ctx, r.o.timeout, errTooLong)
	defer stop()
	o := *r.o.applyOptions
	o.yes = true
	w := newRegulateWatcher(&o, r.b)
	w.freeing = true
	w.did = func(d *applyResult) {
		r.freed.out.Done = append(r.freed.out.Done, d.out.Done...)
		r.freed.out.Failed = append(r.freed.out.Failed, d.out.Failed...)
		r.freed.out.Restored = append(r.freed.out.Restored, d.out.Restored...)
	}
	err := w.run(patience, func(*regulate.Plan) bool { return r.allFree() })
	if err != nil && (ctx.Err() != nil || errors.Is(context.Cause(patience), errTooLong)) {
		var held []string
		for _, h := range r.b.journal.Holds {
			if len(h.Causes) == 0 {
				held = append(held, h.App)
			}
		}
		r.left = strings.Join(held, ", ") + " waited for what it needs; regulate apply recovers it when that is Healthy"
		return nil
	}
	return err
}

// well says whether the app is Healthy, with nothing being rolled out.
func (r *regulateRun) well() bool {
	state, ok := r.b.State.App(r.o.app)
	return ok && isWell(state)
}

// end says how it ended.
func (r *regulateRun) end(ctx context.Context) error {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](r.failed); ok {
		code = exit.ExitCode()
	} else if r.failed != nil {
		code = ExitError
	}
	if r.freed != nil && r.freed.out != nil {
		if err := r.o.writeTo(r.o.env.ErrOut, view.RegulationDone(r.freed.out, r.freed.planned, r.freed.restored, r.b.options())); err != nil {
			return err
		}
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	if !r.o.human() {
		if err := r.o.write(r.answer(code)); err != nil {
			return err
		}
	}
	r.tellLeft()
	switch {
	case r.failed != nil:
		return &exitError{fmt.Errorf("%s: %w", r.command[0], r.failed), code}
	case r.left != "":
		return errNotFine
	case r.freed != nil && r.freed.out != nil && len(r.freed.out.Failed) > 0:
		return fmt.Errorf("not all apps recovered: %s", r.freed.out.Failed[0].Result)
	case r.freed != nil && r.freed.restored != nil && !r.freed.restored.Healthy:
		return errNotFine
	}
	return nil
}

// answer is the whole run, for machines.
func (r *regulateRun) answer(code int) view.Output {
	run := view.RegulationRun{App: r.o.app, Command: r.command, ExitCode: code, Left: r.left, Held: r.held.out}
	if r.freed != nil {
		run.Freed, run.Restored = r.freed.out, r.freed.restored
	}
	return view.RegulationRan(run, r.b.options())
}

// writeTo writes a table somewhere else than on standard output.
func (c *common) writeTo(w interface{ Write([]byte) (int, error) }, a view.Output) error {
	return render.Write(w, "table", a, render.Options{Width: c.env.Width, NoHeaders: c.noHeaders})
}
