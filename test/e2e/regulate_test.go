package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// The shop: db fails, and who needs it is held, by real operators' fields, with evidence;
// db is well, and all is as it was, byte for byte.
func TestRegulate(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	t.Run("who needs whom", func(t *testing.T) {
		d := regulationOf(t, s.regulate("plan", "-o", "json").succeeds(t))
		needs := map[string]string{}
		for _, a := range d.Apps {
			needs[a.App] = strings.Join(a.Needs, " ")
			if a.Health != "Healthy" || a.State != "Free" {
				t.Errorf("%s is %s, %s: want Healthy, Free", a.App, a.Health, a.State)
			}
		}
		if needs["web"] != "db" || needs["worker"] != "broker db" && needs["worker"] != "db broker" || needs["db"]+needs["broker"]+needs["monitoring"] != "" {
			t.Errorf("needs %v, want web: db, worker: broker and db, and nothing else", needs)
		}
		if len(d.Steps)+len(d.Refused) > 0 {
			t.Errorf("steps %+v, refused %+v of a shop that is well", d.Steps, d.Refused)
		}
	})
	before := s.images()
	t.Run("apply", func(t *testing.T) {
		s.t = t
		s.regulate("apply", "--yes").succeeds(t)
		since := time.Now().Add(-time.Second)
		s.broken("CrashLoopBackOff")
		applying(s, s.heldAll)
		evidence(s, since)
		s.broken("")
		applying(s, func() error { return s.freeAll(before) })
	})
	t.Run("watch", func(t *testing.T) {
		s.t = t
		watch := startFor(t, 2*limit, c.Kubeconfig, "regulate", "watch", "-f", s.manifest, "--yes")
		s.broken("CrashLoopBackOff")
		cluster.Eventually(t, limit, s.heldAll)
		s.broken("")
		cluster.Eventually(t, limit, func() error { return s.freeAll(before) })
		if err := watch.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if r := watch.wait(); r.code != 0 && r.code != 130 || !strings.Contains(r.stdout, "web") {
			t.Errorf("exit code %d after an interrupt, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
	})
	t.Run("run", func(t *testing.T) {
		s.t = t
		runs(s, before)
	})
	t.Run("history", func(t *testing.T) {
		s.t = t
		d := regulationOf(t, s.regulate("history", "-o", "json").succeeds(t))
		count := map[string]int{}
		for _, r := range d.Records {
			if r.Error {
				t.Errorf("an error: %+v", r)
			}
			count[r.App+" "+r.Signal]++
		}
		for _, app := range []string{"web", "worker", "monitoring"} {
			if count[app+" Stop"] == 0 || count[app+" Recover"] == 0 {
				t.Errorf("%s: %v, want records of Stop and Recover", app, count)
			}
		}
	})
}

// applying runs regulate apply, as somebody would who looks now and then, until something
// is so.
func applying(s *shop, so func() error) {
	s.t.Helper()
	cluster.Eventually(s.t, limit, func() error {
		if r := s.regulate("apply", "--yes"); r.code != 0 {
			s.t.Fatalf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
		return so()
	})
}

// evidence looks at what says why everybody is held: the status, Events, the journal, and
// the operators that took note.
func evidence(s *shop, since time.Time) {
	s.t.Helper()
	for name, h := range s.status() {
		if len(h.Causes) == 0 || h.Causes[0].App != "db" || !strings.Contains(h.Causes[0].Reason, "db") {
			s.t.Errorf("%s is held because of %+v: want db", name, h.Causes)
		}
		if len(h.Operations) == 0 {
			s.t.Errorf("%s is held by no operations", name)
		}
		for _, op := range h.Operations {
			if op.State != "Done" || op.Target == "" || op.Text == "" {
				s.t.Errorf("%s: operation %+v: want Done, with a target and a text", name, op)
			}
		}
	}
	for _, a := range regulationOf(s.t, s.regulate("plan", "-o", "json").succeeds(s.t)).Apps {
		want := "Held"
		if a.App == "db" {
			want = "Cause"
		}
		if a.State != want {
			s.t.Errorf("%s is %s, want %s", a.App, a.State, want)
		}
	}
	cluster.Eventually(s.t, limit, func() error { return s.told(since) })
	journal, err := admin(s.c).CoreV1().ConfigMaps(s.ns).Get(s.t.Context(), "sysop-shop-journal", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	if journal.Labels["sysop.dev/system"] != "shop" || !strings.Contains(fmt.Sprint(journal.Data), "worker") {
		s.t.Errorf("journal %v with labels %v", journal.Data, journal.Labels)
	}
	cluster.Eventually(s.t, limit, func() error { // the operator says that it leaves it alone, the pods go
		p := s.get("monitoring.coreos.com", "v1", "prometheuses", "shop")
		if paused, _, _ := unstructured.NestedBool(p.Object, "status", "paused"); !paused {
			return fmt.Errorf("prometheus-operator says nothing of paused")
		}
		pods, err := admin(s.c).CoreV1().Pods(s.ns).List(s.t.Context(), metav1.ListOptions{LabelSelector: "app=worker"})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods of the worker run", len(pods.Items))
		}
		return err
	})
}

// runs runs a command while the neighbours of db are held: one that looks at who is held,
// and one that fails.
func runs(s *shop, before map[string]string) {
	s.t.Helper()
	// What is run has the environment of who runs it: the kubeconfig, too.
	r := s.regulate("run", "--app", "db", "--yes", "--timeout", limit.String(), "--", plugin, "regulate", "status", "-f", s.manifest, "-o", "json").succeeds(s.t)
	during := map[string]bool{}
	for _, h := range regulationOf(s.t, r).Holds {
		during[h.App] = h.Phase == "Held" && len(h.Causes) == 1 && h.Causes[0].Run != ""
	}
	if !during["web"] || !during["worker"] || len(during) != 2 {
		s.t.Errorf("held by a run while it runs: %v, want web and worker; stderr:\n%s", during, r.stderr)
	}
	if err := s.freeAll(before); err != nil {
		s.t.Error(err)
	}
	r = s.regulate("run", "--app", "db", "--yes", "--timeout", limit.String(), "--", "/bin/sh", "-c", "exit 7")
	if r.code != 7 || r.stdout != "" {
		s.t.Errorf("exit code %d, want that of the command, 7; stdout %q, stderr:\n%s", r.code, r.stdout, r.stderr)
	}
	if err := s.freeAll(before); err != nil {
		s.t.Errorf("after a command that failed: %v", err)
	}
	// What breaks db leaves the neighbours held, and says so.
	s.broken("CrashLoopBackOff")
	cluster.Eventually(s.t, limit, func() error {
		if d := healthOf(s.t, s.c.Kubeconfig, "statefulset/db", "-n", s.ns); d.Stacks[0].Health != "Degraded" {
			return fmt.Errorf("db is %s", d.Stacks[0].Health)
		}
		return nil
	})
	r = s.regulate("run", "--app", "db", "--yes", "--timeout", "2s", "--", "/bin/sh", "-c", "exit 0")
	if r.code != 2 || !strings.Contains(r.stderr, "STILL HELD") {
		s.t.Errorf("exit code %d, want 2 and a clear word:\n%s", r.code, r.stderr)
	}
	if holds := s.status(); len(holds) != 2 {
		s.t.Errorf("held %v, want web and worker", holds)
	}
	s.broken("")
	for _, app := range []string{"worker", "web"} {
		s.regulate("recover", app, "--yes").succeeds(s.t)
	}
	applying(s, func() error { return s.freeAll(before) })
}

// What somebody has changed since is left as it is, and told; --force puts it back.
func TestRegulateLeavesWhatChanged(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	replicas := func() int64 {
		n, _, _ := unstructured.NestedInt64(s.get("apps", "v1", "deployments", "worker").Object, "spec", "replicas")
		return n
	}
	s.regulate("stop", "worker", "--yes").succeeds(t)
	if n := replicas(); n != 0 {
		t.Fatalf("%d replicas of the worker that was stopped", n)
	}
	s.patch("apps", "v1", "deployments", "worker", `{"spec":{"replicas":2}}`)
	r := s.regulate("recover", "worker", "--yes", "-o", "json")
	d, said := regulationOf(t, r), r.code == 1 && strings.Contains(r.stderr, "--force")
	if !said {
		t.Errorf("exit code %d, want 1 and a way out:\n%s", r.code, r.stderr)
	}
	said = false
	for _, r := range append(d.Done, d.Failed...) {
		said = said || strings.HasSuffix(r.Target, "worker") && strings.Contains(r.Result, "not reverted")
	}
	if n := replicas(); n != 2 || !said {
		t.Errorf("%d replicas, want the 2 that somebody wants, and a word of it: %+v", n, d)
	}
	if suspended, _, _ := unstructured.NestedBool(s.get("batch", "v1", "cronjobs", "report").Object, "spec", "suspend"); suspended {
		t.Error("what nobody changed was not put back")
	}
	if holds := s.status(); len(holds) > 0 {
		t.Errorf("held: %+v", holds)
	}

	s.regulate("stop", "worker", "--yes").succeeds(t)
	s.patch("apps", "v1", "deployments", "worker", `{"spec":{"replicas":1}}`)
	s.regulate("recover", "worker", "--yes", "--force").succeeds(t)
	if n := replicas(); n != 2 {
		t.Errorf("%d replicas after --force, want the 2 from before", n)
	}
	// What was so before is nobody's to take back.
	s.patch("batch", "v1", "cronjobs", "report", `{"spec":{"suspend":true}}`)
	s.regulate("stop", "worker", "--yes").succeeds(t)
	s.regulate("recover", "worker", "--yes").succeeds(t)
	if suspended, _, _ := unstructured.NestedBool(s.get("batch", "v1", "cronjobs", "report").Object, "spec", "suspend"); !suspended {
		t.Error("a CronJob that somebody else had suspended runs again")
	}
}

// A dry run keeps nothing, whichever.
func TestRegulateDryRun(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	before := s.images()
	for _, how := range []string{"client", "server"} {
		r := s.regulate("stop", "web", "--yes", "--dry-run="+how, "-o", "json").succeeds(t)
		var d map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || !strings.Contains(r.stdout, "web") {
			t.Errorf("--dry-run=%s says %s %v", how, r.stdout, err)
		}
		if err := s.freeAll(before); err != nil {
			t.Errorf("--dry-run=%s: %v", how, err)
		}
	}
}
