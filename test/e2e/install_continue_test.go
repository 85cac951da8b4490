package e2e

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// killedWhen kills a run right after the effect of the n-th write that matches.
func (s *tea) killedWhen(n int, match func(*http.Request) bool, args ...string) {
	s.t.Helper()
	var killed atomic.Bool
	started := make(chan *os.Process, 1)
	s.proxy.Reset()
	s.proxy.Inject(faults.Fault{Match: faults.Nth(n, match), Effect: faults.Lost(func() {
		killed.Store(true)
		_ = (<-started).Kill() // it may have ended by itself
	})})
	run := s.start(args...)
	started <- run.cmd.Process
	r := run.wait()
	s.proxy.Reset()
	if !killed.Load() {
		s.t.Fatalf("it came to no such write: exit code %d:\n%s", r.code, r.stderr)
	}
	s.hurry()
}

// deletes matches the deletion of an object of the unit's apps.
func deletes(path string) func(*http.Request) bool {
	return func(q *http.Request) bool {
		return q.Method == http.MethodDelete && strings.HasSuffix(q.URL.Path, path)
	}
}

// known says whether the System is known in the cluster, and whether its objects carry its label.
func (s *tea) known() (there, marked bool) {
	s.t.Helper()
	ns := "tea-" + s.unit
	_, err := admin(s.c).CoreV1().ConfigMaps(ns).Get(s.t.Context(), "sysop-tea", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	there = err == nil
	marked = true
	if is, err := admin(s.c).CoreV1().ConfigMaps(ns).Get(s.t.Context(), "tea", metav1.GetOptions{}); err != nil || is.Labels[system.MemberLabel] == "" {
		marked = false
	}
	if is, err := admin(s.c).CoreV1().Services(ns).Get(s.t.Context(), "water", metav1.GetOptions{}); err != nil || is.Labels[system.MemberLabel] == "" {
		marked = false
	}
	return there, marked
}

// An uninstall of a System that was killed continues with the same command: nothing is put back
// first. The System is known until all of it is gone.
func TestUninstallSameArguments(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "goes", "")
	s.brew()
	ns := "tea-" + s.unit
	s.run(s.args("install")...).succeeds(t)
	uninstall := []string{"uninstall", "tea", "-n", ns, "--yes"}
	s.killedWhen(1, deletes("/namespaces/"+ns+"/services/water"), uninstall...)
	if there, _ := s.known(); !there {
		t.Error("a System whose uninstall was killed is not known any more")
	}
	r := s.run(uninstall...).succeeds(t)
	t.Logf("it says:\n%s", r.stderr)
	if !strings.Contains(r.stderr, "then it continues") || strings.Contains(r.stderr, "roll back") || strings.Contains(r.stderr, "undone:") {
		t.Errorf("it does not continue:\n%s", r.stderr)
	}
	if there, marked := s.known(); there || marked {
		t.Errorf("after it: the System is known: %v; its objects are there: %v", there, marked)
	}
	if got := strings.Join(s.history("tea", ns), ", "); got != "install done, uninstall done" {
		t.Errorf("history: %s", got)
	}
	if got := helmList(t, c, ns); len(got) != 0 {
		t.Errorf("releases are left: %q", got)
	}
}

// A System whose uninstall failed and was undone is known as before, with all of its objects.
func TestUninstallFailedIsKnown(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "stays", "")
	s.brew()
	ns := "tea-" + s.unit
	s.run(s.args("install")...).succeeds(t)
	if there, marked := s.known(); !there || !marked {
		t.Fatalf("before it: known %v, marked %v", there, marked)
	}
	s.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: deletes("/namespaces/" + ns + "/services/water")})
	s.failed(s.run("uninstall", "tea", "-n", ns, "--yes"), "undone")
	if there, marked := s.known(); !there || !marked {
		t.Errorf("after it: known %v, marked %v", there, marked)
	}
	s.proxy.Reset()
	s.run("uninstall", "tea", "-n", ns, "--yes").succeeds(t)
	if there, _ := s.known(); there {
		t.Error("it is known although it is gone")
	}
}

// A rollback that was killed continues with the same command; a rollback to something else is
// refused, with the ways out.
func TestRollbackSameArguments(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "goes-back", "")
	s.brew()
	ns := "tea-" + s.unit
	without, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.run(s.args("install")...).succeeds(t)
	if err := os.WriteFile(s.file, []byte(strings.Replace(string(without), "  connections:", cronApp+"  connections:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(s.args("upgrade")...).succeeds(t)
	rollback := []string{"rollback", "tea", "-n", ns, "--yes"}
	s.killedWhen(1, deletes("/namespaces/"+ns+"/cronjobs/cron"), rollback...)
	s.refused([]string{"the rollback by", "did not finish", "--unfinished"}, "rollback", "tea", "2", "-n", ns, "--yes")
	r := s.run(rollback...).succeeds(t)
	t.Logf("it says:\n%s", r.stderr)
	if !strings.Contains(r.stderr, "then it continues") || strings.Contains(r.stderr, "undone:") {
		t.Errorf("it does not continue:\n%s", r.stderr)
	}
	if got := strings.Join(s.history("tea", ns), ", "); got != "install done, upgrade done, rollback done" {
		t.Errorf("history: %s", got)
	}
}
