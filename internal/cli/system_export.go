package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

func newSystemExport(env Env) *cobra.Command {
	o := &initOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "export [ROOT...]",
		Short: "Write a System that installs a running stack elsewhere",
		Long: `Write a System from a running stack, with the objects that a user or a tool applied:
each ROOT is an app, or without a ROOT each application stack of the namespace (as
kubectl sysop system init finds them). Objects that a controller creates are left out,
and so are all fields that a cluster sets: the status, addresses, the labels of Helm and
of GitOps tools.

No value of a Secret is ever written: each Secret that the stack needs becomes an input
(spec.inputs), which must exist before the System is installed. ConfigMaps are included;
from a snapshot, which has them without their data, they become inputs too. Operators of
custom resources are named, for install to take from the catalog.

Fields that look like credentials are reported: review them before you pass the file on.`,
		Example: `  # a stack, to standard output
  kubectl sysop system export deployment/wordpress -n shop

  # all stacks of a namespace, to a file
  kubectl sysop system export -n shop --name shop --write shop.yaml`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.export(cmd.Context())
		},
	}
	o.reading(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVarP(&o.file, "write", "O", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	return cmd
}

// export writes the System of the stacks.
func (o *initOptions) export(ctx context.Context) error {
	request, err := o.request()
	if err != nil {
		return err
	}
	cats, err := o.catalogued(ctx, o.common)
	if err != nil {
		return err
	}
	done, err := systems.Export(ctx, systems.ExportRequest{DraftRequest: request, Catalogue: cats.Catalogue, Versions: func(ctx context.Context) (map[string]string, error) {
		return o.installedVersions(ctx, cats)
	}})
	if err != nil {
		return err
	}
	return o.print(done, fmt.Sprintf("%s of the System %s, %s", plural(done.Apps, "app"), safe(done.Name), plural(done.Inputs, "input")))
}
