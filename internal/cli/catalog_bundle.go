package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	helmchart "helm.sh/helm/v4/pkg/chart/common"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// bundleOptions are the options of catalog bundle.
type bundleOptions struct {
	*installOptions
	out        string
	kubernetes string
	replace    bool
}

func newCatalogBundle(env Env) *cobra.Command {
	o := &bundleOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.command("bundle OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.completeInstallable(o.common), o.run)
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
	if o.kubernetes != "" {
		if _, err := helmchart.ParseKubeVersion(o.kubernetes); err != nil {
			return hint.With(fmt.Errorf("--kubernetes %q is not a version", o.kubernetes), "--kubernetes 1.33.2")
		}
		if v, err := semver.NewVersion(o.kubernetes); err == nil {
			o.kubernetes = v.String()
		}
	}
	if len(o.args) == 0 && o.file == "" {
		return installer.ErrNoTarget
	}
	req, cats, err := o.wanted(ctx)
	if err != nil {
		return err
	}
	contents, notes, err := installer.Bundle(ctx, req, cats, o.kubernetes)
	if err != nil {
		return err
	}
	files, err := bundle.Files(*contents)
	if err != nil {
		return err
	}
	packed, err := bundle.Write(files)
	if err != nil {
		return err
	}
	if _, err := bundle.Open(packed, fetch.Limits{}); err != nil {
		return hint.With(fmt.Errorf("the bundle cannot be read back: %w", err), "bundle fewer operators at a time")
	}
	o.notes(append(notes, cats.Notes...))
	if req.Values != nil {
		o.Note("the values of the command line are not in the bundle: give them to install as well")
	}
	if err := app.WriteNew("bundle", o.out, packed, o.replace); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Out, "%s  %s\n", fetch.Digest(packed), safe(filepath.Clean(o.out)))
	fmt.Fprintf(o.env.ErrOut, "%s and %s: images are not in the bundle, move them separately\n", object.Count(len(contents.Packages), "operator"), object.Count(lines(files[bundle.Images]), "image"))
	return err
}

func lines(text []byte) int {
	n := 0
	for _, c := range text {
		if c == '\n' {
			n++
		}
	}
	return n
}
