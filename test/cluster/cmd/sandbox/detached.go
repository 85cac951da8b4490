package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// detached starts the cluster and lives as long as that runs. It ends with ctx, with a process of
// the cluster, or with up, unless that has said to keep the sandbox. However it ends, the cluster's
// supervisor ends the cluster.
func (s sandbox) detached(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if line, _ := bufio.NewReader(in).ReadString('\n'); line != keepLine+"\n" {
			cancel(errors.New("up has gone"))
		}
	}()
	o := cluster.Full()
	o.Dir, o.Log = s.path("cluster"), out
	c, err := cluster.Start(ctx, o)
	if err != nil {
		fmt.Fprintln(out, err)
		return err
	}
	bin, err := cluster.BuildPrometheus(ctx, out)
	if err == nil {
		operating, end := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.OperateAll(operating, bin, s.path("prometheus"), os.Stderr) // out is not read later
		}()
		defer func() {
			end()
			<-ended
		}()
		err = s.announce(c, out)
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case <-c.Exited():
			err = c.Err()
		}
	}
	return errors.Join(err, os.Remove(s.path("state.json")), c.Stop())
}

// announce writes the state and reports that it exists. After that out is no longer read.
func (s sandbox) announce(c *cluster.Cluster, out io.Writer) error {
	id, err := supervise.Identify(os.Getpid())
	if err != nil {
		return err
	}
	if err := s.save(state{Owner: id, Kubeconfig: c.Kubeconfig, Processes: c.Processes()}); err != nil {
		return err
	}
	fmt.Fprintln(out, readyLine)
	return nil
}
