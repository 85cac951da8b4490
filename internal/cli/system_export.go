package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func newSystemExport(env Env) *cobra.Command {
	o := &initOptions{common: newCommon(env)}
	cmd := o.command("export [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.export)
	o.reading(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	o.selecting(cmd, &o.selector, ofType)
	f.StringVar(&o.name, "name", "", "the name of the System (default: the namespace)")
	f.StringVarP(&o.file, "write", "O", "", "write it to this FILE, which must not exist")
	f.BoolVar(&o.force, "force", false, "with --write, replace the file")
	return cmd
}

// export writes the System of the stacks.
func (o *initOptions) export(ctx context.Context, args []string) error {
	o.args = args
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
	return o.print(done, fmt.Sprintf("%s of the System %s, %s", object.Count(done.Apps, "app"), safe(done.Name), object.Count(done.Inputs, "input")))
}
