package e2e

import (
	"context"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// user makes a user who may read these resources, given as group/resource, in
// the namespace, and returns the kubeconfig file. The rights end with the test.
func user(t *testing.T, c *cluster.Cluster, name, ns string, may ...string) string {
	t.Helper()
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(may) == 0 {
		return kubeconfig
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, m := range may {
		group, resource, _ := strings.Cut(m, "/")
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "list"}})
	}
	rbac := admin(c).RbacV1()
	if _, err := rbac.Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}
	if _, err := rbac.RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, rbac.RoleBindings(ns).Delete(context.Background(), name, metav1.DeleteOptions{}))
		deleted(t, rbac.Roles(ns).Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
	return kubeconfig
}

// userOfAll lets a user do something in the whole cluster, until the test ends.
func userOfAll(t *testing.T, c *cluster.Cluster, name string, may rbacv1.PolicyRule) {
	t.Helper()
	rbac := admin(c).RbacV1()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{may}}
	if _, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, rbac.ClusterRoleBindings().Delete(context.Background(), name, metav1.DeleteOptions{}))
		deleted(t, rbac.ClusterRoles().Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
}

// deleted fails the test unless something is gone.
func deleted(t *testing.T, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// settled applies a file and waits until the stack of the root is that of the
// list of the same name.
func settled(t *testing.T, c *cluster.Cluster, ns, name, root string) document {
	t.Helper()
	applied(t, c, ns, name+".yaml")
	want := parseEdges(t, inNamespace(t, ns, name+".edges"))
	var d document
	cluster.Eventually(t, limit, func() error {
		d = graph(t, c.Kubeconfig, root, "-n", ns)
		return lists(want.differences(d))
	})
	return d
}

// settledWeb is the stack that most tests look at: the Deployment web with all
// that surrounds one.
func settledWeb(t *testing.T, c *cluster.Cluster, ns string) document {
	t.Helper()
	return settled(t, c, ns, "deployment", "deployment/web")
}

// Who may read one namespace sees what is there, and is told what was not read.
func TestUserOfOneNamespace(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	whole := settledWeb(t, c, ns)
	kubeconfig := user(t, c, "reader-of-"+ns, ns, "*/*")
	var d document
	var said string
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		if r := sysop(t, kubeconfig, "graph", "deployment/web", "-n", ns); r.code != 0 {
			return lists([]string{r.stderr})
		}
		return nil
	})
	d, said = graphSaying(t, kubeconfig, "deployment/web", "-n", ns)
	for _, n := range whole.Nodes {
		got := d.node(n.ID)
		switch {
		case n.Namespace == ns && got != n:
			t.Errorf("in the namespace: node %+v, want %+v", got, n)
		case n.Kind == "StorageClass": // of a claim that is bound: it shows if it is there, which nobody knows here
		case n.Namespace == "" && got.State != "unread":
			t.Errorf("outside of the namespace: node %+v, want %s, unread", got, n.ID)
		}
	}
	for _, resource := range []string{"persistentvolumes", "nodes", "customresourcedefinitions.apiextensions.k8s.io"} {
		found := false
		for _, g := range d.Gaps {
			found = found || g.Resource == resource && g.Reason == "Forbidden" && g.Message != ""
		}
		if !found {
			t.Errorf("no gap of %s in %+v", resource, d.Gaps)
		}
		// Of many of one reason, only the first are named on stderr.
		if !strings.Contains(said, resource) && !strings.Contains(said, "more (all of them: -o json)") {
			t.Errorf("nothing about %s on stderr:\n%s", resource, said)
		}
	}
	for _, g := range d.Gaps {
		if g.Namespace == ns {
			t.Errorf("a gap in the namespace that can be read: %+v", g)
		}
	}
}

// A root that cannot be read is an error that says so.
func TestRootThatIsForbidden(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	some := user(t, c, "reader-of-pods-in-"+ns, ns, "/pods", "/services")
	none := user(t, c, "nobody-in-"+ns, ns)
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		if r := sysop(t, some, "graph", "service/web", "-n", ns); r.code != 0 {
			return lists([]string{r.stderr})
		}
		return nil
	})
	for _, c := range []struct {
		name, kubeconfig string
		args, words      []string
	}{
		{"a root of a forbidden kind", some, []string{"graph", "deployment/web"}, []string{"cannot list", "deployments"}},
		{"all roots of a forbidden kind", some, []string{"graph", "deployments"}, []string{"cannot list", "deployments"}},
		{"one root of two", some, []string{"graph", "service/web", "deployment/web"}, []string{"cannot list", "deployments"}},
		{"no rights: graph", none, []string{"graph", "deployment/web"}, []string{"cannot list", "deployments"}},
		{"no rights: path", none, []string{"path", "deployment/web", "pod/x"}, []string{"cannot list", "deployments"}},
		{"no rights: impact", none, []string{"impact", "secret/web-password"}, []string{"cannot list", "secrets"}},
		{"no rights: snapshot of a root", none, []string{"snapshot", "-o", "-", "deployment/web"}, []string{"cannot list", "deployments"}},
		{"no rights: snapshot of the namespace", none, []string{"snapshot", "-o", "-"}, []string{"cannot list"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sysop(t, c.kubeconfig, append(c.args, "-n", ns)...).fails(t, c.words...)
		})
	}
}
