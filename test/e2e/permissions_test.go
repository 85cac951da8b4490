package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// roles applies what docs/permissions.md says, and none of it allows a write.
func roles(t *testing.T, c *cluster.Cluster, files ...string) {
	t.Helper()
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join("../../docs/rbac", f))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := apply.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, o := range objects {
			var role rbacv1.ClusterRole
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			for _, rule := range role.Rules {
				for _, verb := range rule.Verbs {
					if !slices.Contains([]string{"get", "list", "watch"}, verb) {
						t.Errorf("%s: %s allows %s of %s", f, role.Name, verb, rule.Resources)
					}
				}
				if f == "view.yaml" && (slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.APIGroups, "")) && slices.Contains(rule.Resources, "*") {
					t.Errorf("%s: %s reads secrets", f, role.Name)
				}
			}
		}
		if _, err := c.Apply(t.Context(), objects); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
}

// boundTo gives a user a cluster role, until the test ends.
func boundTo(t *testing.T, c *cluster.Cluster, user, role string) {
	t.Helper()
	bindings := admin(c).RbacV1().ClusterRoleBindings()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user + "-" + role},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, bindings.Delete(context.Background(), binding.Name, metav1.DeleteOptions{}))
	})
}

// reading is every command that only reads, as docs/permissions.md has it.
var reading = []string{
	"stacks -A",
	"graph moodle/moodle-1 -n moodle",
	"path moodle/moodle-1 pvc/data-cluster1-mysql-0 -n moodle",
	"impact configmap/cluster1-mysql -n moodle",
	"health -n moodle",
	"logs moodle/moodle-1 -n moodle --tail 1",
	"metrics -n moodle",
	"prices show --nodes",
	"check -A",
	"check moodle/moodle-2 -n moodle",
	"man moodle -n moodle",
	"rules list moodle -n moodle",
	"rules lint -n moodle",
	"snapshot -n moodle -o -",
	"system init -n moodle",
	"system list -A",
	"regulate neighbours -f demo",
	"catalog list",
	"graph clusterrole/cluster-admin -A",
}

// Who has the roles of docs/rbac reads everything but Secrets and the kubelets, and is told
// just that.
func TestPermissions(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	settledExample(t, c)
	roles(t, c, "view.yaml", "operators.yaml", "optional.yaml")
	const name = "reader-of-pages"
	viewer, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	boundTo(t, c, name, "sysop-view")
	cluster.Eventually(t, limit, func() error { // the control plane aggregates the roles
		if r := sysop(t, viewer, "graph", "moodle/moodle-1", "-n", demo); r.code != 0 || strings.Contains(strings.ReplaceAll(r.stderr, "secrets", ""), "forbidden") {
			return lists([]string{r.stderr})
		}
		return nil
	})
	for _, line := range reading {
		r := sysop(t, viewer, strings.Fields(line)...).succeeds(t)
		if r.stdout == "" {
			t.Errorf("%s: no output", line)
		}
		for told := range strings.Lines(r.stderr) {
			if strings.Contains(told, "orbidden") && !strings.Contains(told, "secrets") && !strings.Contains(told, "nodes/proxy") {
				t.Errorf("%s: %s", line, told)
			}
		}
	}
	all, some := graph(t, c.Kubeconfig, "moodle/moodle-1", "-n", demo), graph(t, viewer, "moodle/moodle-1", "-n", demo)
	ofSecret := func(e edge) bool { return strings.HasPrefix(e.From, "Secret/") || strings.HasPrefix(e.To, "Secret/") }
	missing(t, "edge that needs no Secret", slices.DeleteFunc(slices.Clone(all.Edges), ofSecret), some.Edges)
	missing(t, "edge that an administrator does not see", some.Edges, all.Edges)
	for _, n := range some.Nodes {
		if want := all.node(n.ID).State; n.State != want && (n.Kind != "Secret" || n.State != "unread") {
			t.Errorf("%s is %s, to an administrator %s", n.ID, n.State, want)
		}
	}
	if len(some.Gaps) != 1 || some.Gaps[0].Resource != "secrets" {
		t.Errorf("gaps %+v: want the Secrets", some.Gaps)
	}
	boundTo(t, c, name, "sysop-view-secrets")
	cluster.Eventually(t, limit, func() error {
		if whole := graph(t, viewer, "moodle/moodle-1", "-n", demo); len(whole.Gaps) > 0 || len(whole.Edges) != len(all.Edges) {
			return lists([]string{"with Secrets it is not yet what an administrator sees"})
		}
		return nil
	})
	same(t, all, graph(t, viewer, "moodle/moodle-1", "-n", demo))
}
