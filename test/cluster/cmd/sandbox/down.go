package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/filelock"
)

// grace is how long the detached process may take before it is killed; then
// the cluster's supervisor does its work.
const grace = 15 * time.Second

func (s sandbox) down(ctx context.Context, talk io.Writer) error {
	if _, err := os.Stat(s.dir); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(talk, "sandbox %s is not running\n", s.name)
		return nil
	}
	unlock, err := filelock.Lock(ctx, s.dir+".lock", func() { fmt.Fprintln(talk, "waiting for an up to end") })
	if err != nil {
		return err
	}
	defer unlock()
	st, running, err := s.running()
	if err != nil {
		return err
	}
	if running {
		if err := s.end(ctx, st); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the sandbox's directory: %w", err)
	}
	fmt.Fprintf(talk, "sandbox %s is down\n", s.name)
	return nil
}

// end stops the detached process and returns when every process is gone.
func (s sandbox) end(ctx context.Context, st state) error {
	if err := st.Owner.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	kill := time.After(grace)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		left := st.alive()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to end: %w", strings.Join(left, ", "), ctx.Err())
		case <-kill:
			if err := st.Owner.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return err
			}
		case <-tick.C:
		}
	}
}

// alive names what still runs.
func (st state) alive() []string {
	var names []string
	if st.Owner.Alive() {
		names = append(names, "sandbox")
	}
	for _, p := range st.Processes {
		if p.Alive() {
			names = append(names, p.Name)
		}
	}
	return names
}

// status prints a line for each process. Memory and ports come from /proc and
// are left out where there is none.
func (s sandbox) status(out io.Writer) error {
	st, running, err := s.running()
	if err != nil {
		return err
	}
	if !running {
		return fmt.Errorf("sandbox %s is not running", s.name)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tPID\tRSS MiB\tLISTENS ON")
	for _, p := range st.Processes {
		rss, ports := "-", []string{}
		if resident, _, err := p.Memory(); err == nil {
			rss = fmt.Sprint(resident >> 20)
		}
		addresses, err := p.Listening()
		for _, a := range addresses {
			ports = append(ports, a.String())
		}
		if err != nil || len(ports) == 0 {
			ports = []string{"-"}
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", p.Name, p.PID, rss, strings.Join(ports, " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nexport KUBECONFIG=%s\n", st.Kubeconfig)
	return err
}
