// Package docs runs what the pages say on a cluster like that of make sandbox, and walks the
// newcomer's path: README from top to bottom, in a fresh clone.
//
// Pages that need no cluster are run by the tests of docs/.
package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/fill"
)

// root is the checkout.
const root = "../.."

var update = flag.Bool("update", false, "write what commands print into the pages")

var shared = cluster.NewShared(cluster.Full())

// work is a folder that is removed after all tests.
var work string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if work, err = os.MkdirTemp("", "sysop-docs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := shared.Run(m)
	if err := os.RemoveAll(work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// plugin builds the plugin as it is released, once.
var plugin = sync.OnceValues(func() (string, error) {
	name := filepath.Join(work, "kubectl-sysop")
	build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, "./cmd/kubectl-sysop")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugin: %w\n%s", err, text)
	}
	return name, nil
})

// sandbox is the cluster of the tests, with what make sandbox puts on one.
func sandbox(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	if err := filled(c); err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	fillOnce sync.Once
	errFill  = errors.New("the cluster was not filled")
)

func filled(c *cluster.Cluster) error {
	fillOnce.Do(func() {
		objects, err := apply.ReadFiles(sandboxFiles()...)
		if err == nil {
			err = fill.Cluster(context.Background(), c.Kubeconfig, c.Dir(), objects, os.Stderr)
		}
		errFill = err
	})
	return errFill
}

// sandboxFiles are the manifests of make sandbox; TestSandboxFiles holds them to the Makefile.
func sandboxFiles() []string {
	return []string{
		filepath.Join(root, "examples/demo"),
		filepath.Join(root, "examples/operators.yaml"),
		filepath.Join(root, "examples/system/objects.yaml"),
	}
}
