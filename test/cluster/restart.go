package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// RestartAPIServer kills the API server, as a crash would, and starts it again on the same port. It
// returns when the new one is ready. Use it on a cluster of a single test: every watch of every
// client breaks.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	all := c.supervisor.Processes()
	slices.Reverse(all)
	i := slices.IndexFunc(all, func(p supervise.Process) bool { return p.Name == build.APIServer })
	if i < 0 {
		return errors.New("restart the API server: there is none")
	}
	gone := make(chan struct{})
	c.dying.Store(&gone)
	process, err := os.FindProcess(all[i].PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return fmt.Errorf("restart the API server: %w", err)
	}
	select { // its port is free when it is gone
	case <-gone:
	case <-ctx.Done():
		return fmt.Errorf("restart the API server: %w", ctx.Err())
	}
	if _, err := c.supervisor.Start(all[i].Command); err != nil {
		return fmt.Errorf("restart the API server: %w", err)
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return fmt.Errorf("restart the API server: %w", err)
	}
	return await(ctx, answers(client, c.server+"/readyz"))
}
