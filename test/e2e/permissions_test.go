package e2e

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
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

// roleOfOurs adds a group that no file of docs/rbac has, as docs/permissions.md shows it, until
// the test ends.
func roleOfOurs(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	served, err := admin(c).Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	var groups []string // this cluster's own, and those of other tests: no operator of the catalogue has them
	for _, g := range served.Groups {
		if g.Name == "kwok.x-k8s.io" || strings.Contains(g.Name, "example.") {
			groups = append(groups, g.Name)
		}
	}
	roles := admin(c).RbacV1().ClusterRoles()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "sysop-view-ours", Labels: map[string]string{"sysop.dev/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}},
	}
	if _, err := roles.Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, roles.Delete(context.Background(), role.Name, metav1.DeleteOptions{}))
	})
}

// reading is every command that only reads, as docs/permissions.md has it.
var reading = []string{
	"stacks -A",
	"graph moodle/moodle-1 -n moodle",
	"path moodle/moodle-1 pvc/data-cluster1-mysql-0 -n moodle",
	"impact configmap/cluster1-mysql -n moodle",
	"health -n moodle",
	"metrics -n moodle",
	"prices show --nodes",
	"check -A",
	"check moodle/moodle-2 -n moodle",
	"man moodle -n moodle",
	"rules list moodle -n moodle",
	"rules lint --all -n moodle",
	"snapshot -n moodle -o -",
	"system init -n moodle",
	"system list -A",
	"regulate neighbours -f demo",
	"monitor plan moodle/moodle-1 -n moodle",
	"autoscale plan -n moodle",
	"backup plan moodle/moodle-1 -n moodle",
	"catalog list",
	"graph clusterrole/cluster-admin -A",
}

// notReading are the commands of plugins.yaml that are not in reading, and why.
var notReading = map[string]string{
	"install": "writes", "upgrade": "writes", "rollback": "writes", "uninstall": "writes", "restore": "needs a backup",
	"history": "reads Secrets of Helm, by the page", "diff": "reads Secrets of Helm, by the page",
	"version": "asks no cluster", "completion": "asks no cluster",
}

// Every command of the suite is tried with the roles of docs/rbac, or there is a reason.
func TestPermissionsOfEveryCommand(t *testing.T) {
	t.Parallel()
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, line := range reading {
		command, _, _ := strings.Cut(line, " ")
		tried[command] = true
	}
	tried["logs"] = true // by TestPermissions, apart from the others
	tried["ui"] = true   // by TestPage: it goes on until it is ended
	for _, c := range s.Commands {
		if tried[c.Name] == (notReading[c.Name] != "") {
			t.Errorf("%s: want it in one of reading and notReading", c.Name)
		}
	}
}

// onlyRead looks into the audit log: all that the user asked for since then was reading, and
// nothing was refused but what docs/permissions.md leaves out.
func onlyRead(t *testing.T, c *cluster.Cluster, user string, since time.Time) {
	t.Helper()
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	answered, logs, refused := 0, 0, map[string]bool{}
	for _, e := range events {
		if e.User != user {
			continue
		}
		review := e.Verb == "create" && e.Object.Group == "authorization.k8s.io" // asks what one may do
		if !review && !slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
			t.Errorf("%s %s: want reading only", e.Verb, e.URI)
		}
		if e.Object.Resource == "pods" && e.Object.Subresource == "log" {
			logs++
		}
		switch {
		case e.Code < 300:
			answered++
		case e.Code == http.StatusForbidden:
			refused[strings.TrimSuffix(e.Object.Resource+"/"+e.Object.Subresource, "/")] = true
		}
	}
	if answered < 100 || logs == 0 {
		t.Errorf("%d answers, and %d requests for logs in the audit log: the test looks at too few", answered, logs)
	}
	if !refused["secrets"] {
		t.Error("no list of Secrets was refused: the user has more than the role")
	}
	delete(refused, "secrets")
	delete(refused, "nodes/proxy")
	if len(refused) > 0 {
		t.Errorf("refused were %v: docs/permissions.md has Secrets and nodes/proxy", slices.Sorted(maps.Keys(refused)))
	}
}

// Who has the roles of docs/rbac reads everything but Secrets and the kubelets, and is told
// just that.
//
// It runs alone: definitions that other tests bring meanwhile would be in no role.
func TestPermissions(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	roles(t, c, "view.yaml", "operators.yaml", "optional.yaml")
	const name = "reader-of-pages"
	viewer, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	boundTo(t, c, name, "sysop-view")
	roleOfOurs(t, c)
	cluster.Eventually(t, limit, func() error { // the control plane aggregates the roles
		if r := sysop(t, viewer, "graph", "moodle/moodle-1", "-n", demo); r.code != 0 || strings.Contains(r.stderr, "kwok") || strings.Contains(r.stderr, ".example.") {
			return lists([]string{r.stderr})
		}
		return nil
	})
	since := time.Now()
	for _, line := range reading {
		r := sysop(t, viewer, strings.Fields(line)...).succeeds(t)
		if r.stdout == "" && !strings.Contains(r.stderr, "no Systems found") {
			t.Errorf("%s: no output", line)
		}
		for told := range strings.Lines(r.stderr) {
			if strings.Contains(told, "orbidden") && !strings.Contains(told, "secrets") && !strings.Contains(told, "nodes/proxy") {
				t.Errorf("%s: %s", line, told)
			}
		}
	}
	// The pods of the example have no logs on this cluster. That these were asked for, and not
	// refused, is in the audit log.
	sysop(t, viewer, "logs", "moodle/moodle-1", "-n", demo, "--tail", "1").fails(t, "no log could be read")
	onlyRead(t, c, name, since)
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
