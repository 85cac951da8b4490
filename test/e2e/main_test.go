// Package e2e runs the plugin, as a user would, against a real control plane
// with real operators, and looks at what it says, what it asks the API server
// for, and how it bears that server's moods.
//
// The plugin is built once, with the race detector if SYSOP_RACED says so (make cluster-test). The
// tests are not: what they call in their own process is raced by the tests of its packages. Each run is a process of
// its own, with a home directory of its own, so that no cache outlives it. A
// test works in a namespace of its own, except for the example (examples/demo),
// whose namespace is called moodle and which one test applies for all.
//
// Tests run in parallel, since most of them wait. One that looks at all objects or kinds of a
// cluster does not call t.Parallel, and runs before those that do.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	released "github.com/kubectl-sysop/kubectl-sysop/test/plugin"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// limit is how long a test waits for what a controller does: seconds on an idle machine, and
// minutes on a busy one, where it is only paid by a test that fails.
var limit = timeout.Scaled(2 * time.Minute)

// brief is how long a run waits for what never comes, or for what comes soon after that. It is waited
// for in full, and so no longer than a minute.
func brief(d time.Duration) string {
	return min(timeout.Scaled(d).Truncate(time.Second), time.Minute).String()
}

var shared = cluster.NewShared(cluster.Full())

// bare has no operators before a test installs them.
var bare = cluster.NewShared(cluster.Installing())

// withoutOperators never has one, for tests that run the plugin hundreds of times: to list the definitions
// of the operators is more work for the API server than all else that a run asks for.
var withoutOperators = cluster.NewShared(cluster.Workloads())

// plugin is the file of the program under test.
var plugin string

// raced says that it is built with the race detector.
var raced = os.Getenv("SYSOP_RACED") == "yes"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() { // every test needs the cluster, and is left out
		return m.Run()
	}
	// Some tests run commands in this process, where others use client-go: its logger is set
	// once, now.
	quiet := command.Env{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), Getenv: os.Getenv, Now: time.Now}
	if code := cli.Main(context.Background(), quiet, []string{"version"}); code != command.ExitDone {
		fmt.Fprintln(os.Stderr, "version: exit code", code)
		return 1
	}
	dir, err := os.MkdirTemp("", "sysop-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	plugin = filepath.Join(dir, "kubectl-sysop")
	build := exec.CommandContext(context.Background(), "go", "build", fmt.Sprintf("-race=%t", raced), "-o", plugin, "github.com/kubectl-sysop/kubectl-sysop/cmd/kubectl-sysop")
	if raced { // the race detector wants C
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the plugin:", err)
		return 1
	}
	code := shared.Run(m)
	if err := errors.Join(bare.Stop(), withoutOperators.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, "stop the clusters without operators:", err)
		return max(code, 1)
	}
	return code
}

// unraced builds the plugin as make build does, for tests of which the race detector would
// make hours: those that run it again and again.
func unraced(t *testing.T) string {
	t.Helper()
	name, err := buildUnraced()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

var buildUnraced = sync.OnceValues(func() (string, error) {
	name := plugin + "-unraced"
	return name, released.Build(context.Background(), "../..", name)
})

func admin(c *cluster.Cluster) kubernetes.Interface { return kubernetes.NewForConfigOrDie(c.Config()) }

// applied creates the objects of a file of testdata in the namespace.
func applied(t *testing.T, c *cluster.Cluster, ns, file string) {
	t.Helper()
	applyText(t, c, inNamespace(t, ns, file))
}

func applyText(t *testing.T, c *cluster.Cluster, text string) {
	t.Helper()
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
}

// inNamespace reads a file of testdata, with the word NAMESPACE replaced.
func inNamespace(t *testing.T, ns, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "NAMESPACE", ns)
}

// proxy is a proxy in front of the API server that acts as the user of the
// kubeconfig (the administrator, if that is empty) and ends with the test.
func proxy(t *testing.T, c *cluster.Cluster, kubeconfig string) *faults.Proxy {
	t.Helper()
	p, err := c.Proxy(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
