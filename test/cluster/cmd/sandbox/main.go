// Command sandbox runs a real control plane to play with: nodes and pods that
// are played by kwok, metrics, prometheus-operator with real Prometheus servers, and cert-manager.
//
//	sandbox build                           build all programs (up builds what it needs)
//	sandbox up [--name N] [-f FILE|DIR]...  start, apply manifests, print export KUBECONFIG=...
//	sandbox status [--name N]               what runs, with memory and ports
//	sandbox down [--name N]                 stop and remove it
//
// It runs until down; only what it prints on stdout is meant for the shell:
// eval "$(sandbox up)".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "sandbox:", err)
		}
		stop()
		os.Exit(1)
	}
}

// defaultName is the sandbox that make sandbox starts and make sandbox-down ends.
const defaultName = "sandbox"

// detached is the hidden command that up starts: the process that the cluster
// belongs to.
const detached = "detached"

func run(ctx context.Context, args []string, in io.Reader, out, talk io.Writer) error {
	if len(args) == 0 {
		return errors.New("which command? build, up, status or down")
	}
	flags := flag.NewFlagSet("sandbox "+args[0], flag.ContinueOnError)
	flags.SetOutput(talk)
	name := flags.String("name", defaultName, "`name` of the sandbox: there can be several")
	var files paths
	if args[0] == "up" {
		flags.Var(&files, "f", "`file or directory` of manifests to apply; can be given again")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	s, err := find(*name)
	if err != nil {
		return err
	}
	switch args[0] {
	case "build":
		if _, err := cluster.Build(ctx, talk); err != nil {
			return err
		}
		_, err := cluster.BuildPrometheus(ctx, talk)
		return err
	case "up":
		return s.up(ctx, files, out, talk)
	case detached:
		return s.detached(ctx, in, out)
	case "status":
		return s.status(out)
	case "down":
		return s.down(ctx, talk)
	}
	return fmt.Errorf("unknown command %q: want build, up, status or down", args[0])
}

// paths is a flag that can be given again.
type paths []string

func (p *paths) String() string { return fmt.Sprint(*p) }

// Set adds a value.
func (p *paths) Set(v string) error {
	*p = append(*p, v)
	return nil
}
