package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// No command is ever given the data of a Secret or a ConfigMap, even where its
// user may read it: the API server's audit log says what it answered, a proxy
// what it was asked for.
func TestDataIsNeverRead(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	name := "reader-of-all-" + ns
	readsAll(t, c, name)
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	p := proxy(t, c, kubeconfig)
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		return lists(gapsOf(graph(t, p.Kubeconfig(), "deployment/web", "-n", ns)))
	})
	since := time.Now()
	p.Reset()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"graph", "deployment/web", "-n", ns},
		{"graph", "deployment/web", "-n", ns, "--connected", "--why", "-o", "yaml"},
		{"graph", "deployment/web", "-n", ns, "--up"},
		{"graph", "secrets,configmaps", "-A", "-o", "json"},
		{"graph", "secret/web-password", "-n", ns},
		{"path", "deployment/web", "secret/web-password", "-n", ns},
		{"path", "configmap/web-settings", "secret/web-password", "-n", ns},
		{"impact", "secret/web-password", "-n", ns},
		{"impact", "configmap/web-settings", "-n", ns},
		{"man", "secret", "-n", ns},
		{"man", "configmap", "-n", ns, "-o", "json"},
		{"snapshot", "-n", ns, "-o", filepath.Join(dir, "namespace.yaml")},
		{"snapshot", "-A", "-o", filepath.Join(dir, "all.json"), "--include-env"},
		{"snapshot", "deployment/web", "-n", ns, "-o", "-"},
		{"__complete", "graph", "-n", ns, "secret/"},
		{"__complete", "graph", "-n", ns, "configmaps", ""},
		{"__complete", "impact", "-n", ns, "configmap/"},
	} {
		r := sysop(t, p.Kubeconfig(), args...).succeeds(t)
		if args[0] == "__complete" && !strings.Contains(r.stdout, "web-") {
			t.Errorf("%v offers no names:\n%s", args, r.stdout)
		}
	}
	metadataOnly(t, p)
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, e := range events {
		if e.User != name || !slices.Contains([]string{"secrets", "configmaps"}, e.Object.Resource) || e.Object.Group != "" {
			continue
		}
		if e.Data() {
			t.Errorf("%s was answered with data", e.URI)
		}
		if e.Verb != "get" && e.Verb != "list" {
			t.Errorf("%s %s: want get and list only", e.Verb, e.URI)
		}
		if e.Code == 200 {
			answered++
		}
	}
	if answered < 15 {
		t.Errorf("%d answers about Secrets and ConfigMaps in the audit log: the test looks at too few", answered)
	}
}

func gapsOf(d document) []string {
	var out []string
	for _, g := range d.Gaps {
		out = append(out, g.Message)
	}
	return out
}

// readsAll lets the user read everything, Secrets too.
func readsAll(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	userOfAll(t, c, name, rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}})
}
