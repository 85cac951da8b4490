package installer

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/common"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Bundle is the file of a bundle, with what is in it.
type Bundle struct {
	Data             []byte
	Packages, Images int
	Notes            []string
}

// KubernetesVersion checks a version of Kubernetes; none stays none.
func KubernetesVersion(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if _, err := helmchart.ParseKubeVersion(text); err != nil {
		return "", hint.With(fmt.Errorf("--kubernetes %q is not a version", text), "--kubernetes 1.33.2")
	}
	if v, err := semver.NewVersion(text); err == nil {
		return v.String(), nil
	}
	return text, nil
}

// NewBundle packs what a request needs on an empty cluster of a Kubernetes version, which may be
// empty. It sends no request to a cluster.
func NewBundle(ctx context.Context, req Request, cats *catalogs.Catalogs, kubernetes string) (*Bundle, error) {
	contents, notes, err := choose(ctx, req, cats, kubernetes)
	if err != nil {
		return nil, err
	}
	files, err := bundle.Files(*contents)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Packages: len(contents.Packages), Images: bytes.Count(files[bundle.Images], []byte{'\n'}), Notes: append(notes, cats.Notes...)}
	if b.Data, err = bundle.Write(files); err != nil {
		return nil, err
	}
	if _, err := bundle.Open(b.Data, fetch.Limits{}); err != nil {
		return nil, hint.With(fmt.Errorf("the bundle cannot be read back: %w", err), "bundle fewer operators at a time")
	}
	if req.Values != nil {
		b.Notes = append(b.Notes, "the values of the command line are not in the bundle: give them to install as well")
	}
	return b, nil
}

// choose chooses the packages, and fetches their artifacts.
func choose(ctx context.Context, req Request, cats *catalogs.Catalogs, kubernetes string) (contents *bundle.Contents, notes []string, err error) {
	for _, t := range req.Targets {
		if _, err := cats.Installable(t.Name); err != nil {
			return nil, nil, err
		}
	}
	if req.System != nil && req.System.Namespace == "" {
		req.System.Namespace = "default" // The images do not depend on it.
	}
	kinds := source.BuiltInKinds()
	chosen, err := solve.Solve(ctx, solve.Question{Available: cats.Packages(), Kubernetes: kubernetes, Wants: wants(&req, cats, kinds)})
	if err != nil {
		return nil, nil, unsolved(err)
	}
	loader := newPartLoader(&req, cats, kinds, kubernetes, slices.Clone(helmchart.DefaultCapabilities.APIVersions))
	if err := loader.packages(ctx, chosen); err != nil {
		return nil, nil, err
	}
	if err := loader.apps(ctx); err != nil {
		return nil, nil, err
	}
	contents, err = loader.contents()
	return contents, loader.notes, err
}

// contents returns the contents of a bundle with the loaded parts.
func (c *partLoader) contents() (*bundle.Contents, error) {
	out := &bundle.Contents{System: []byte(c.req.Manifest)}
	if c.req.System != nil {
		out.Name = c.req.System.Name
	} else {
		out.Name = c.req.Targets[0].Name
	}
	for _, part := range c.parts {
		if part.App {
			out.Images = append(out.Images, part.Rendered.Images...)
			continue
		}
		e, err := c.cats.Installable(part.Name)
		if err != nil {
			return nil, err
		}
		v, ok := e.Version(part.Version)
		if !ok {
			return nil, fmt.Errorf("the catalog has no version %s of %s", part.Version, part.Name)
		}
		out.Packages = append(out.Packages, bundle.Package{Entry: e, Version: v, Artifacts: c.artifacts[part.Name], Images: part.Rendered.Images})
	}
	return out, nil
}
