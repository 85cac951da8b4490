package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// wholly compares the whole of a stack with the list: its edges, and that all
// that it has is there and is related.
func (l edgeList) wholly(d document) []string {
	out := l.differences(d)
	related := slices.Clone(d.Roots)
	for _, e := range d.Edges {
		related = append(related, e.From, e.To)
	}
	for _, n := range d.Nodes {
		if !slices.Contains(related, n.ID) {
			out = append(out, "stands alone: "+n.ID)
		}
		if n.State != "present" {
			out = append(out, n.State+": "+n.ID)
		}
	}
	for _, g := range d.Gaps {
		out = append(out, "gap: "+g.Message)
	}
	return out
}

// inNamespaces reads a file of testdata about two namespaces.
func inNamespaces(t *testing.T, ns, other, file string) string {
	t.Helper()
	return strings.ReplaceAll(inNamespace(t, ns, file), "OTHER", other)
}

// Whoever collects monitors and rules, wherever they are, needs them and not what
// they are about; a monitor stands for the application, wherever that is; and the
// application knows its monitors and not who scrapes it.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	applyText(t, c, inNamespaces(t, ns, other, "monitoring.yaml"))
	for _, s := range []struct{ root, in, edges string }{
		{"prometheus/main", ns, "monitoring.prometheus.edges"},
		{"alertmanager/main", ns, "monitoring.alertmanager.edges"},
		{"deployment/shop", other, "monitoring.shop.edges"},
		{"servicemonitor/shop", other, "monitoring.shop.edges"},
		{"servicemonitor/outside", ns, "monitoring.shop.edges"},
	} {
		t.Run(s.root, func(t *testing.T) {
			want := parseEdges(t, inNamespaces(t, ns, other, s.edges))
			cluster.Eventually(t, limit, func() error {
				return lists(want.wholly(graph(t, c.Kubeconfig, s.root, "-n", s.in)))
			})
		})
	}
	t.Run("a monitor of nothing", func(t *testing.T) {
		d := graph(t, c.Kubeconfig, "servicemonitor/nothing", "-n", ns)
		if len(d.Nodes) != 1 || len(d.Edges) > 0 {
			t.Errorf("%+v, want it alone", d)
		}
	})
	t.Run("a monitor of what may not be read", func(t *testing.T) {
		kubeconfig := user(t, c, "reader-of-"+ns, ns, "*/*")
		var d document
		cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
			r := sysop(t, kubeconfig, "graph", "servicemonitor/outside", "-n", ns)
			if r.code != 0 {
				return lists([]string{r.stderr})
			}
			return nil
		})
		d = graph(t, kubeconfig, "servicemonitor/outside", "-n", ns)
		if !slices.ContainsFunc(d.Gaps, func(g gap) bool {
			return g.Resource == "services" && g.Namespace == other && g.Reason == "Forbidden"
		}) {
			t.Errorf("gaps %+v, want one of services in %s", d.Gaps, other)
		}
	})
}
