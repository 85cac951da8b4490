package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installCluster is a cluster that something is installed on.
type installCluster struct {
	*systems.Cluster
	reader install.Reader
	engine *install.Helm
	// kubernetes is its version.
	kubernetes string
}

func (c *common) installCluster(ctx context.Context) (*installCluster, error) {
	s, err := systems.Connect(ctx, &c.Input)
	if err != nil {
		return nil, err
	}
	out := &installCluster{Cluster: s}
	if out.reader, err = install.NewReader(s.Config); err != nil {
		return nil, err
	}
	if out.kubernetes, err = out.reader.Version(ctx); err != nil {
		return nil, fmt.Errorf("read the version of the cluster: %w", err)
	}
	out.engine = install.NewHelm(s.Config, slog.DiscardHandler)
	return out, nil
}

// forgetKinds has the API server asked again which kinds it serves: this run may have
// changed that, and what was asked a moment ago passes for fresh.
func (c *common) forgetKinds() {
	if disco, err := c.Config.ToDiscoveryClient(); err == nil { // The next discovery reports the error.
		disco.Invalidate()
	}
}

// apis are the APIs that the cluster serves, as templates ask for them: v1, apps/v1,
// apps/v1/Deployment.
func (c *installCluster) apis() []string {
	seen := map[string]bool{}
	var out []string
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	for _, r := range c.Kinds.All() {
		versions, _ := c.Server.Serves(r)
		for _, v := range versions {
			gv := v
			if r.Group != "" {
				gv = r.Group + "/" + v
			}
			add(gv)
			add(gv + "/" + r.Kind)
		}
	}
	return out
}

// served are the custom kinds that it serves, for the solver.
func (c *installCluster) served() []solve.API {
	return servedAPIs(c.Kinds, func(r object.Resource) []string { versions, _ := c.Server.Serves(r); return versions })
}

// runner does what is planned.
func (c *installCluster) runner(installation install.Installation) (*install.Runner, error) {
	objects, err := install.NewObjects(c.Config)
	if err != nil {
		return nil, err
	}
	store, err := install.NewStore(c.Config, installation)
	if err != nil {
		return nil, err
	}
	return &install.Runner{Engine: c.engine, Objects: objects, Discovery: objects, Store: store, Lock: install.NewLock(c.Config, installation), Record: install.NewRecord(c.Config, installation), By: journal.Holder()}, nil
}
