package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type autoscaleApplyOptions struct {
	*installOptions
	autoscaleOptions
	usageOptions
}

func newAutoscaleApply(env command.Env) *cobra.Command {
	o := &autoscaleApplyOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.NewCommand("apply [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.writingFlags(cmd)
	o.namingFlags(cmd)
	metricscmd.PricesFlag(cmd, &o.prices)
	o.usageFlags(cmd)
	cmd.Flags().BoolVar(&o.wait, "wait", true, "wait until the scalers are Healthy: they know the usage of their targets")
	return cmd
}

func (o *autoscaleApplyOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	ask, err := o.autoscaleOptions.request(ctx, o.Common, args)
	if err != nil {
		return err
	}
	if err := o.usage(ctx, o.Common, &ask); err != nil {
		return err
	}
	planned, err := autoscaler.Plan(ctx, &o.Input, ask)
	if err != nil {
		return err
	}
	if err := o.refusals(planned.Plan); err != nil {
		return err
	}
	req := o.installOptions.request()
	if req.System, req.Manifest, err = installer.Generated(planned.System, planned.Namespace, "the scalers of "+strings.TrimSuffix(planned.System, autoscale.Suffix), "scalers", planned.Objects()); err != nil {
		return err
	}
	return o.changeNamed(ctx, req)
}

// refusals prints why targets are not scaled, and refuses a plan without scalers, or one that would
// delete a scaler because it cannot be planned now.
func (o *autoscaleApplyOptions) refusals(p *autoscale.Plan) error {
	lines, hints := &hint.Lines{}, []string{}
	var deleted []string
	for i := range p.Refusals {
		r := &p.Refusals[i]
		lines.Lines = append(lines.Lines, r.Target.String()+": "+r.Message)
		hints = append(hints, r.Hint)
		if r.Exists != (object.Ref{}) {
			deleted = append(deleted, r.Exists.String())
		}
	}
	switch {
	case len(deleted) > 0:
		lines.Lines = append(lines.Lines, "nothing was written: that would delete "+strings.Join(deleted, ", "))
		return hint.With(lines, strings.Join(hints, "\n"))
	case len(p.Objects()) == 0 && len(lines.Lines) > 0:
		lines.Lines = append(lines.Lines, "nothing was written")
		return hint.With(lines, strings.Join(hints, "\n"))
	case len(p.Objects()) == 0:
		return hint.With(errors.New("there is nothing to scale"), "kubectl sysop autoscale plan shows why")
	}
	for i, line := range lines.Lines {
		o.Note(fmt.Sprintf("not scaled: %s (%s)", line, strings.ReplaceAll(hints[i], "\n", "; ")))
	}
	for _, f := range p.Whole.Findings {
		text := f.Message
		if f.Object != (object.Ref{}) {
			text = f.Object.String() + ": " + text
		}
		o.Note(text)
	}
	return nil
}
