package installer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// cluster is the cluster of an installer.
type cluster struct {
	*Installer
	config  *rest.Config
	from    source.Source
	kinds   *object.Kinds
	reader  install.Reader
	engine  *helm.Client
	version string // of Kubernetes
	// namespace is the current one, and given that of -n; empty without it.
	namespace, given string
}

// connect connects, also to write.
func (i *Installer) connect(ctx context.Context) (*cluster, error) {
	c := &cluster{Installer: i}
	if app.Given(i.Input.Config.Namespace) {
		c.given = *i.Input.Config.Namespace
	}
	var err error
	if c.from, c.namespace, err = i.Input.Source(ctx); err != nil {
		return nil, err
	}
	if c.kinds, err = c.from.Kinds(ctx, &app.EarlyGaps{}); err != nil {
		return nil, err
	}
	if c.config, err = i.Input.Config.ToRESTConfig(); err != nil {
		return nil, err
	}
	c.config.QPS = -1 // the server says when it is too much
	if c.reader, err = install.NewReader(c.config); err != nil {
		return nil, err
	}
	if c.version, err = c.reader.Version(ctx); err != nil {
		return nil, fmt.Errorf("read the version of the cluster: %w", err)
	}
	c.engine = helm.New(c.config, slog.DiscardHandler)
	return c, nil
}

// session returns an input for a session of its own on the same cluster.
func (i *Installer) session() *app.Input {
	in := i.Input
	return &app.Input{Config: in.Config, Clock: in.Clock, Version: in.Version, Stdin: in.Stdin, Demo: in.Demo, Now: in.Now, Report: in.Report}
}

// forgetKinds drops the cache of the discovery: this run may have changed which kinds are served.
func (i *Installer) forgetKinds() {
	if disco, err := i.Input.Config.ToDiscoveryClient(); err == nil { // The next discovery reports the error.
		disco.Invalidate()
	}
}

// serves returns the versions of a kind that the cluster serves.
func (c *cluster) serves(r object.Resource) []string {
	from, ok := app.ClusterOf(c.from)
	if !ok {
		return nil
	}
	versions, _ := from.Serves(r)
	return versions
}

// apis returns the served APIs as templates query them: v1, apps/v1, apps/v1/Deployment.
func (c *cluster) apis() []string {
	seen := map[string]bool{}
	var out []string
	for _, r := range c.kinds.All() {
		for _, v := range c.serves(r) {
			gv := v
			if r.Group != "" {
				gv = r.Group + "/" + v
			}
			for _, text := range []string{gv, gv + "/" + r.Kind} {
				if !seen[text] {
					seen[text] = true
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// served returns the custom kinds that the cluster serves, for the solver.
func (c *cluster) served() []solve.API {
	var out []solve.API
	for _, r := range c.kinds.All() {
		if r.Custom {
			out = append(out, solve.API{Kind: apiName(r.Kind, r.Group), Versions: c.serves(r)})
		}
	}
	slices.SortFunc(out, func(a, b solve.API) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

// runner runs plans of an installation.
func (c *cluster) runner(target install.Installation) (*install.Runner, error) {
	objects, err := install.NewObjects(c.config)
	if err != nil {
		return nil, err
	}
	store, err := install.NewStore(c.config, target)
	if err != nil {
		return nil, err
	}
	r := &install.Runner{Engine: c.engine, Objects: objects, Discovery: objects, Store: store, Lock: install.NewLock(c.config, target), Record: install.NewRecord(c.config, target), By: journal.Holder()}
	r.Events, r.Now, r.Restorable = c.Events, c.Input.Now, restorable
	return r, nil
}

// distinct drops repeated texts.
func distinct(all []string) (out []string) {
	for _, text := range all {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
