package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// edit replaces a text in an entry of the catalogue.
func (s *tea) edit(name, was, is string) {
	s.t.Helper()
	file := filepath.Join(s.catalog, name+"-"+s.unit+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(text), was) {
		s.t.Fatalf("no %q in %s", was, file)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), was, is)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// killedAt starts an install that is killed right after the effect of its n-th write, and
// says whether it came to that.
func (s *tea) killedAt(n int) bool {
	s.t.Helper()
	var killed atomic.Bool
	started := make(chan *os.Process, 1)
	s.proxy.Reset()
	s.proxy.Inject(faults.Fault{Match: faults.Nth(n, faults.Writes), Effect: faults.Lost(func() {
		killed.Store(true)
		_ = (<-started).Kill() // it may have ended by itself
	})})
	run := s.start(s.args("install")...)
	started <- run.cmd.Process
	r := run.wait()
	s.proxy.Reset()
	if !killed.Load() {
		r.succeeds(s.t)
	}
	return killed.Load()
}

// hurry has the lock of who was killed run out at once, and not after a quarter of a minute.
func (s *tea) hurry() {
	s.t.Helper()
	leases := admin(s.c).CoordinationV1().Leases("tea-" + s.unit)
	l, err := leases.Get(s.t.Context(), "sysop-install-tea", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	*l.Spec.LeaseDurationSeconds = 1
	if _, err := leases.Update(s.t.Context(), l, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// teaWrites counts the writes of an install that nothing happens to.
func teaWrites(t *testing.T, c *cluster.Cluster) int {
	t.Helper()
	s := newTea(t, c, "count", "")
	s.brew()
	s.run(s.args("install")...).succeeds(t)
	n := len(s.writes())
	s.whole()
	return n
}

// An install is killed after each of its writes. The same command again goes on to the end;
// or the next one undoes it, and all is as it was before.
func TestInstallKilled(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	writes := teaWrites(t, c)
	if writes < 20 {
		t.Fatalf("an install of an operator and two apps writes %d times", writes)
	}
	t.Logf("an install writes %d times", writes)
	var work errgroup.Group
	work.SetLimit(atATime) // most of the time they wait
	for n := 1; n <= writes; n++ {
		work.Go(func() error {
			t.Run(fmt.Sprint(n), func(t *testing.T) { killed(t, c, n) })
			return nil
		})
	}
	_ = work.Wait() // each says itself how it ended
}

// atATime is how many installations are under way at a time.
const atATime = 8

// killed kills an install at its n-th write. One half is gone on with, the other undone.
func killed(t *testing.T, c *cluster.Cluster, n int) {
	s := newTea(t, c, fmt.Sprintf("kill-%02d", n), "")
	s.brew()
	undone := n%2 == 0
	if undone {
		s.remember()
	}
	if !s.killedAt(n) {
		s.whole() // Renewals of the lock are writes, too: there were more of them when it was counted.
		return
	}
	s.hurry()
	if !undone {
		s.run(s.args("install")...).succeeds(t)
		s.whole()
		return
	}
	r := s.run("rollback", "tea", "-n", "tea-"+s.unit, "--unfinished", "--yes")
	if strings.Contains(r.stderr, "no unfinished run") || strings.Contains(r.stderr, "no installation") || strings.Contains(r.stderr, "there is nothing to undo") {
		// It was done but for making the System known; or it was not begun, and there is a
		// namespace without a journal. There is nothing to undo: the next one goes on.
		s.run(s.args("install")...).succeeds(t)
		s.whole()
		return
	}
	r.succeeds(t)
	s.nothing()
}
