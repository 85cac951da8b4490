package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

var errNotYet = errors.New("not yet")

// kettle are the arguments of a command on the one operator of a tea.
func (s *tea) kettle(command string, more ...string) []string {
	return append([]string{command, "kettle-" + s.unit, "--catalog", s.catalog, "--yes"}, more...)
}

// waits starts a run and returns when it waits for pods that never come up.
func (s *tea) waits(args ...string) *process {
	s.t.Helper()
	run := s.start(args...)
	cluster.Eventually(s.t, limit, func() error {
		if !strings.Contains(run.stderr.String(), "waiting for health: ") {
			return errNotYet
		}
		return nil
	})
	return run
}

// valuesOf are those of the release of the operator that is deployed.
func (s *tea) valuesOf() string {
	s.t.Helper()
	last, err := helmOf(s.t, s.c, "kettle-"+s.unit).Releases.Deployed("kettle-" + s.unit)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := json.Marshal(last)
	if err != nil {
		s.t.Fatal(err)
	}
	var r struct{ Config map[string]any }
	if err := json.Unmarshal(text, &r); err != nil {
		s.t.Fatal(err)
	}
	out, err := json.Marshal(r.Config)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// An upgrade that was killed is not continued by one of other arguments: it is undone first,
// and nothing of its values is inherited. While it is alive, it is said to be running.
func TestInstallOtherArguments(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "resume", "")
	s.run(s.kettle("install")...).succeeds(t)
	in := "kettle-" + s.unit
	run := s.waits(s.kettle("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", "2m")...)
	other := newInstaller(t, c, s.program, "") // the run renews its lock through the proxy of its own
	other.refused([]string{"holds the lock since"}, s.kettle("upgrade", "--no-wait")...)
	if r := s.run("history", in, "-n", in).succeeds(t); !strings.Contains(r.stdout, "running") {
		t.Errorf("a run that is alive is not said to be running:\n%s", r.stdout)
	}
	if r := s.run(s.kettle("upgrade", "--dry-run=client")...).succeeds(t); !strings.Contains(r.stderr, "is running") || strings.Contains(r.stderr, "roll back release") {
		t.Errorf("the plan beside a run that is alive says:\n%s", r.stderr)
	}
	_ = run.cmd.Process.Kill()
	run.wait()
	s.hurryLease(in, "sysop-install-"+in)
	cluster.Eventually(t, limit, func() error {
		if r := s.run("history", in, "-n", in).succeeds(t); !strings.Contains(r.stdout, "interrupted") {
			return errNotYet
		}
		return nil
	})
	r := s.run(s.kettle("upgrade")...).succeeds(t)
	if !strings.Contains(r.stderr, "other arguments") || !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("the next upgrade says:\n%s", r.stderr)
	}
	if got := s.valuesOf(); strings.Contains(got, "fail") {
		t.Errorf("values of the half-done release were inherited: %s", got)
	}
	if got := strings.Join(s.history(in, in), ", "); got != "install done, upgrade undone" {
		t.Errorf("history: %s", got)
	}
}

// An upgrade that was killed is continued by the same arguments.
func TestInstallSameArguments(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "again", "")
	s.run(s.kettle("install")...).succeeds(t)
	in := "kettle-" + s.unit
	run := s.waits(s.kettle("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", "2m")...)
	_ = run.cmd.Process.Kill()
	run.wait()
	s.hurryLease(in, "sysop-install-"+in)
	r := s.run(s.kettle("upgrade", "--set", "fail=CrashLoopBackOff", "--timeout", "3s")...)
	s.failed(r, "continues", "not Healthy after 3s", "undone")
	if got := s.valuesOf(); strings.Contains(got, "fail") {
		t.Errorf("values: %s", got)
	}
}

// hurryLease has a lease of who was killed run out at once.
func (s *tea) hurryLease(namespace, name string) {
	s.t.Helper()
	leases := admin(s.c).CoordinationV1().Leases(namespace)
	l, err := leases.Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	*l.Spec.LeaseDurationSeconds = 1
	if _, err := leases.Update(s.t.Context(), l, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// cronApp is an app that the manifest of water.yaml has besides.
const cronApp = `  - name: cron
    roots: [cronjob/cron]
    resources:
    - apiVersion: batch/v1
      kind: CronJob
      metadata: {name: cron}
      spec:
        schedule: '0 0 1 1 *'
        jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: cron, image: 'example.com/cron:1.0.0'}]}}}}
`

// An upgrade that took an app away is rolled back: the app is made again, and it is said what
// of it cannot come back. Rollback never goes forward.
func TestInstallRollbackRemoved(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "removed", "")
	s.brew()
	ns := "tea-" + s.unit
	without, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(without), "  connections:", cronApp+"  connections:", 1)
	write := func(text string) {
		if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cron := func() bool {
		_, err := admin(c).BatchV1().CronJobs(ns).Get(t.Context(), "cron", metav1.GetOptions{})
		return err == nil
	}
	write(with)
	s.run(s.args("install")...).succeeds(t)
	write(string(without))
	s.run(s.args("upgrade")...).succeeds(t)
	if cron() {
		t.Fatal("the upgrade left the CronJob")
	}
	r := s.run("rollback", "tea", "-n", ns, "--yes").succeeds(t)
	if !cron() || !strings.Contains(r.stderr, "is rolled back to revision 1") {
		t.Errorf("the CronJob is there: %v; it says:\n%s", cron(), r.stderr)
	}
	s.refused([]string{"no earlier state"}, "rollback", "tea", "-n", ns, "--yes")

	// Taken away, put back by the manifest, and taken away again by rollback: all in one history.
	s.run(s.args("upgrade")...).succeeds(t)
	write(with)
	s.run(s.args("upgrade")...).succeeds(t)
	if !cron() {
		t.Error("the app was not installed again over the records of the former one")
	}
	s.run("rollback", "tea", "-n", ns, "--yes").succeeds(t)
	if cron() {
		t.Error("rollback left what was installed since")
	}
	s.run("uninstall", "tea", "-n", ns, "--yes").succeeds(t)
	records, err := admin(c).CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(records.Items) != 0 {
		t.Errorf("uninstall left %d records of apps that were removed before: %v", len(records.Items), err)
	}
}

// A first install that fails leaves a record, where its namespace stays.
func TestInstallFailedRecord(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "record", "")
	in := "kettle-" + s.unit
	if _, err := admin(c).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: in}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.failed(s.run(s.kettle("install", "--set", "fail=CrashLoopBackOff", "--timeout", "4s")...), "undone")
	if got := strings.Join(s.history(in, in), ", "); got != "install undone" {
		t.Errorf("history: %q", got)
	}
	if r := s.run("history", in, "--catalog", s.catalog).succeeds(t); !strings.Contains(r.stdout, "undone") {
		t.Errorf("history by name alone:\n%s", r.stdout)
	}
	s.run(s.kettle("install")...).succeeds(t)
}
