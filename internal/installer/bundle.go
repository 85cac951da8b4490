package installer

import (
	"context"
	"fmt"
	"slices"

	helmchart "helm.sh/helm/v4/pkg/chart/common"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Bundle chooses the packages of a request for an empty cluster of a Kubernetes version, which may
// be empty, and fetches their artifacts. It sends no request to a cluster.
func Bundle(ctx context.Context, req Request, cats *catalogs.Catalogs, kubernetes string) (contents *bundle.Contents, notes []string, err error) {
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
