package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// The journal of regulation is signed: one of an older version is acted on with consent, one
// that somebody wrote who may not read the key never, and who may not read the key sees it.
func TestRegulateJournalTrust(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	before := s.images()
	journals, secrets := admin(c).CoreV1().ConfigMaps(s.ns), admin(c).CoreV1().Secrets(s.ns)
	edit := func(change func(o *corev1.ConfigMap)) {
		t.Helper()
		o, err := journals.Get(t.Context(), "sysop-shop-journal", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		change(o)
		if _, err := journals.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.regulate("stop", "web", "--yes").succeeds(t)
	held := s.images()
	unchanged := func() {
		t.Helper()
		if is := s.images(); !maps.Equal(is, held) {
			t.Errorf("it was written to: %v, want %v", is, held)
		}
	}
	key, err := secrets.Get(t.Context(), "sysop-shop-journal-key", metav1.GetOptions{})
	if err != nil || len(key.Data["key"]) != 32 || key.Immutable == nil || !*key.Immutable {
		t.Fatalf("the key: %v, %v", key, err)
	}
	if out := s.regulate("status"); strings.Contains(out.stderr, "signed") || strings.Contains(out.stderr, "verified") {
		t.Errorf("a signed one: %s", out.stderr)
	}

	// Who may read all but Secrets sees it, with the word, and cannot act.
	reader := "trust-reader-" + s.ns
	userOfAll(t, c, reader, rbacv1.PolicyRule{
		APIGroups: []string{"*"}, Verbs: []string{"get", "list", "watch"},
		Resources: []string{"configmaps", "pods", "services", "events", "endpoints", "endpointslices", "deployments", "replicasets", "statefulsets", "controllerrevisions", "jobs", "cronjobs", "prometheuses", "brokers"},
	})
	kubeconfig, err := c.User(reader)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		if out := s.regulateAs(kubeconfig, "status"); out.code != 0 || !strings.Contains(out.stdout, "web") {
			return fmt.Errorf("exit code %d: %s", out.code, out.stderr)
		}
		return nil
	})
	if out := s.regulateAs(kubeconfig, "status").succeeds(t); !strings.Contains(out.stderr, "not verified") || !strings.Contains(out.stdout, "web") {
		t.Errorf("status of who may not read the key:\n%s%s", out.stdout, out.stderr)
	}
	s.regulateAs(kubeconfig, "recover", "web", "--yes").fails(t)

	// What somebody wrote is refused, with what to do.
	edit(func(o *corev1.ConfigMap) {
		o.Data["journal.json"] = strings.Replace(o.Data["journal.json"], `"had":false`, `"had":true,"was":"evil"`, 1)
	})
	for _, command := range [][]string{{"status"}, {"recover", "web", "--yes"}, {"apply", "--yes"}, {"recover", "web", "--yes", "--accept-unsigned"}} {
		s.regulate(command[0], command[1:]...).fails(t, "the journal cannot be trusted", "sysop-shop-journal-key", "kubectl get configmap/sysop-shop-journal", "delete it")
	}
	edit(func(o *corev1.ConfigMap) {
		o.Data["journal.json"] = strings.Replace(o.Data["journal.json"], `"had":true,"was":"evil"`, `"had":false`, 1)
	})
	s.regulate("status").succeeds(t)
	edit(func(o *corev1.ConfigMap) { delete(o.Data, "mac") })
	s.regulate("recover", "web", "--yes").fails(t, "it has no signature")
	unchanged()

	// Without a key it is that of an older version: listed, agreed to, and signed then.
	if err := secrets.Delete(t.Context(), "sysop-shop-journal-key", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.regulate("status").succeeds(t)
	out := s.regulate("recover", "web", "--yes")
	out.fails(t, "not signed", "--accept-unsigned")
	if !strings.Contains(out.stderr, "Deployment.apps/"+s.ns+"/web") {
		t.Errorf("what it says is not listed:\n%s", out.stderr)
	}
	unchanged()
	if _, err := secrets.Get(t.Context(), "sysop-shop-journal-key", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("signed without consent: %v", err)
	}
	s.regulate("recover", "web", "--yes", "--accept-unsigned").succeeds(t)
	if err := s.freeAll(before); err != nil {
		t.Error(err)
	}
	if o, err := journals.Get(t.Context(), "sysop-shop-journal", metav1.GetOptions{}); err != nil || o.Data["mac"] == "" {
		t.Errorf("it is not signed: %v", err)
	}
}
