package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// poll is the first interval of Eventually. Later it is a tenth of the time that has passed: what
// takes long is looked at less often, as each look is work for the API server.
const poll = 100 * time.Millisecond

// Shared is one cluster for all tests of a package. It starts with the first test that needs it, so
// a run of other tests starts none.
type Shared struct {
	options Options
	once    sync.Once
	cluster *Cluster
	err     error
}

// NewShared makes a shared cluster with these options; see Full and Workloads.
func NewShared(o Options) *Shared {
	if o.Log == nil {
		o.Log = os.Stderr
	}
	return &Shared{options: o}
}

// Run is for TestMain: it runs the tests, stops the cluster and returns the
// exit code. A test binary that panics or runs into its time limit does not
// come to the stop; the supervisor does it then.
func (s *Shared) Run(m *testing.M) int {
	code := m.Run()
	if err := s.Stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the shared cluster: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Stop stops the cluster, if it was started: for a package that has a second one.
func (s *Shared) Stop() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Stop()
}

// hangs is far more than a test takes on a slow machine.
var hangs = timeout.Scaled(20 * time.Minute)

// watch ends the run if the test never ends, and prints last which one it is and its stack: go test
// prints that first, above thousands of lines. A test that has ended and whose parallel subtests
// wait for their turn does not hang.
func watch(t testing.TB) {
	own := make([]byte, 64)
	own = own[:runtime.Stack(own, false)]
	id, _, _ := bytes.Cut(own, []byte("["))
	var timer *time.Timer
	started := make(chan struct{})
	timer = time.AfterFunc(hangs, func() {
		<-started
		all := make([]byte, 16<<20)
		all = all[:runtime.Stack(all, true)]
		var tests []string
		for goroutine := range strings.SplitSeq(string(all), "\n\n") {
			if strings.HasPrefix(goroutine, string(id)) && strings.Contains(goroutine, "testing.tRunner.func1(") {
				timer.Reset(hangs)
				return
			}
			if strings.Contains(goroutine, "testing.tRunner") && !strings.Contains(goroutine, "(*T).Parallel") {
				tests = append(tests, goroutine)
			}
		}
		fmt.Fprintf(os.Stderr, "%s\n\n%s\n\n%s has not ended after %s\n", all, strings.Join(tests, "\n\n"), t.Name(), hangs)
		os.Exit(1) // the supervisor stops the cluster
	})
	close(started)
	t.Cleanup(func() { timer.Stop() })
}

// Cluster returns the cluster, and starts it if needed. With go test -short the test is skipped.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster: left out by -short")
	}
	watch(t)
	s.once.Do(func() { s.cluster, s.err = Start(context.Background(), s.options) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	if err := s.cluster.Err(); err != nil {
		t.Fatal(err)
	}
	s.cluster.keepLogsOf(t)
	return s.cluster
}

// StartFor starts a cluster for one test, and stops it when the test ends. With go test -short the
// test is skipped.
func StartFor(t testing.TB, o Options) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster: left out by -short")
	}
	if o.Log == nil {
		o.Log = t.Output()
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	c.keepLogsOf(t)
	return c
}

// keepLogsOf keeps the logs of the cluster if the test fails, and says where they are. A test asks
// for its cluster first, so that this is the last thing that it says.
func (c *Cluster) keepLogsOf(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			c.keepLogs.Store(true)
			t.Logf("the logs of the control plane are in %s", c.path(logsDir))
		}
	})
}

// Namespace creates a namespace for this test alone and returns its name. It is deleted when the
// test ends, without waiting for its content.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetGenerateName(namespacePrefix(t.Name()))
	namespaces := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	made, err := namespaces.Create(t.Context(), ns, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	name := made.GetName()
	t.Cleanup(func() { // the test's context has ended by now
		if err := namespaces.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("the namespace of the test was %s", name)
		}
	})
	if c.options.ControllerManager { // pods need the service account
		accounts := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(name)
		Eventually(t, timeout.Scaled(time.Minute), func() error {
			_, err := accounts.Get(t.Context(), "default", metav1.GetOptions{})
			return err
		})
	}
	return name
}

// namespacePrefix converts a test's name to the prefix of a namespace's name.
func namespacePrefix(test string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(test))
	const suffix = 6 // what the API server adds, and the dash
	return strings.Trim(name[:min(len(name), validation.DNS1123LabelMaxLength-suffix)], "-") + "-"
}

// Eventually retries until there is no error, and fails the test with the last one after the
// timeout. Tests wait with it.
func Eventually(t testing.TB, timeout time.Duration, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	begin := time.Now()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(errors.Join(fmt.Errorf("not so after %s", timeout), err))
		case <-time.After(max(poll, time.Since(begin)/10)):
		}
	}
}
