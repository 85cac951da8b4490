package regulatecmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type regulateRunOptions struct {
	*applyOptions
	signal     string
	timeout    time.Duration
	refusedToo bool
	// dash is how many arguments are before --; negative without it.
	dash func() int
}

func newRegulateRun(env command.Env) *cobra.Command {
	o := &regulateRunOptions{applyOptions: NewActing(env, "table", "json", "yaml")}
	cmd := o.NewCommand("run [SYSTEM] APP -- COMMAND [ARG...]", cobra.ArbitraryArgs, o.completeBeforeDash, o.run)
	o.dash = cmd.ArgsLenAtDash
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	o.doing(cmd)
	f := cmd.Flags()
	o.appFlag(cmd, "the app that the command is about")
	f.StringVar(&o.signal, "signal", system.Stop, "the signal to send: Stop, or one of the System's own")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait until the app is Healthy after the command")
	f.BoolVar(&o.refusedToo, "ignore-refused", false, "run the command even if a neighbour cannot be held")
	command.Complete(cmd, "signal", o.completeSignals)
	return cmd
}

// completeBeforeDash completes a System and an app; what is behind -- is another command, which the
// shell completes itself.
func (o *regulateRunOptions) completeBeforeDash(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if cmd.ArgsLenAtDash() >= 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return o.completeAppArgs(1)(cmd, args, typed)
}

// splitAtDash reads the System and the app before --, and the command behind it.
func (o *regulateRunOptions) splitAtDash(args []string) (system string, command []string, err error) {
	dash := o.dash()
	if dash < 0 || dash == len(args) {
		return "", nil, hint.With(errors.New("no command to run"), "write it behind --: kubectl sysop regulate run shop db -- helm upgrade db ./db")
	}
	system, o.app, err = o.splitOne(args[:dash])
	return system, args[dash:], err
}

func (o *regulateRunOptions) run(ctx context.Context, args []string) error {
	name, command, err := o.splitAtDash(args)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	}
	if _, err := exec.LookPath(command[0]); err != nil && o.DryRun == "none" {
		return fmt.Errorf("run %s: %w", command[0], err) // Before anything is held.
	}
	b, err := regulator.OpenApp(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	id := strconv.FormatInt(o.Env.Now().UnixMilli(), 36)
	r := &HeldRun{Options: o.applyOptions, HeldRun: &regulator.HeldRun{
		Session: b, App: o.app, Signal: o.signal, ID: id, What: command[0], Timeout: o.timeout, IgnoreRefused: o.refusedToo, Apply: o.applying(b),
	}}
	switch err := r.Hold(ctx); {
	case err != nil:
		return err
	case o.DryRun != "none":
		return o.printResult(ctx, b, r.Held, noLook)
	case r.Held.Declined:
		return nil
	}
	if err := r.PrintHeld(ctx); err != nil {
		return err
	}
	failed := r.execute(command)
	// An interrupt is for the command: the held apps are recovered all the same.
	if err := r.Free(context.WithoutCancel(ctx), ctx); err != nil {
		return err
	}
	return r.end(ctx, command, failed)
}
