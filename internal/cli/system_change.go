package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// keepingOptions are the options of system adopt and system release.
type keepingOptions struct {
	*command.Common
	yes    bool
	dryRun string
}

func (o *keepingOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.dryRun, "dry-run", "none", "none, client (show what would change) or server (dry run on the API server; nothing is stored)")
	command.Offer(cmd, "dry-run", command.DryRuns...)
}

func (o *keepingOptions) check() error {
	if o.AllNamespaces {
		return errors.New("-A: a System is in one namespace")
	}
	var err error
	if o.dryRun, err = command.OneOf("--dry-run", o.dryRun, command.DryRuns); err != nil {
		return err
	}
	if !o.yes && o.dryRun == "none" && o.From == "" {
		return o.Env.MayAsk("labels and a ConfigMap would be written")
	}
	return nil
}

// show prints what would change.
func (o *keepingOptions) show(c *systems.Change, action string) error {
	shown := view.SystemChange{System: c.Set.Name, Namespace: c.Set.Namespace, Action: action, Set: c.Set.ID(), DryRun: o.dryRun}
	for _, s := range c.Steps {
		shown.Steps = append(shown.Steps, view.SystemStep{Object: s.Object.Ref, Change: string(s.Change), Why: s.Why})
	}
	return o.Write(view.SystemChanges(shown))
}

// apply shows a change, asks, applies it, and prints the outcome.
func (o *keepingOptions) apply(ctx context.Context, c *systems.Change, action, done string) error {
	if err := o.show(c, action); err != nil || o.dryRun == "client" {
		return err
	}
	if !o.yes && o.dryRun != "server" {
		agreed, err := o.Env.Confirm(ctx, fmt.Sprintf("%s of namespace %s: %s of the cluster would change. Do it?", c.Set.Name, c.Set.Namespace, object.Count(c.Count(), "object")))
		if err != nil || !agreed {
			return err
		}
	}
	if err := c.Apply(ctx); err != nil {
		return err
	}
	if o.dryRun == "server" {
		done = "passed the dry run of the API server: nothing was stored"
	}
	fmt.Fprintf(o.Env.ErrOut, "%s %s\n", command.Safe(c.Set.Name), command.Safe(done))
	return nil
}
