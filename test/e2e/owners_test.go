package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// resources are all that can be listed, but for those that the tool leaves out
// on purpose: records of what happened, locks, samples, and Endpoints, which
// say what EndpointSlices say.
func resources(t *testing.T, c *cluster.Cluster) []schema.GroupVersionResource {
	t.Helper()
	served, err := admin(c).Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var out []schema.GroupVersionResource
	for _, l := range served {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.APIResources {
			leftOut := slices.Contains([]string{"events", "endpoints", "leases", "componentstatuses"}, r.Name) || gv.Group == "metrics.k8s.io"
			if slices.Contains(r.Verbs, "list") && !leftOut {
				out = append(out, gv.WithResource(r.Name))
			}
		}
	}
	return out
}

// kindsOf are the types to ask for all there is.
func kindsOf(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	var out []string
	for _, r := range resources(t, c) {
		out = append(out, r.GroupResource().String())
	}
	return out
}

// pair is an owner and what it owns.
type pair struct{ owner, owned types.UID }

// walk collects the pairs of all owner references in the cluster whose owner is
// there.
func walk(t *testing.T, c *cluster.Cluster) map[pair]string {
	t.Helper()
	client := dynamic.NewForConfigOrDie(c.Config())
	there, pairs := map[types.UID]bool{}, map[pair]string{}
	for _, r := range resources(t, c) {
		l, err := client.Resource(r).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("list %s: %v", r, err)
		}
		for _, o := range l.Items {
			there[o.GetUID()] = true
			for _, ref := range o.GetOwnerReferences() {
				pairs[pair{ref.UID, o.GetUID()}] = fmt.Sprintf("%s %s owns %s %s/%s", ref.Kind, ref.Name, o.GetKind(), o.GetNamespace(), o.GetName())
			}
		}
	}
	maps.DeleteFunc(pairs, func(p pair, _ string) bool { return !there[p.owner] })
	return pairs
}

// The owners that the graph shows are those that a walk of its own finds, over
// the whole cluster.
func TestOwnersEqualAWalk(t *testing.T) {
	c := shared.Cluster(t)
	example(t, c)
	ns := c.Namespace(t)
	applied(t, c, ns, "prometheus.yaml")
	applied(t, c, ns, "deployment.yaml")
	kinds := strings.Join(kindsOf(t, c), ",")
	cluster.Eventually(t, 3*limit, func() error { // the namespaces of other tests are being emptied
		before := walk(t, c)
		d := graph(t, c.Kubeconfig, kinds, "-A")
		if after := walk(t, c); !maps.Equal(before, after) || len(after) < 50 {
			return errors.New("the cluster does not come to rest")
		}
		return lists(compareOwners(before, d))
	})
}

func compareOwners(want map[pair]string, d document) []string {
	uids := map[string]types.UID{}
	for _, n := range d.Nodes {
		uids[n.ID] = types.UID(n.UID)
	}
	var out []string
	got := map[pair]bool{}
	for _, e := range d.Edges {
		if e.Relation != "owns" || e.Via != "owner" {
			continue
		}
		p := pair{uids[e.From], uids[e.To]}
		got[p] = true
		if want[p] == "" {
			out = append(out, "no such reference: "+e.line())
		}
	}
	for p, what := range want {
		if !got[p] {
			out = append(out, "not found: "+what)
		}
	}
	return out
}
