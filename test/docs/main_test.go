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
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/fill"
	released "github.com/kubectl-sysop/kubectl-sysop/test/plugin"
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
	return name, released.Build(context.Background(), root, name)
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
	fillOnce.Do(func() { errFill = fill.Sandbox(context.Background(), root, c.Kubeconfig, c.Dir(), os.Stderr) })
	return errFill
}
