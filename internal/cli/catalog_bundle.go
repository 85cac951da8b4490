package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"

	helmchart "helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
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
	cmd := &cobra.Command{
		Use:   "bundle OPERATOR[@VERSION]... | -f SYSTEM",
		Short: "Write everything that installs a System to one file",
		Long: `Write a bundle: one tar with the catalog entries of all operators that are required,
their charts and manifests, the System itself, the list of images (images.txt), a bill
of materials (CycloneDX) and checksums. Operators are chosen as install chooses them on
an empty cluster. Neither read nor write requests go to a cluster.

Images are not included: docs/sharing.md describes how to move them. The same input
gives the same bytes.`,
		Example: `  # a system, for Kubernetes 1.33
  kubectl sysop catalog bundle -f shop.yaml --kubernetes 1.33 -o shop.tar

  # where there is no network
  kubectl sysop install --offline --bundle shop.tar --image-registry registry.local:5000`,
		ValidArgsFunction: o.completeInstallable(o.common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.catalogueFlags(cmd)
	o.valueFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `the manifest of a System: FILE, "-" or "demo"`)
	f.StringVarP(&o.out, "output", "o", "", "the FILE to write; it must not exist")
	f.BoolVar(&o.replace, "force", false, "replace the file")
	f.StringVar(&o.kubernetes, "kubernetes", "", "the Kubernetes version of the target cluster (without it, version ranges of Kubernetes are not checked)")
	return cmd
}

func (o *bundleOptions) run(ctx context.Context) error {
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
	p := &installPlan{o: o.installOptions}
	contents, err := o.contents(ctx, p)
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
	for _, n := range p.made.notes {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(n))
	}
	p.cats.tell(o.common)
	if p.values != nil {
		fmt.Fprintln(o.env.ErrOut, "note: the values of the command line are not in the bundle: give them to install as well")
	}
	if err := writeNew("bundle", o.out, packed, o.replace); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Out, "%s  %s\n", fetch.Digest(packed), safe(filepath.Clean(o.out)))
	fmt.Fprintf(o.env.ErrOut, "%s and %s: images are not in the bundle, move them separately\n", plural(len(contents.Packages), "operator"), plural(lines(files[bundle.Images]), "image"))
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

// contents chooses the packages for an empty cluster, and fetches what they are made of.
func (o *bundleOptions) contents(ctx context.Context, p *installPlan) (*bundle.Contents, error) {
	if err := o.asked(ctx, p); err != nil {
		return nil, err
	}
	kinds := source.BuiltInKinds()
	q := solve.Question{Available: p.cats.Packages(), Kubernetes: o.kubernetes}
	q.Wants = append(wantsOf(p.targets, p.sys), appWants(p.sys, kinds, func(kind string) bool {
		return len(p.cats.Providers(solve.API{Kind: kind})) > 0
	})...)
	var err error
	if p.chosen, err = solve.Solve(ctx, q); err != nil {
		return nil, unsolved(err)
	}
	artifacts := map[string][]fetch.Artifact{}
	p.made = &chartLoader{
		o: o.installOptions, cats: p.cats, kinds: kinds, sys: p.sys, targets: p.targets, kubernetes: o.kubernetes,
		apis: slices.Clone(helmchart.DefaultCapabilities.APIVersions), there: map[string]installedPackage{},
		fetched: map[string]string{}, custom: map[schema.GroupKind]bool{},
		took: func(name string, got []fetch.Artifact) { artifacts[name] = got },
	}
	if p.sys == nil {
		p.made.values = p.values
	}
	if err := p.made.packages(ctx, p.chosen); err != nil {
		return nil, err
	}
	if err := p.made.apps(ctx); err != nil {
		return nil, err
	}
	return o.collect(p, artifacts)
}

// asked reads what is to be bundled.
func (o *bundleOptions) asked(ctx context.Context, p *installPlan) error {
	if len(o.args) == 0 && o.file == "" {
		return errNoTarget
	}
	var err error
	if p.targets, err = o.checkTargets(); err != nil {
		return err
	}
	if p.values, err = o.readValues(ctx); err != nil {
		return err
	}
	if p.cats, err = o.load(ctx, o.common); err != nil {
		return err
	}
	for _, t := range p.targets {
		if _, err := p.cats.entry(t.name); err != nil {
			return err
		}
	}
	if o.file == "" {
		return nil
	}
	if err := p.readSystem(ctx); err != nil {
		return err
	}
	// What has no namespace is installed in that of who installs it: the images are the same.
	return systems.Place(p.sys, "default", false)
}

// collect puts together what the bundle is made of.
func (o *bundleOptions) collect(p *installPlan, artifacts map[string][]fetch.Artifact) (*bundle.Contents, error) {
	out := &bundle.Contents{System: []byte(p.text)}
	if p.sys != nil {
		out.Name = p.sys.Name
	} else {
		out.Name = p.targets[0].name
	}
	for _, part := range p.made.parts {
		if part.App {
			out.Images = append(out.Images, part.Rendered.Images...)
			continue
		}
		e, err := p.cats.entry(part.Name)
		if err != nil {
			return nil, err
		}
		v, ok := e.Version(part.Version)
		if !ok {
			return nil, fmt.Errorf("the catalog has no version %s of %s", part.Version, part.Name)
		}
		out.Packages = append(out.Packages, bundle.Package{Entry: e, Version: v, Artifacts: artifacts[part.Name], Images: part.Rendered.Images})
	}
	return out, nil
}
