package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// bundleOptions are the options of catalog bundle.
type bundleOptions struct {
	*installOptions
	out        string
	kubernetes string
	replace    bool
}

func newCatalogBundle(env command.Env) *cobra.Command {
	o := &bundleOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.NewCommand("bundle OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.completeInstallable(o.Common), o.run)
	o.catalogueFlags(cmd)
	o.valueFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `the manifest of a System: FILE, "-" or "demo"`)
	f.StringVarP(&o.out, "output", "o", "", "the FILE to write; it must not exist")
	f.BoolVar(&o.replace, "force", false, "replace the file")
	f.StringVar(&o.kubernetes, "kubernetes", "", "the Kubernetes version of the target cluster (without it, version ranges of Kubernetes are not checked)")
	return cmd
}

func (o *bundleOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if o.out == "" {
		return hint.With(errors.New("name the file of the bundle"), "-o FILE.tar")
	}
	kubernetes, err := installer.KubernetesVersion(o.kubernetes)
	if err != nil {
		return err
	}
	if len(o.args) == 0 && o.file == "" {
		return installer.ErrNoTarget
	}
	req, cats, err := o.wanted(ctx)
	if err != nil {
		return err
	}
	b, err := installer.NewBundle(ctx, req, cats, kubernetes)
	if err != nil {
		return err
	}
	o.Notes(b.Notes)
	if err := userfile.WriteNew("bundle", o.out, b.Data, o.replace); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Env.Out, "%s  %s\n", fetch.Digest(b.Data), command.Safe(filepath.Clean(o.out)))
	o.Say(fmt.Sprintf("%s and %s: images are not in the bundle, move them separately", object.Count(b.Packages, "operator"), object.Count(b.Images, "image")))
	return err
}
