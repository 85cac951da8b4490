package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// attempts is how often a start is tried if another process takes a chosen port.
const attempts = 4

// startLimit ends a start that hangs. An idle machine needs seven seconds, one
// that builds at the same time some twenty.
var startLimit = timeout.Scaled(3 * time.Minute)

// Build builds every binary, or finds them in the cache; see package build.
func Build(ctx context.Context, log io.Writer) (build.Binaries, error) { return build.All(ctx, log) }

// Start builds what is needed and starts a cluster. When it returns, the API server, the nodes and
// the components of o are ready; metrics take half a minute more to appear. The cluster ends with
// Stop, or with this process. ctx is for the start only.
//
// After an error everything that was started has been stopped, and the error names the failed
// process, with the last lines of its log.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	bin, err := Build(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for n := 1; ; n++ {
		c, err := startOnce(ctx, o, bin)
		if err == nil || n == attempts || !inUse(err) {
			return c, err
		}
		fmt.Fprintf(o.Log, "a port was taken, starting again: %v\n", err)
	}
}

// inUse reports whether a process found its port in use.
func inUse(err error) bool { return strings.Contains(err.Error(), "address already in use") }

func startOnce(ctx context.Context, o Options, bin build.Binaries) (_ *Cluster, err error) {
	c := &Cluster{options: o, binaries: bin, exited: make(chan struct{}), standIns: newStandIns()}
	if err := c.makeDir(); err != nil {
		return nil, err
	}
	exits := make(chan supervise.Exit)
	c.supervisor, err = supervise.Run(bin.Path(build.Supervise), exits)
	if err != nil {
		return nil, errors.Join(err, c.removeDir())
	}
	go c.watch(exits)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a process that ends while the others start ends the start
		select {
		case <-c.exited:
			cancel(c.exit)
		case <-ctx.Done():
		}
	}()
	if err := c.start(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
			err = cause
		}
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// watch records the first process that ends before Stop.
func (c *Cluster) watch(exits <-chan supervise.Exit) {
	first := true
	for e := range exits {
		if gone := c.dying.Load(); gone != nil && e.Name == build.APIServer {
			c.dying.Store(nil)
			close(*gone)
			continue
		}
		if c.standIns.ended(e.Name) {
			continue
		}
		if !first {
			continue
		}
		first = false
		c.exit = fmt.Errorf("%s has ended (%s); its log ends:\n%s", e.Name, e.State, c.tail(e.Name))
		close(c.exited)
	}
}

// start starts the components, each after its dependencies.
func (c *Cluster) start(ctx context.Context) error {
	begin := time.Now()
	if err := c.issue(); err != nil {
		return err
	}
	for _, step := range c.steps() {
		if !step.wanted {
			continue
		}
		if err := step.start(ctx); err != nil {
			if tail := c.tail(step.name); tail != "" {
				return fmt.Errorf("start %s: %w; its log ends:\n%s", step.name, err, tail)
			}
			return fmt.Errorf("start %s: %w", step.name, err)
		}
		fmt.Fprintf(c.options.Log, "%6.1fs %s\n", time.Since(begin).Seconds(), step.name)
	}
	return nil
}

type step struct {
	name   string // of the process, if it is one
	wanted bool
	start  func(context.Context) error
}

// steps lists everything to start. Processes are started first and waited for later, so that they
// start in parallel.
func (c *Cluster) steps() []step {
	o := c.options
	return []step{
		{build.Etcd, true, c.startEtcd},
		{egressProxy, true, c.startEgress},
		{build.APIServer, true, c.startAPIServer},
		{build.ControllerManager, o.ControllerManager, c.startControllerManager},
		{build.Scheduler, o.Scheduler, c.startScheduler},
		{build.Kwok, o.Kwok, c.startKwok},
		{build.MetricsServer, o.MetricsServer, c.startMetricsServer},
		{build.PrometheusOperator, o.PrometheusOperator, c.startPrometheusOperator},
		{build.CertManager, o.CertManager, c.startCertManager},
		{"stand-ins", o.StandIns, c.startStandIns},
		{"nodes", o.Nodes > 0, c.awaitNodes},
		{build.FakeKubelet, o.Summary && o.Nodes > 0, c.startFakeKubelet},
		{"default service account", o.ControllerManager, c.awaitServiceAccount},
	}
}

func (c *Cluster) makeDir() error {
	if c.options.Dir == "" {
		dir, err := os.MkdirTemp("", "sysop-cluster-")
		if err != nil {
			return fmt.Errorf("make the cluster's directory: %w", err)
		}
		c.dir, c.temporary = dir, true
	} else {
		dir, err := filepath.Abs(c.options.Dir)
		if err != nil {
			return fmt.Errorf("make the cluster's directory: %w", err)
		}
		c.dir = dir
	}
	// The files of a failed attempt, or of an ended cluster, are of no use.
	for _, name := range []string{"etcd", logsDir, "pki", routesDir, "users"} {
		if err := os.RemoveAll(c.path(name)); err != nil {
			return fmt.Errorf("clear the cluster's directory: %w", err)
		}
		if err := os.MkdirAll(c.path(name), 0o700); err != nil {
			return fmt.Errorf("make the cluster's directory: %w", err)
		}
	}
	return nil
}

// removeDir removes what the cluster has written; of one that keeps its logs, all but these. The
// log of audit is not among them: it is larger than all others, and tests print what they want of it.
func (c *Cluster) removeDir() error {
	var err error
	if c.extraDir != "" {
		err = os.RemoveAll(c.extraDir)
	}
	if !c.temporary {
		return err
	}
	if !c.keepLogs.Load() {
		return errors.Join(err, os.RemoveAll(c.dir))
	}
	entries, readErr := os.ReadDir(c.dir)
	err = errors.Join(err, readErr, os.RemoveAll(c.log(auditLog)))
	for _, e := range entries {
		if e.Name() != logsDir {
			err = errors.Join(err, os.RemoveAll(c.path(e.Name())))
		}
	}
	return err
}
