package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

type adoptOptions struct {
	keepingOptions
	file string
}

func newSystemAdopt(env Env) *cobra.Command {
	o := &adoptOptions{keepingOptions: keepingOptions{common: newCommon(env, "table", "json", "yaml", "name")}}
	cmd := &cobra.Command{
		Use:   "adopt -f FILE",
		Short: "Adopt a System in the cluster, so that system/NAME is a root",
		Long: `Make the System of a manifest known in the cluster. Nothing of its applications changes
but a label: the roots that the manifest names become the members of an ApplySet (label
applyset.kubernetes.io/part-of), as kubectl apply --prune --applyset uses it, and the
ConfigMap sysop-NAME in the System's namespace becomes its parent, which stores the
manifest. From then on system/NAME is a ROOT for every command.

The changes are shown first, and have to be confirmed. Every root must exist, and be in
no other ApplySet; all permissions are checked before the first write. Run it again,
with the same manifest or with another, to update the set: objects that the manifest no
longer names lose the label. If it was interrupted, run it again.

kubectl sysop system release NAME undoes all of it.`,
		Example: `  # what would change?
  kubectl sysop system adopt -f shop.yaml --dry-run=client

  # have the API server try it
  kubectl sysop system adopt -f shop.yaml --dry-run=server

  # do it, without being asked
  kubectl sysop system adopt -f shop.yaml --yes`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.flags(cmd)
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", `the manifest: FILE or "-"`)
	return cmd
}

func (o *adoptOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.file == "" {
		return hint.With(errors.New("name the manifest: -f FILE"), "kubectl sysop system init writes one")
	}
	change, err := systems.Adopt(ctx, &o.Input, systems.AdoptRequest{File: o.file, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	if change.Count() == 0 {
		if err := o.show(change, "adopt"); err != nil {
			return err
		}
		fmt.Fprintf(o.env.ErrOut, "%s is up to date: nothing to do\n", safe(change.Set.Name))
		return nil
	}
	return o.apply(ctx, change, "adopt", "is adopted: system/"+change.Set.Name+" is a root")
}
