//go:build unix

// Command bench measures the plugin on a real API server that holds many
// objects, beside the floor: a program that lists the same kinds in the cheapest
// encoding and drops what it gets. It prints the table of docs/performance.md.
//
// Both run as processes of their own. CPU seconds and the highest resident
// memory are the operating system's account of the finished process; the median
// of the runs is printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

func main() {
	runs := flag.Int("runs", 5, "counted `runs` of each command, after one that is not")
	sizes := flag.String("sizes", "10000,40000,100000", "numbers of `objects` to measure at")
	definitions := flag.Int("definitions", 0, "custom resource `definitions` to load, those of the catalog first")
	instances := flag.Bool("instances", false, "with -definitions: custom resources in the namespace that is asked about")
	against := flag.String("against", "", "another `binary` of the plugin, to measure beside")
	only := flag.String("only", "", "measure the questions whose name contains this `text`")
	namespaces := flag.Int("namespaces", 20, "number of `namespaces` the objects are spread over")
	days := flag.Int("days", 10, "length of the history of windows, in `days`; 0 for none")
	nodes := flag.Int("nodes", 250, "number of `nodes` the pods are bound to")
	keep := flag.Bool("keep", false, "keep the cluster after the questions, until an interrupt, to profile on it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options{*runs, *sizes, *definitions, *instances, *against, *only, *namespaces, *nodes, *days, *keep}); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	runs        int
	sizes       string
	definitions int
	instances   bool
	against     string
	only        string
	namespaces  int
	nodes       int
	days        int
	keep        bool
}

func run(ctx context.Context, o options) error {
	want, err := numbers(o.sizes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sysop-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs, err := build(ctx, dir)
	if err != nil {
		return err
	}
	bins, err := cluster.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	// No controllers: they would work on what is loaded while we measure.
	c, err := cluster.Start(ctx, cluster.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	b := bench{cluster: c, loader: bins.Path("loader"), programs: programs, dir: dir, options: o}
	if err := b.served(ctx); err != nil {
		return err
	}
	if err := b.windows(ctx); err != nil || strings.HasPrefix(o.only, windowTag) {
		return err
	}
	if err := b.measure(ctx, want, o); err != nil || !o.keep {
		return err
	}
	fmt.Fprintf(os.Stderr, "the cluster stays until an interrupt: KUBECONFIG=%s\n", c.Kubeconfig)
	<-ctx.Done()
	return nil
}

type programs struct{ sysop, floor, usage string }

// build builds the programs with the flags of a release.
func build(ctx context.Context, dir string) (programs, error) {
	p := programs{filepath.Join(dir, "kubectl-sysop"), filepath.Join(dir, "floor"), filepath.Join(dir, "usage")}
	for out, pkg := range map[string]string{p.sysop: "./cmd/kubectl-sysop", p.floor: "./test/cluster/cmd/floor", p.usage: "./test/cluster/cmd/usage"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return p, fmt.Errorf("build %s: %w", pkg, err)
		}
		if err := rewrite(out); err != nil {
			return p, err
		}
	}
	return p, nil
}

// rewrite writes a binary anew, 64 KiB at a time, as unpacking an archive does. The kernel maps
// as much of a file at a time as was written at a time, which would count as memory: up to
// 35 MB more after the linker, which writes all at once.
func rewrite(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(content, 64<<10) {
		if _, err := out.Write(part); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

type bench struct {
	cluster  *cluster.Cluster
	loader   string
	programs programs
	dir      string
	options
}

// fixed is the namespace of the measured stack: it stays the same while the cluster around it
// grows.
const (
	fixed       = "shop"
	deployments = 20
	pods        = 5        // of each Deployment
	perTree     = pods + 4 // with the Deployment, its ReplicaSet, a Service and a ConfigMap; each second tree has a custom resource
)

// objects of so many trees.
func objects(trees int) int { return trees*perTree + trees/2 }

func (b *bench) measure(ctx context.Context, sizes []int, o options) error {
	if err := b.load(ctx, fixed, 1, deployments); err != nil {
		return err
	}
	if err := b.define(ctx, o.definitions, o.instances); err != nil {
		return err
	}
	fmt.Println("| question | objects | program | requests | MB read | CPU s | peak RSS MB | wall s |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---:|")
	have := deployments
	for i, size := range sizes {
		trees := size*2/(2*perTree+1) - have
		if err := b.load(ctx, "load"+strconv.Itoa(i), o.namespaces, trees); err != nil {
			return err
		}
		have += trees
		if err := b.questions(ctx, objects(have)); err != nil {
			return err
		}
		if err := b.followers(ctx, objects(have)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) load(ctx context.Context, tag string, namespaces, trees int) error {
	cmd := exec.CommandContext(ctx, b.loader, "-etcd", b.cluster.Etcd, "-tag", tag, "-nodes", strconv.Itoa(b.nodes),
		"-namespaces", strconv.Itoa(namespaces), "-deployments", strconv.Itoa(trees), "-configmaps", strconv.Itoa(trees))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("load objects: %w", err)
	}
	return b.furnish(ctx, tag, namespaces, trees)
}
