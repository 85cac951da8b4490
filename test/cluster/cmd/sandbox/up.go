package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/filelock"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/fill"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// Messages between up and the detached process. Until up has sent keep, the end of its pipe ends
// the sandbox: a killed up leaves nothing behind.
const (
	readyLine = "ready"
	keepLine  = "keep"
)

func (s sandbox) up(ctx context.Context, files []string, out, talk io.Writer) error {
	objects, err := apply.ReadFiles(files...)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the sandbox's directory: %w", err)
	}
	unlock, err := filelock.Lock(ctx, s.dir+".lock", func() { fmt.Fprintln(talk, "waiting for another up or down") })
	if err != nil {
		return err
	}
	defer unlock()
	st, running, err := s.running()
	if err != nil {
		return err
	}
	if running {
		fmt.Fprintf(talk, "sandbox %s is running already; manifests are not applied again\n", s.name)
		fmt.Fprintf(out, "export KUBECONFIG=%s\n", st.Kubeconfig)
		return nil
	}
	if _, err := cluster.Build(ctx, talk); err != nil {
		return err
	}
	if _, err := cluster.BuildPrometheus(ctx, talk); err != nil {
		return err
	}
	p, err := s.launch(talk)
	if err != nil {
		return err
	}
	err = p.awaitReady(ctx, talk)
	if err == nil {
		st, _, err = s.running()
	}
	if err == nil {
		err = fill.Cluster(ctx, st.Kubeconfig, s.dir, objects, talk)
	}
	if err == nil {
		err = p.keep()
	}
	if err != nil {
		err = errors.Join(err, p.abandon())
		if ctx.Err() != nil { // interrupted: no logs are needed
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
		return err
	}
	fmt.Fprintf(talk, "sandbox %s is up. Use it:  export KUBECONFIG=%s\n", s.name, st.Kubeconfig)
	if slices.ContainsFunc(objects, isExample) {
		fmt.Fprintln(talk, "Try it:   kubectl sysop graph moodle/moodle-1 -n moodle")
	}
	fmt.Fprintf(talk, "Stop it:  %s\n", s.downCommand())
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", st.Kubeconfig)
	return nil
}

// isExample reports whether the object is the one in the example.
func isExample(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Moodle" && o.GetNamespace() == "moodle" && o.GetName() == "moodle-1"
}

// downCommand returns the command that stops this sandbox, for the directory of the Makefile.
func (s sandbox) downCommand() string {
	if s.name == defaultName {
		return "make sandbox-down"
	}
	return "go run ./test/cluster/cmd/sandbox down --name " + s.name
}

// process is the detached process, as up holds it.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (s sandbox) launch(talk io.Writer) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	log, err := os.OpenFile(s.path("sandbox.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(self, detached, "--name", s.name)
	cmd.Stderr = log
	cmd.SysProcAttr = supervise.Detached()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	fmt.Fprintf(talk, "starting; logs are in %s\n", s.dir)
	return &process{cmd, in, bufio.NewScanner(out)}, nil
}

// awaitReady prints the messages of the process until it is ready.
func (p *process) awaitReady(ctx context.Context, talk io.Writer) error {
	stop := context.AfterFunc(ctx, func() { _ = p.in.Close() }) // makes the process stop, which ends the scan
	defer stop()
	for p.out.Scan() {
		if p.out.Text() == readyLine {
			return ctx.Err()
		}
		fmt.Fprintln(talk, p.out.Text())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.New("the sandbox did not start")
}

// keep lets the process continue.
func (p *process) keep() error {
	if _, err := fmt.Fprintln(p.in, keepLine); err != nil {
		return fmt.Errorf("release the sandbox: %w", err)
	}
	return p.in.Close()
}

// abandon makes the process stop everything it started, and waits for it.
func (p *process) abandon() error {
	_ = p.in.Close() // it may be closed, and the process gone
	for p.out.Scan() {
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("stop the sandbox: %w", err)
	}
	return nil
}
