package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// Two Deployments need a Secret that is not there. Both stacks are Missing for it, what
// is optional is no cause, and who waits is told so, or waits until it is there.
func TestHealthWait(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "health-shared.yaml")
	cluster.Eventually(t, limit, func() error { // the Deployments are well, but for the Secret
		d := healthOf(t, c.Kubeconfig, "-n", ns)
		if len(d.Stacks) != 2 {
			return fmt.Errorf("%d stacks: %+v", len(d.Stacks), d.Stacks)
		}
		for i, name := range []string{"back", "front"} {
			s := d.Stacks[i]
			if s.Name != "Deployment.apps/"+ns+"/"+name || s.Health != "Missing" {
				return fmt.Errorf("stack %+v, want %s, Missing", s, name)
			}
			if err := s.caused("Secret/" + ns + "/login Missing NotFound"); err != nil {
				return err
			}
			if s.Causes[0].Why == "" || !matches("*/"+ns+"/"+name+"*", s.Causes[0].Parent) {
				return fmt.Errorf("nothing says who needs it: %+v", s.Causes[0])
			}
			if o := d.object("Deployment.apps/" + ns + "/" + name); o.OwnHealth != "Healthy" || o.PartsHealth != "Missing" {
				return fmt.Errorf("%+v, want Healthy, and Missing below", o)
			}
		}
		if o := d.object("ConfigMap/" + ns + "/theme"); o.ID != "" && (o.OwnHealth != "Missing" || o.Counts) {
			return fmt.Errorf("%+v is optional, and counts", o)
		}
		return nil
	})
	args := []string{"health", "-n", ns}
	run := func(more ...string) result {
		t.Helper()
		return sysop(t, c.Kubeconfig, append(args, more...)...)
	}
	if r := run("--exit-code"); r.code != 2 || !strings.Contains(r.stderr, "2 stacks: 2 Missing") || strings.Contains(r.stderr, "error") {
		t.Errorf("exit code %d, want 2; stderr:\n%s", r.code, r.stderr)
	}
	run("--wait=missing", "--timeout", limit.String()).succeeds(t)
	r := run("--wait", "--timeout", "5s")
	for _, words := range []string{"error: wait for Healthy: ", "Deployment.apps/" + ns + "/back is Missing (Secret/" + ns + "/login: ", "Deployment.apps/" + ns + "/front is Missing", "not reached after 5s", "--timeout"} {
		if r.code != 1 || !strings.Contains(r.stderr, words) {
			t.Errorf("exit code %d, want 1; no %q on stderr:\n%s", r.code, words, r.stderr)
		}
	}
	if !strings.Contains(r.stdout, "Secret/login") {
		t.Errorf("it does not show what it has waited for:\n%s", r.stdout)
	}
	run("deployment/other", "--wait", "--timeout", "1m").fails(t, `"other" not found`, "there are back, front")

	waiting := start(t, c.Kubeconfig, append(args, "--wait", "--timeout", limit.String(), "-o", "json")...)
	suspended := start(t, c.Kubeconfig, append(args, "--wait=Suspended", "--timeout", limit.String())...)
	text := start(t, c.Kubeconfig, append(args, "--watch")...)
	shows(text, "2 stacks: 2 Missing", &text.stderr)
	applyText(t, c, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: %s}\n", ns))
	for _, line := range []string{"  ✔ Healthy  Secret/login\n", "  ✔ Healthy  stack Deployment/back\n", "  ✔ Healthy  stack Deployment/front\n"} {
		shows(text, line, &text.stdout)
	}
	for _, s := range healthIn(t, waiting.wait().succeeds(t)).Stacks {
		if s.Health != "Healthy" || len(s.Causes) > 0 {
			t.Errorf("it waited for %+v", s)
		}
	}
	if err := admin(c).AppsV1().Deployments(ns).Delete(t.Context(), "front", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	shows(text, "  gone  stack Deployment/front\n", &text.stdout)
	if strings.Contains(text.stdout.String(), "\n\n") {
		t.Errorf("a line that says nothing:\n%s", &text.stdout)
	}
	text.interrupted()
	if err := suspended.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if r := suspended.wait(); r.code != 130 || r.stdout != "" || !strings.HasSuffix(r.stderr, "interrupted\n") {
		t.Errorf("who waits is interrupted: exit code %d, want 130; stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	cluster.Eventually(t, limit, func() error { // its pod goes a moment after it
		if r := run("--exit-code"); r.code != 0 || !strings.Contains(r.stderr, "1 stack: 1 Healthy") {
			return fmt.Errorf("exit code %d, stderr:\n%s", r.code, r.stderr)
		}
		return nil
	})
}

// shows waits for words in what a run has written.
func shows(p *process, words string, in *output) {
	p.t.Helper()
	cluster.Eventually(p.t, limit, func() error {
		if !strings.Contains(in.String(), words) {
			return fmt.Errorf("no %q in:\n%s\nstderr:\n%s", words, in, &p.stderr)
		}
		return nil
	})
}
