package regulatecmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type regulateHandOptions struct {
	*applyOptions
	signal  string
	timeout time.Duration
}

func newRegulateStop(env command.Env) *cobra.Command {
	o := &regulateHandOptions{applyOptions: NewActing(env, "table", "json", "yaml")}
	cmd := o.byHand("stop [SYSTEM] APP", func(app string) regulator.Planner { return regulator.Stop(app, o.signal) })
	cmd.Flags().StringVar(&o.signal, "signal", system.Stop, "the signal to send: Stop, or one of the System's own")
	command.Complete(cmd, "signal", o.completeSignals)
	return cmd
}

func newRegulateRecover(env command.Env) *cobra.Command {
	o := &regulateHandOptions{applyOptions: NewActing(env, "table", "json", "yaml")}
	cmd := o.byHand("recover [SYSTEM] APP", func(app string) regulator.Planner { return regulator.Recover(app, o.force) })
	cmd.Flags().DurationVar(&o.timeout, "timeout", recoverTimeout, "how long to wait until the app is Healthy; 0 checks once, briefly")
	cmd.Flags().BoolVar(&o.force, "force", false, "recover although a rule holds it, and also restore fields that others changed")
	return cmd
}

// byHand is a command that sends one signal to one app.
func (o *regulateHandOptions) byHand(use string, plan func(app string) regulator.Planner) *cobra.Command {
	cmd := o.NewCommand(use, command.RangeArgs(0, 2, "a SYSTEM and an APP"), o.completeAppArgs(1), func(ctx context.Context, args []string) error { return o.run(ctx, args, plan) })
	o.naming(cmd)
	o.appFlag(cmd, "the app")
	o.AddOutputFlags(cmd)
	o.doing(cmd)
	return cmd
}

func (o *regulateHandOptions) run(ctx context.Context, args []string, plan func(app string) regulator.Planner) error {
	if err := o.check(); err != nil {
		return err
	}
	name, app, err := o.splitOne(args)
	if err != nil {
		return err
	}
	b, err := regulator.OpenApp(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	d, err := b.Apply(ctx, plan(app), o.applying(b))
	if err != nil {
		return err
	}
	if err := o.printResult(ctx, b, d, max(o.timeout, 0)); err != nil {
		return err
	}
	switch {
	case d.Restored != nil && !d.Restored.Healthy:
		return command.ErrNotFine
	case o.DryRun == "client":
		return nil
	}
	return d.Refusal()
}
