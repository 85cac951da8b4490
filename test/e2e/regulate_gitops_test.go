package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// What Argo CD keeps as it is would be put back at once: it is refused, or Argo CD is told
// to leave it alone first, and last told to go on.
func TestRegulateUnderGitOps(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	defineForAll(t, c, inNamespace(t, "", "regulate.application.yaml"))
	applyText(t, c, fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: %[1]s}
spec: {destination: {server: "https://kubernetes.default.svc", namespace: %[1]s}, syncPolicy: {automated: {selfHeal: true}}}
status:
  resources: [{group: apps, version: v1, kind: Deployment, namespace: %[1]s, name: web, status: Synced}]
`, s.ns))
	s.patch("apps", "v1", "deployments", "web", fmt.Sprintf(`{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"web:apps/Deployment:%s/web"}}}`, s.ns))
	application := func() *unstructured.Unstructured {
		return s.get("argoproj.io", "v1alpha1", "applications", "web")
	}
	skipped := func() bool { return application().GetAnnotations()["argocd.argoproj.io/skip-reconcile"] == "true" }
	before := s.images()
	was, err := lasting(application())
	if err != nil {
		t.Fatal(err)
	}

	t.Run("refused", func(t *testing.T) {
		s.t = t
		r := s.regulate("stop", "web", "--yes")
		if said := r.stdout + r.stderr; !strings.Contains(said, "Application") || !strings.Contains(said, "gitops") {
			t.Errorf("exit code %d, no word of the Application, or of a way out:\n%s", r.code, said)
		}
		if err := s.freeAll(before); err != nil {
			t.Error(err)
		}
	})
	t.Run("suspended first", func(t *testing.T) {
		s.t = t
		s.manifest = s.manifested("suspend.yaml", "gitops: refuse", "gitops: suspend")
		p := proxy(t, c, "")
		s.regulateAs(p.Kubeconfig(), "stop", "web", "--yes").succeeds(t)
		suspended, paused := writtenAt(p.Requests(), "/applications/web"), writtenAt(p.Requests(), "/deployments/web")
		if suspended.IsZero() || paused.IsZero() || paused.Before(suspended) {
			t.Errorf("the Application was suspended at %s, the Deployment paused at %s", suspended, paused)
		}
		held := s.get("apps", "v1", "deployments", "web")
		if now, _, _ := unstructured.NestedBool(held.Object, "spec", "paused"); !now || !skipped() {
			t.Errorf("paused: %t, Application left alone: %t", now, skipped())
		}
		p.Reset()
		s.regulateAs(p.Kubeconfig(), "recover", "web", "--yes").succeeds(t)
		resumed, freed := writtenAt(p.Requests(), "/applications/web"), writtenAt(p.Requests(), "/deployments/web")
		if resumed.IsZero() || freed.IsZero() || resumed.Before(freed) {
			t.Errorf("the Deployment was let go at %s, the Application resumed at %s", freed, resumed)
		}
		cluster.Eventually(t, limit, func() error { return s.freeAll(before) })
		if now, err := lasting(application()); err != nil || now != was {
			t.Errorf("the Application was not restored: %s %v", firstDifference(was, now), err)
		}
	})
}

// writtenAt is when an object was first written to.
func writtenAt(requests []faults.Request, path string) time.Time {
	for _, q := range requests {
		if q.Method != "GET" && strings.HasSuffix(q.Path, path) && !q.Query.Has("dryRun") {
			return q.Time
		}
	}
	return time.Time{}
}
