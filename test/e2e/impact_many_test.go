package e2e

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// A namespace of very many objects is counted exactly, and told in a few lines.
func TestImpactOfMany(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	const many = 2000
	full := ns + "-full"
	applyText(t, c, "{apiVersion: v1, kind: Namespace, metadata: {name: "+full+"}}")
	fillConfigMaps(t, c, full, many)
	cluster.Eventually(t, limit, func() error { // what a controller makes in each namespace
		_, err := admin(c).CoreV1().ConfigMaps(full).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, err = admin(c).CoreV1().ServiceAccounts(full).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	r := newRealm(t, c, ns, full)
	im := r.asks("Namespace/NAMESPACE-full", []string{
		"deleted ConfigMap/NAMESPACE-full/many-* by namespace", "deleted ConfigMap/NAMESPACE-full/kube-root-ca.crt by namespace",
		"deleted ServiceAccount/NAMESPACE-full/default by namespace",
	})
	if len(im.Deleted) != many+2 {
		t.Errorf("%d are deleted, want %d", len(im.Deleted), many+2)
	}
	tree := sysop(t, c.Kubeconfig, "impact", "namespace/"+full).succeeds(t).stdout
	if n := strings.Count(tree, "\n"); n > 12 || !strings.Contains(tree, "2002 objects") || !strings.Contains(tree, "2001") {
		t.Errorf("%d lines, want a few, with the sums:\n%s", n, tree)
	}
	r.deletes(im)
}

// Who may not read something is told what was not looked at, in the document and by a warning,
// and what could be looked at is foretold all the same.
func TestImpactWithoutRights(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	atRest(t, c, ns)
	name := "blind-for-pods-in-" + ns
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	may := rbacv1.PolicyRule{APIGroups: []string{"*"}, Verbs: []string{"get", "list"}}
	served := resources(t, c)
	for _, r := range served {
		if r.Resource != "pods" {
			may.Resources = append(may.Resources, r.Resource)
		}
	}
	userOfAll(t, c, name, may)
	secret := "Secret/" + ns + "/web-password"
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		if r := sysop(t, kubeconfig, "impact", secret, "-n", ns); r.code != 0 {
			return lists([]string{r.stderr})
		}
		return nil
	})
	im, said := foretell(t, kubeconfig, secret, "-n", ns)
	// Its pods may run: nobody could look.
	if err := lists(im.differences([]string{"breaks on restart Deployment.apps/" + ns + "/web"})); err != nil {
		t.Error(err)
	}
	if !slices.Contains(im.UnreadKinds, "Pod") {
		t.Errorf("pods may need it, and were not looked at: %q", im.UnreadKinds)
	}
	// Another test may have brought a definition after the role was written.
	im.Gaps = slices.DeleteFunc(im.Gaps, func(g gap) bool {
		return !slices.ContainsFunc(served, func(r schema.GroupVersionResource) bool { return r.GroupResource().String() == g.Resource })
	})
	if len(im.Gaps) != 1 || im.Gaps[0].Resource != "pods" || im.Gaps[0].Namespace != ns || im.Gaps[0].Reason != "Forbidden" {
		t.Errorf("gaps %+v, want one of pods", im.Gaps)
	}
	if !strings.Contains(said, "warning: not read: pods in "+ns) {
		t.Errorf("no word of pods on stderr:\n%s", said)
	}
	tree := sysop(t, kubeconfig, "impact", secret, "-n", ns).succeeds(t).stdout
	if !strings.Contains(tree, "? unread") || !strings.Contains(tree, "Pod") {
		t.Errorf("nothing of what was not looked at in:\n%s", tree)
	}
}
