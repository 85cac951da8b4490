// Package ui opens the page in a browser, as a user would, on the embedded example, on a snapshot
// of thousands of objects, on an exported file and on a real control plane. What the page is held
// to stands in ui/ring, a file a scenario, which node runs with playwright-core; here is what
// they need: the plugin, the cluster, and what is done to it meanwhile.
//
// The ring needs Chromium, node, and what ui/package-lock.json names (make ui fetches it). Where
// one of them is not to be had it says so on stderr, and ends with what SYSOP_RING says: "may" (the
// default) passes, "must" fails.
package ui

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/fill"
	released "github.com/kubectl-sysop/kubectl-sysop/test/plugin"
)

// root is the checkout.
const root = "../.."

var update = flag.Bool("update", false, "write the pictures of docs/ui.md")

var shared = cluster.NewShared(cluster.Full())

// work is a folder that is removed after all tests.
var work string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	lacks := lacking()
	if len(lacks) > 0 {
		fmt.Fprintf(os.Stderr, "\n!!! THE RING OF THE PAGE WAS NOT RUN: %s\n!!! nothing of what a browser shows was tested; .ci/run installs it where it may\n\n", strings.Join(lacks, "; "))
		if os.Getenv("SYSOP_RING") == "must" {
			return 1
		}
		return 0
	}
	var err error
	if work, err = os.MkdirTemp("", "sysop-ui-"); err != nil {
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

// lacking says what is not there that the ring needs.
func lacking() []string {
	var out []string
	if _, err := exec.LookPath("node"); err != nil {
		out = append(out, "there is no node")
	}
	if chromium() == "" {
		out = append(out, "there is no Chromium (CHROMIUM names one)")
	}
	if _, err := os.Stat(filepath.Join(root, "ui/node_modules/playwright-core/package.json")); err != nil {
		out = append(out, "ui/node_modules is not there (make ui fetches it)")
	}
	return out
}

// chromium is the browser; empty for none.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// plugin builds the plugin as it is released, once.
var plugin = sync.OnceValues(func() (string, error) {
	name := filepath.Join(work, "kubectl-sysop")
	return name, released.Build(context.Background(), root, name)
})

// sandbox is a cluster with the example and the shop on it, and what make sandbox adds.
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

// sysop runs the plugin to its end.
func sysop(t *testing.T, kubeconfig string, stdin []byte, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	name, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = t.TempDir(), environment(t, kubeconfig)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), talk.String(), cmd.ProcessState.ExitCode()
}

// environment is all that a process gets to know.
func environment(t *testing.T, kubeconfig string, more ...string) []string {
	t.Helper()
	return slices.Concat([]string{"HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + kubeconfig}, more)
}
