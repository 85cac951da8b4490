package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/filelock"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// recipe is the input of one directory of the cache.
type recipe struct {
	what string // is built, for who waits
	// takes is how long, on two idle cores, where nothing was downloaded or compiled before.
	takes     time.Duration
	name      string // before the key, in the directory's name; empty for the current build
	targets   []target
	manifests []manifest
	// sources are the directories, below the root, whose files affect the build. The packages of
	// the main module among them import only the standard library, so its go.mod does not matter.
	sources []string
}

// current is the build of what every cluster needs.
func current() recipe {
	return recipe{what: "the control plane of Kubernetes", takes: 10 * time.Minute, targets: targets(), manifests: manifests(), sources: []string{
		"test/cluster/certmanager", "test/cluster/cmd/supervise", "test/cluster/k8s",
		"test/cluster/prometheus-operator", "test/cluster/supervise",
	}}
}

// prometheus is the build of the server that only tests of metrics over time need.
func prometheus() recipe {
	return recipe{what: "Prometheus", takes: 3 * time.Minute, name: "prometheus-", targets: prometheusTargets(), sources: []string{"test/cluster/cmd/supervise", "test/cluster/prometheus", "test/cluster/supervise"}}
}

// find returns the directory of the build in the cache, and builds it if needed.
func (r recipe) find(ctx context.Context, root, cache string, log io.Writer) (string, error) {
	k, err := r.key(ctx, root)
	if err != nil {
		return "", err
	}
	name := r.name + k
	dir := filepath.Join(cache, name)
	if ready(dir) {
		return dir, nil
	}
	unlock, err := filelock.Lock(ctx, filepath.Join(cache, "lock"), func() { fmt.Fprintln(log, "another process is building: waiting for it") })
	if err != nil {
		return "", err
	}
	defer unlock()
	if ready(dir) { // built while this process waited
		return dir, nil
	}
	if err := r.build(ctx, root, cache, dir, log); err != nil {
		return "", err
	}
	return dir, prune(cache, name)
}

// ready reports whether the build exists, and records its use. A build appears as a whole, by a
// rename.
func ready(dir string) bool {
	now := time.Now()
	return os.Chtimes(dir, now, now) == nil
}

// build builds into a directory beside dir and then gives it its name.
func (r recipe) build(ctx context.Context, root, cache, dir string, log io.Writer) (err error) {
	start := time.Now()
	expected := timeout.Scaled(r.takes * 2 / time.Duration(runtime.NumCPU()))
	fmt.Fprintf(log, "building %s from its Go modules, once for this machine: about %d minutes if nothing of it was compiled before; if it is interrupted, the next build continues with what is compiled\n", r.what, int(expected.Minutes()+1))
	tmp, err := os.MkdirTemp(cache, ".building-")
	if err != nil {
		return fmt.Errorf("make a build directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for i, t := range r.targets {
		fmt.Fprintf(log, "building %s (%d of %d)\n", t, i+1, len(r.targets))
		if err := t.build(ctx, root, filepath.Join(tmp, "bin"), log); err != nil {
			return err
		}
	}
	for _, m := range r.manifests {
		if err := m.copy(ctx, root, filepath.Join(tmp, "manifests", m.name)); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("put the build in its place: %w", err)
	}
	fmt.Fprintf(log, "built in %s: %s\n", time.Since(start).Round(time.Second), dir)
	return nil
}
