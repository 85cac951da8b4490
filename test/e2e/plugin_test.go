package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// runLimit ends a run that hangs.
var runLimit = timeout.Scaled(3 * time.Minute)

// result is what a run of the plugin left.
type result struct {
	args           []string
	code           int
	stdout, stderr string
}

// process is a run that has not ended yet. It is killed when the test ends.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
}

// output is what a process has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// racedRuns is how often each command is run with the race detector, which takes five times
// as much of the processor and finds in the tenth run what it found in the first.
const racedRuns = 3

// racedSoFar counts the runs with the race detector by command.
var racedSoFar sync.Map

// program returns the file of the plugin for a run: the one with the race detector for the
// first runs of each command, and for each run that watches, where much happens at once.
func program(t *testing.T, args []string) string {
	t.Helper()
	watches := func(arg string) bool {
		return arg == "ui" || arg == "watch" || strings.HasPrefix(arg, "--watch") || strings.HasPrefix(arg, "--wait")
	}
	if !raced || slices.ContainsFunc(args, watches) {
		return plugin
	}
	command := args[0]
	if len(args) > 1 && !strings.ContainsAny(args[1], "-/.") {
		command += " " + args[1]
	}
	runs, _ := racedSoFar.LoadOrStore(command, new(atomic.Int32))
	if runs.(*atomic.Int32).Add(1) <= racedRuns {
		return plugin
	}
	return unraced(t)
}

// start starts the plugin with nothing in its environment but what it needs.
func start(t *testing.T, kubeconfig string, args ...string) *process {
	t.Helper()
	return startFor(t, runLimit, kubeconfig, args...)
}

// startFor is start for a run that is to go on for a while.
func startFor(t *testing.T, limit time.Duration, kubeconfig string, args ...string) *process {
	t.Helper()
	return startIn(t, limit, t.TempDir(), program(t, args), kubeconfig, args...)
}

// lastRun is the last run of each test.
var lastRun sync.Map

// startIn starts a program with a home. A test that fails says which command was its last.
func startIn(t *testing.T, limit time.Duration, home, program, kubeconfig string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	p := &process{t: t, cmd: exec.CommandContext(ctx, program, args...)}
	p.cmd.Dir = home
	p.cmd.WaitDelay = runLimit // whoever may still hold its output
	// The race detector waits a second before the process ends, unless told not to.
	p.cmd.Env = []string{"HOME=" + home, "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + kubeconfig, "GORACE=atexit_sleep_ms=0"}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	lastRun.Store(t, p)
	t.Cleanup(func() { // what has ended already is left alone
		cancel()
		_ = p.cmd.Wait()
		if last, _ := lastRun.Load(t); t.Failed() && last == p {
			t.Logf("the last command was kubectl sysop %s", strings.Join(args, " "))
		}
	})
	return p
}

// wait returns when the process has ended.
func (p *process) wait() result {
	p.t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	r := result{p.cmd.Args[1:], p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
	for _, word := range []string{"DATA RACE", "panic:", "goroutine "} {
		if strings.Contains(r.stderr, word) {
			p.t.Fatalf("%v: %s on stderr:\n%s", r.args, word, r.stderr)
		}
	}
	return r
}

// sysop runs the plugin.
func sysop(t *testing.T, kubeconfig string, args ...string) result {
	t.Helper()
	return start(t, kubeconfig, args...).wait()
}

// succeeds fails the test unless the run ended with 0.
func (r result) succeeds(t *testing.T) result {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("%v: exit code %d, want 0; stderr:\n%s", r.args, r.code, r.stderr)
	}
	return r
}

// fails fails the test unless the run ended with 1, nothing on stdout, and a
// message that has the words.
func (r result) fails(t *testing.T, words ...string) {
	t.Helper()
	if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "error: ") {
		t.Errorf("%v: exit code %d, want 1 with an error; stdout %q, stderr:\n%s", r.args, r.code, r.stdout, r.stderr)
	}
	_, message, _ := strings.Cut(r.stderr, "error: ") // warnings may come before it
	for _, w := range words {
		if !strings.Contains(message, w) {
			t.Errorf("%v: no %q in the error:\n%s", r.args, w, r.stderr)
		}
	}
}

// document is the JSON of the graph command, as far as tests look at it.
type document struct {
	Roots    []string
	Nodes    []node
	Edges    []edge
	Gaps     []gap
	Problems []problem
}

type node struct {
	ID, Kind, Namespace, Name, UID, State string
	Boundary, Shared                      bool
}

type edge struct {
	From, To, Relation, Via, Why, Rule string
	Inferred, Optional                 bool
}

type gap struct{ Resource, Namespace, Reason, Message string }

type problem struct{ Object, Severity, Reason, Message, Related, Field string }

// line is the edge as the lists in .edges files have it.
func (e edge) line() string { return e.From + " --" + e.Relation + "--> " + e.To }

// graph runs the graph command, which succeeds, and returns its document.
func graph(t *testing.T, kubeconfig string, args ...string) document {
	t.Helper()
	d, _ := graphSaying(t, kubeconfig, args...)
	return d
}

// graphSaying returns what the graph command said on stderr, too.
func graphSaying(t *testing.T, kubeconfig string, args ...string) (document, string) {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"graph", "-o", "json"}, args...)...).succeeds(t)
	var d document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v in:\n%s", args, err, r.stdout)
	}
	return d, r.stderr
}

// node returns the node with the ID, an empty one if there is none.
func (d document) node(id string) node {
	for _, n := range d.Nodes {
		if n.ID == id {
			return n
		}
	}
	return node{}
}

// same fails the test unless the two show the same nodes and edges.
func same(t *testing.T, want, got document) {
	t.Helper()
	missing(t, "missing root", want.Roots, got.Roots)
	missing(t, "root too much", got.Roots, want.Roots)
	missing(t, "missing", want.Nodes, got.Nodes)
	missing(t, "too much", got.Nodes, want.Nodes)
	missing(t, "missing", want.Edges, got.Edges)
	missing(t, "too much", got.Edges, want.Edges)
}

// missing tells what of one list is not in the other.
func missing[T comparable](t *testing.T, what string, all, in []T) {
	t.Helper()
	have := map[T]bool{}
	for _, x := range in {
		have[x] = true
	}
	const few = 12
	n := 0
	for _, x := range all {
		if have[x] {
			continue
		}
		if n++; n <= few {
			t.Errorf("%s: %+v", what, x)
		}
	}
	if n > few {
		t.Errorf("%s: %d in all", what, n)
	}
}
