package regulatecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// applyOptions is what every command takes that writes to the apps of a System.
type applyOptions struct {
	*regulateOptions
	yes       bool
	DryRun    string
	allowExec bool
	force     bool
	// acceptUnsigned acts by a journal that is not signed.
	acceptUnsigned bool
}

func NewActing(env command.Env, formats ...string) *applyOptions {
	return &applyOptions{regulateOptions: newRegulating(env, formats...)}
}

// doing adds the flags of what is written.
func (o *applyOptions) doing(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.DryRun, "dry-run", "none", "none, client (show what would be done) or server (dry run on the API server; nothing is stored)")
	f.Lookup("dry-run").NoOptDefVal = "client"
	f.BoolVar(&o.allowExec, "allow-exec", false, "run the commands under exec of the manifest, on this machine")
	o.trusting(cmd)
	o.locking(cmd)
	o.progress.AddFlag(cmd)
	command.Offer(cmd, "dry-run", command.DryRuns...)
}

// trusting adds the flag of what is done by a journal that is not signed.
func (o *applyOptions) trusting(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.acceptUnsigned, "accept-unsigned", false, "with --yes: accept an unsigned journal (of an older version, or of a user who may not write Secrets)")
}

// check validates the flags before anything is read.
func (o *applyOptions) check() error {
	if err := o.progress.Validate(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(command.DryRuns, o.DryRun):
		return hint.With(fmt.Errorf("unknown value %q of --dry-run", o.DryRun), "write none, client or server")
	case o.From != "" && o.DryRun != "client":
		return hint.With(errors.New("--from: a snapshot cannot be regulated"), "--dry-run=client shows what would be done")
	}
	return o.checkLease()
}

// applying is how a plan of a session is applied.
func (o *applyOptions) applying(b *regulator.Session) regulator.ApplyRequest {
	r := regulator.ApplyRequest{DryRun: o.DryRun, AllowExec: o.allowExec, Force: o.force, AcceptUnsigned: o.acceptUnsigned, Output: o.PrintOutput}
	if !o.yes || o.DryRun == "client" {
		r.Confirm = func(ctx context.Context, p *regulate.Plan) (bool, error) { return o.confirm(ctx, p, b) }
	}
	return r
}

// confirm shows a plan and asks. It is false where nothing is to be done.
func (o *applyOptions) confirm(ctx context.Context, p *regulate.Plan, b *regulator.Session) (bool, error) {
	if o.DryRun == "client" || len(p.Steps) == 0 {
		return false, o.showPlan(p, b)
	}
	if o.DryRun == "server" {
		return true, nil // What is shown is what the API server says.
	}
	if err := o.Env.MayAsk(writtenTo(p) + " would be changed"); err != nil {
		return false, err
	}
	if err := o.showPlan(p, b); err != nil {
		return false, err
	}
	sure, err := o.Env.Confirm(ctx, "Do it?")
	if err == nil && sure {
		b.Accept()
	}
	return sure, err
}

// showPlan writes a plan where there are no done things to show instead.
func (o *applyOptions) showPlan(p *regulate.Plan, b *regulator.Session) error {
	shown := *o.Common
	if shown.Output == "table" {
		shown.Output = "tree"
	}
	return shown.Write(regulation.Plan(p, b.State, regulationOptions(b)))
}

func writtenTo(p *regulate.Plan) string {
	var apps []string
	for i := range p.Steps {
		if !slices.Contains(apps, p.Steps[i].App) {
			apps = append(apps, p.Steps[i].App)
		}
	}
	slices.Sort(apps)
	return strings.Join(apps, ", ")
}
