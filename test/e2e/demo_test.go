package e2e

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// demo is the namespace of the example.
const demo = "moodle"

var demoOnce sync.Once

// example applies the example once, for all tests of it. It stays: its
// namespace and its cluster-wide objects have names of their own.
func example(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	demoOnce.Do(func() {
		objects, err := apply.ReadFiles("../../examples/demo")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Apply(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		runNow(t, c, demo, "wordpress-backup") // its schedule says: at night
	})
}

// The list of the example's edges holds on the real cluster, where controllers
// and cert-manager have made anew what they make.
func TestExample(t *testing.T) { settledExample(t, shared.Cluster(t)) }

// settledExample applies the example and waits until its edges are those of the
// list: until every controller has made what it makes.
func settledExample(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	example(t, c)
	b, err := os.ReadFile("../../examples/demo.edges")
	if err != nil {
		t.Fatal(err)
	}
	want := parseEdges(t, string(b))
	types := strings.Join(kindsOf(t, c), ",")
	cluster.Eventually(t, limit, func() error {
		d := graph(t, c.Kubeconfig, types, "-A")
		others := map[string]bool{} // volumes that other tests claim are named like the example's
		for _, e := range d.Edges {
			if e.To == "StorageClass.storage.k8s.io/kwok-volume" {
				others[e.From] = true
			}
		}
		d.Edges = slices.DeleteFunc(d.Edges, func(e edge) bool { return others[e.From] || !ofExample(e.From) })
		return lists(want.differences(d))
	})
}

// ofExample says whether the list tells of what the object points to: it is of
// the example's namespace, or one of its cluster-wide objects.
func ofExample(id string) bool {
	kind, rest, _ := strings.Cut(id, "/")
	if strings.HasPrefix(rest, demo+"/") {
		return true
	}
	volume := kind == "PersistentVolume" && (strings.HasPrefix(rest, "pvc-") || rest == "spare-volume")
	return volume || slices.Contains([]string{
		"StorageClass.storage.k8s.io/standard", "ClusterRoleBinding.rbac.authorization.k8s.io/moodle-storage-reader",
	}, id)
}
