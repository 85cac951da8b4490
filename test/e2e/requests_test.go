package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// crossing are the kinds that are listed in the whole cluster for a root in a
// namespace: what rules say reaches into it from outside, and the definitions,
// which declare rules. The last are for prometheus-operator, which is installed: monitors
// of what is in another namespace, and collectors that choose namespaces by their labels.
var crossing = []string{
	"customresourcedefinitions", "clusterrolebindings", "rolebindings", "volumeattachments",
	"apiservices", "mutatingwebhookconfigurations", "validatingwebhookconfigurations",
	"servicemonitors", "podmonitors", "probes", "namespaces",
}

// asked is a request by what it asks for.
type asked struct {
	resource, namespace, name string
	discovery                 bool
}

func parsePath(path string) asked {
	p := strings.Split(strings.Trim(path, "/"), "/")
	skip := 2 // api/v1
	if p[0] == "apis" {
		skip = 3
	}
	if len(p) <= skip {
		return asked{discovery: true}
	}
	p = p[skip:]
	var a asked
	if p[0] == "namespaces" && len(p) > 2 {
		a.namespace, p = p[1], p[2:]
	}
	a.resource = p[0]
	if len(p) > 1 {
		a.name = p[1]
	}
	return a
}

// listsOf counts the lists that were asked for; further pages are not counted.
func listsOf(p *faults.Proxy) map[asked]int {
	out := map[asked]int{}
	for _, r := range p.Requests() {
		if a := parsePath(r.Path); !a.discovery && a.name == "" && r.Query.Get("continue") == "" {
			out[a]++
		}
	}
	return out
}

// A root in a namespace costs what the namespace costs: no kind is listed
// twice, next to none in the whole cluster, and what other namespaces hold does
// not matter.
func TestRequestsOfARootInANamespace(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	whole := settledWeb(t, c, ns)
	p := proxy(t, c, "")
	same(t, whole, graph(t, p.Kubeconfig(), "deployment/web", "-n", ns))
	asksForLittle(t, p, ns)
	before := len(p.Requests())
	load(t, c, ns)
	p.Reset()
	same(t, whole, graph(t, p.Kubeconfig(), "deployment/web", "-n", ns))
	after := len(p.Requests())
	t.Logf("%d requests before, %d after 5,000 objects more, %d of them lists", before, after, len(listsOf(p)))
	if before != after {
		t.Errorf("%d requests after loading other namespaces, %d before", after, before)
	}
}

// A stack that reaches into another namespace reads that one too, and nothing
// twice.
func TestRequestsOfAStackInTwoNamespaces(t *testing.T) {
	c := shared.Cluster(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	applied(t, c, other, "deployment.yaml")
	client := strings.ReplaceAll(inNamespace(t, ns, "client.yaml"), "OTHER", other)
	applyText(t, c, client)
	p := proxy(t, c, "")
	var d document
	cluster.Eventually(t, limit, func() error {
		p.Reset()
		if d = graph(t, p.Kubeconfig(), "deployment/client", "-n", ns); d.node("Ingress.networking.k8s.io/"+other+"/web").State != "present" {
			return fmt.Errorf("the Ingress of the other namespace is not there: %v", lines(d.Edges))
		}
		return nil
	})
	asksForLittle(t, p, ns, other)
}

// asksForLittle looks at the requests that the proxy saw.
func asksForLittle(t *testing.T, p *faults.Proxy, namespaces ...string) {
	t.Helper()
	lists := listsOf(p)
	for a, n := range lists {
		switch {
		case n > 1:
			t.Errorf("%+v is listed %d times", a, n)
		case a.namespace == "" && !slices.Contains(crossing, a.resource):
			t.Errorf("%s is listed in the whole cluster", a.resource)
		case a.namespace != "" && !slices.Contains(namespaces, a.namespace):
			t.Errorf("%s is listed in %s", a.resource, a.namespace)
		case a.namespace != "" && lists[asked{resource: a.resource}] > 0:
			t.Errorf("%s is listed in the whole cluster, and again in %s", a.resource, a.namespace)
		case slices.Contains([]string{"events", "endpoints", "leases"}, a.resource):
			t.Errorf("%s is listed, which is part of no stack", a.resource)
		}
	}
	gets := map[asked]int{}
	for _, r := range p.Requests() {
		if a := parsePath(r.Path); a.name != "" {
			gets[a]++
		}
		if r.Method != "GET" {
			t.Errorf("%s %s: it only reads", r.Method, r.Path)
		}
	}
	for a, n := range gets {
		if n > 1 {
			t.Errorf("%+v is asked for %d times", a, n)
		}
	}
}

// load fills other namespaces with 5,000 objects, past the API server, and takes
// them away when the test ends: other tests read the whole cluster.
func load(t *testing.T, c *cluster.Cluster, tag string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, c.Binaries().Path("loader"), "-etcd", c.Etcd, "-tag", tag+"-load",
		"-namespaces", "5", "-configmaps", "5000").CombinedOutput()
	if err != nil {
		t.Fatalf("load: %v\n%s", err, out)
	}
	namespaces, err := admin(c).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for _, ns := range namespaces.Items {
		if !strings.HasPrefix(ns.Name, tag+"-load") {
			continue
		}
		loaded++
		t.Cleanup(func() { // the test's context has ended by now
			if err := admin(c).CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	if loaded != 5 {
		t.Fatalf("%d namespaces were loaded, want 5\n%s", loaded, out)
	}
}

// metadataOnly checks that Secrets and ConfigMaps were asked for in no form but
// that of their metadata.
func metadataOnly(t *testing.T, p *faults.Proxy) {
	t.Helper()
	n := 0
	for _, r := range p.Requests() {
		if a := parsePath(r.Path); a.resource != "secrets" && a.resource != "configmaps" {
			continue
		}
		n++
		for form := range strings.SplitSeq(r.Accept, ",") {
			if !strings.Contains(form, ";as=PartialObjectMetadata") {
				t.Errorf("%s accepts %q", r.Path, form)
			}
		}
	}
	if n == 0 {
		t.Error("no request for Secrets or ConfigMaps")
	}
}
