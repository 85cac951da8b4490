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
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

func main() {
	runs := flag.Int("runs", 5, "counted `runs` of each command, after one that is not")
	sizes := flag.String("sizes", "10000,40000,100000", "numbers of `objects` to measure at")
	definitions := flag.Int("definitions", 0, "custom resource `definitions` to load, those of the catalog first")
	instances := flag.Bool("instances", false, "with -definitions: custom resources in the namespace that is asked about")
	against := flag.String("against", "", "another `binary` of the plugin, to measure beside")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options{*runs, *sizes, *definitions, *instances, *against}); err != nil {
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
	b := bench{cluster: c, loader: bins.Path("loader"), programs: programs, runs: o.runs, dir: dir, against: o.against}
	return b.measure(ctx, want, o)
}

type programs struct{ sysop, floor string }

// build builds the programs with the flags of a release.
func build(ctx context.Context, dir string) (programs, error) {
	p := programs{filepath.Join(dir, "kubectl-sysop"), filepath.Join(dir, "floor")}
	for out, pkg := range map[string]string{p.sysop: "./cmd/kubectl-sysop", p.floor: "./test/cluster/cmd/floor"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return p, fmt.Errorf("build %s: %w", pkg, err)
		}
	}
	return p, nil
}

type bench struct {
	cluster  *cluster.Cluster
	loader   string
	programs programs
	runs     int
	dir      string
	against  string
}

// fixed is the namespace of the measured stack: it stays the same while the cluster around it
// grows.
const (
	fixed       = "shop"
	deployments = 20
	perTree     = 7 // a Deployment, a ReplicaSet and five pods
)

func (b *bench) measure(ctx context.Context, sizes []int, o options) error {
	if err := b.load(ctx, fixed, 1, deployments, deployments); err != nil {
		return err
	}
	if err := b.define(ctx, o.definitions, o.instances); err != nil {
		return err
	}
	fmt.Println("| question | objects | program | requests | MB read | CPU s | peak RSS MB | wall s |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---:|")
	have := deployments * (perTree + 1)
	for i, size := range sizes {
		trees := (size - have) / (perTree + 1)
		if err := b.load(ctx, "load"+strconv.Itoa(i), 20, trees, trees); err != nil {
			return err
		}
		have += trees * (perTree + 1)
		if err := b.questions(ctx, have); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) load(ctx context.Context, tag string, namespaces, trees, configMaps int) error {
	cmd := exec.CommandContext(ctx, b.loader, "-etcd", b.cluster.Etcd, "-tag", tag,
		"-namespaces", strconv.Itoa(namespaces), "-deployments", strconv.Itoa(trees), "-configmaps", strconv.Itoa(configMaps))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("load objects: %w", err)
	}
	return nil
}

func (b *bench) questions(ctx context.Context, objects int) error {
	whole := []string{"graph", "clusterrole/cluster-admin", "-A", "-o", "name", "--timings"}
	stack := []string{"graph", "deployment/app-0", "-n", fixed + "-0", "-o", "name", "--timings"}
	type question struct {
		name    string
		program string
		args    []string
	}
	questions := []question{
		{"whole cluster", b.programs.floor, nil},
		{"whole cluster", b.programs.sysop, whole},
		{"one stack", b.programs.floor, []string{"-n", fixed + "-0"}},
		{"one stack", b.programs.sysop, stack},
	}
	if b.against != "" {
		questions = append(questions, question{"whole cluster", b.against, whole}, question{"one stack", b.against, stack}, question{"one stack", b.programs.sysop, stack})
	}
	for _, q := range questions {
		m, err := b.repeat(ctx, q.program, q.args)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %s | %d | %.1f | %.3f | %.1f | %.3f |\n",
			q.name, objects, filepath.Base(q.program), m.requests, float64(m.bytes)/1e6, m.cpu, m.rss, m.wall)
	}
	return nil
}
