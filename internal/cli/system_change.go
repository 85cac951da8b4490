package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// keepingOptions are the options of system adopt and system release.
type keepingOptions struct {
	*common
	yes    bool
	dryRun string
}

func (o *keepingOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.dryRun, "dry-run", "none", "none, client (show what would change) or server (dry run on the API server; nothing is stored)")
	offer(cmd, "dry-run", dryRuns...)
}

func (o *keepingOptions) check() error {
	if o.AllNamespaces {
		return errors.New("-A: a System is in one namespace")
	}
	var err error
	if o.dryRun, err = oneOf("--dry-run", o.dryRun, dryRuns); err != nil {
		return err
	}
	if !o.yes && o.dryRun == "none" && o.From == "" {
		return o.env.mayAsk("labels and a ConfigMap would be written")
	}
	return nil
}

// show prints what would change.
func (o *keepingOptions) show(c *systems.Change, action string) error {
	shown := view.SystemChange{System: c.Set.Name, Namespace: c.Set.Namespace, Action: action, Set: c.Set.ID(), DryRun: o.dryRun}
	for _, s := range c.Steps {
		shown.Steps = append(shown.Steps, view.SystemStep{Object: s.Object.Ref, Change: string(s.Change), Why: s.Why})
	}
	return o.write(view.SystemChanges(shown))
}

// apply shows a change, asks, applies it, and prints the outcome.
func (o *keepingOptions) apply(ctx context.Context, c *systems.Change, action, done string) error {
	if err := o.show(c, action); err != nil || o.dryRun == "client" {
		return err
	}
	if !o.yes && o.dryRun != "server" {
		agreed, err := o.env.confirm(ctx, fmt.Sprintf("%s of namespace %s: %s of the cluster would change. Do it?", c.Set.Name, c.Set.Namespace, object.Count(c.Count(), "object")))
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
	fmt.Fprintf(o.env.ErrOut, "%s %s\n", safe(c.Set.Name), safe(done))
	return nil
}
