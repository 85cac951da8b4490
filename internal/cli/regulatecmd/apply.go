package regulatecmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

type regulateApplyOptions struct {
	*applyOptions
	wait    bool
	timeout time.Duration
}

func newRegulateApply(env command.Env) *cobra.Command {
	o := &regulateApplyOptions{applyOptions: NewActing(env, "table", "json", "yaml")}
	cmd := o.ofSystem("apply [SYSTEM]", o.run)
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	o.doing(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.wait, "wait", false, "continue until nothing is left to do")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to --wait")
	return cmd
}

func (o *regulateApplyOptions) run(ctx context.Context, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	}
	b, err := regulator.Open(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	d, err := b.Apply(ctx, regulator.ByRules, o.applying(b))
	if err != nil {
		return err
	}
	timeout := glance
	if o.wait {
		timeout = noLook // the end of the run checks all apps
	}
	if err := o.printResult(ctx, b, d, timeout); err != nil || !o.wait || d.Declined || o.DryRun != "none" {
		return err
	}
	return o.waitForRest(ctx, b, d.Outcome)
}

// waitForRest continues until nothing is left to do, and checks all recovered apps, starting with
// those of out.
func (o *regulateApplyOptions) waitForRest(ctx context.Context, b *regulator.Session, out *regulate.Outcome) error {
	all, err := b.ApplyRest(ctx, o.applying(b), o.timeout)
	if err != nil {
		return err
	}
	if out != nil {
		all.Restored = slices.Concat(out.Restored, all.Restored)
	}
	report, err := o.inspect(ctx, b, all, o.timeout)
	if err == nil && report != nil && !report.Healthy {
		return command.ErrNotFine
	}
	return err
}
