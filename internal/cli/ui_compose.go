package cli

import (
	"context"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

// catalogue has the operators that the composer offers.
func (o *uiOptions) catalogue(ctx context.Context) (*catalog.Catalogue, error) {
	all, err := o.catalogues.catalogued(ctx, o.Common)
	if err != nil {
		return nil, err
	}
	return all.Catalogue, nil
}

// dryRun is install -f - --dry-run=server with the manifest of the page.
func (o *uiOptions) dryRun(ctx context.Context, manifest string) (*installer.Plan, *installer.Recovery, error) {
	env, namespace := o.Env, ""
	env.IOStreams = genericiooptions.IOStreams{In: strings.NewReader(manifest), Out: io.Discard, ErrOut: io.Discard}
	i := newInstallOptions(env, install.Install)
	i.ConnectAs(&o.Input)
	i.Config.Namespace = &namespace // the manifest says which
	i.catalogueOptions, i.file, i.dryRun = o.catalogues, "-", installer.DryRunServer
	i.timeout, i.noWait, i.wait = defaultTimeout, true, true
	req, cats, err := i.wanted(ctx)
	if err != nil {
		return nil, nil, err
	}
	plan, open, err := i.installer(cats).DryRun(ctx, req)
	if plan != nil && plan.Fetched() != nil {
		plan.Planned.Notes = append(plan.Planned.Notes, cats.Notes...)
	}
	return plan, open, err
}

// shellFlags are flags of the page's own command, quoted for a shell.
func shellFlags(typed map[string]string, names ...string) string {
	var out strings.Builder
	for _, name := range names {
		if value, ok := typed[name]; ok {
			for one := range strings.SplitSeq(value, "\n") {
				out.WriteString(catalogs.ShellFlag(name, one))
			}
		}
	}
	return out.String()
}
