package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// definitionsRead counts the definitions that were read whole, by the names that
// were asked for.
func definitionsRead(p *faults.Proxy) int {
	n := 0
	for _, r := range p.Requests() {
		if a := parsePath(r.Path); a.resource == "customresourcedefinitions" && a.name != "" {
			n++
		}
	}
	return n
}

const byContent = `
Widget.undeclared.example.com/NAMESPACE/w --needs--> Gadget.undeclared.example.com/NAMESPACE/g
Gadget.undeclared.example.com/NAMESPACE/g --needs--> ConfigMap/NAMESPACE/settings
Gadget.undeclared.example.com/NAMESPACE/g --needs--> Secret/NAMESPACE/tls
Gadget.undeclared.example.com/NAMESPACE/g --needs--> Service/NAMESPACE/web
`

const bySchema = `
Gadget.undeclared.example.com/NAMESPACE/g --needs--> ConfigMap/NAMESPACE/more
Gadget.undeclared.example.com/NAMESPACE/g --needs--> Secret/NAMESPACE/login
`

// Where nothing is declared, the content of objects and the schemas of their kinds
// tell; schemas are read once, and the cache of them changes no answer.
func TestInference(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	define(t, c, inNamespace(t, ns, "undeclared.definitions.yaml"))
	applied(t, c, ns, "undeclared.yaml")
	content := parseEdges(t, strings.ReplaceAll(byContent, "NAMESPACE", ns))
	all := parseEdges(t, strings.ReplaceAll(byContent+bySchema, "NAMESPACE", ns))
	root := []string{"widget/w", "-n", ns}

	t.Run("cache", func(t *testing.T) {
		p := proxy(t, c, "")
		dir := t.TempDir()
		noDir := filepath.Join(dir, "a-file", "cache")
		if err := os.WriteFile(filepath.Dir(noDir), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var cold document
		for _, run := range []struct {
			name, dir string
			read      int
		}{
			{"cold", filepath.Join(dir, "cache"), 2}, {"warm", filepath.Join(dir, "cache"), 0}, {"unwritable", noDir, 2}, {"still unwritable", noDir, 2},
		} {
			p.Reset()
			d := graph(t, p.Kubeconfig(), append(root, "--cache-dir", run.dir)...)
			if got := all.wholly(d); len(got) > 0 {
				t.Errorf("%s:\n%s", run.name, strings.Join(got, "\n"))
			}
			if got := definitionsRead(p); got != run.read {
				t.Errorf("%s: %d definitions were read, want %d", run.name, got, run.read)
			}
			for _, e := range d.Edges {
				if !e.Inferred {
					t.Errorf("%s: %+v is not marked as a guess", run.name, e)
				}
			}
			if run.name == "cold" {
				cold = d
				continue
			}
			same(t, cold, d)
		}
		// A definition that changes makes the cache stale.
		definition, err := definitionsOf(c).Get(t.Context(), "gadgets.undeclared.example.com", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names := []any{"gad"}
		if err := unstructured.SetNestedSlice(definition.Object, names, "spec", "names", "shortNames"); err != nil {
			t.Fatal(err)
		}
		if _, err := definitionsOf(c).Update(t.Context(), definition, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		p.Reset()
		same(t, cold, graph(t, p.Kubeconfig(), append(root, "--cache-dir", filepath.Join(dir, "cache"))...))
		if got := definitionsRead(p); got != 1 {
			t.Errorf("%d definitions were read after one has changed, want 1", got)
		}
	})

	t.Run("no guesses", func(t *testing.T) {
		name := "no-guesses-" + ns
		readsAll(t, c, name)
		kubeconfig, err := c.User(name)
		if err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
			return lists(gapsOf(graph(t, kubeconfig, root...)))
		})
		since := time.Now()
		d := graph(t, kubeconfig, append(root, "--no-inferred")...)
		if len(d.Nodes) != 1 || len(d.Edges) > 0 || len(d.Gaps) > 0 {
			t.Errorf("%+v, want the root alone", d)
		}
		events, err := c.AuditEvents(since)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, e := range events {
			if e.User != name {
				continue
			}
			asked++
			if e.Object.Resource == "customresourcedefinitions" && e.Object.Name != "" {
				t.Errorf("%s was read", e.URI)
			}
		}
		if asked == 0 {
			t.Error("the audit log knows nothing of it")
		}
	})

	t.Run("without the right to read definitions", func(t *testing.T) {
		for _, u := range []struct {
			name    string
			list    bool
			message string
		}{{"none", false, "cannot list"}, {"only lists", true, "from their content alone"}} {
			name := strings.ReplaceAll(u.name, " ", "-") + "-of-" + ns
			kubeconfig := user(t, c, name, ns, "*/*")
			if u.list {
				userOfAll(t, c, name, rbacv1.PolicyRule{
					APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"list"},
				})
			}
			cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
				r := sysop(t, kubeconfig, append([]string{"graph", "-o", "json"}, root...)...)
				if r.code != 0 {
					return lists([]string{r.stderr})
				}
				d := graph(t, kubeconfig, root...)
				var gaps []gap
				for _, g := range d.Gaps {
					if strings.HasPrefix(g.Resource, "customresourcedefinitions") {
						gaps = append(gaps, g)
					}
				}
				if len(gaps) != 1 || gaps[0].Reason != "Forbidden" || !strings.Contains(gaps[0].Message, u.message) {
					return fmt.Errorf("%s: gaps %+v, want one with %q", u.name, gaps, u.message)
				}
				return lists(content.differences(d))
			})
		}
	})
}

// manyDefinitions is what a cluster with Crossplane and a few clouds has.
const manyDefinitions = 300

// Definitions of kinds without an object in the namespace are not read, however
// many there are. It has a cluster of its own: no other test is to see them.
func TestManyDefinitions(t *testing.T) {
	t.Parallel()
	c := cluster.StartFor(t, cluster.Options{})
	const ns = "default"
	cluster.Eventually(t, limit, func() error {
		_, err := admin(c).CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "alone"}}, metav1.CreateOptions{})
		return err
	})
	p := proxy(t, c, "")
	graph(t, p.Kubeconfig(), "configmap/alone", "-n", ns)
	before := len(p.Requests())
	fillDefinitions(t, c, manyDefinitions)
	cluster.Eventually(t, 2*limit, func() error {
		lists, err := admin(c).Discovery().ServerPreferredResources()
		if err != nil {
			return err
		}
		served := 0
		for _, l := range lists {
			if strings.HasPrefix(l.GroupVersion, "many.example.com/") {
				served = len(l.APIResources)
			}
		}
		if served != manyDefinitions {
			return fmt.Errorf("%d kinds of %d are served", served, manyDefinitions)
		}
		return nil
	})
	p.Reset()
	d := graph(t, p.Kubeconfig(), "configmap/alone", "-n", ns)
	after := len(p.Requests())
	t.Logf("%d requests before, %d after %d definitions more", before, after, manyDefinitions)
	if n := definitionsRead(p); n != 0 || len(d.Gaps) > 0 {
		t.Errorf("%d definitions were read, want none; gaps %+v", n, d.Gaps)
	}
	if after > before+manyDefinitions {
		t.Errorf("%d requests, want no more than a list for each kind besides the %d of before", after, before)
	}

	// One instance costs one definition.
	thing := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "many.example.com/v1", "kind": "Kind7", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"settings": "alone"},
	}}
	things := dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{Group: "many.example.com", Version: "v1", Resource: "kind7s"}).Namespace(ns)
	if _, err := things.Create(t.Context(), thing, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.Reset()
	d = graph(t, p.Kubeconfig(), "kind7/one", "-n", ns)
	if n := definitionsRead(p); n != 1 {
		t.Errorf("%d definitions were read, want that of the one instance", n)
	}
	if got := lines(d.Edges); !slices.Equal(got, []string{"Kind7.many.example.com/default/one --needs--> ConfigMap/default/alone"}) {
		t.Errorf("edges %v", got)
	}
}

func fillDefinitions(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kindNs.many.example.com}
spec:
  group: many.example.com
  scope: Namespaced
  names: {kind: KindN, plural: kindNs, singular: kindN}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {settings: {type: string, description: Name of the ConfigMap that holds the settings.}}}
`
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(16)
	for i := range n {
		names := strings.NewReplacer("kindN", fmt.Sprint("kind", i), "KindN", fmt.Sprint("Kind", i))
		g.Go(func() error { return createDefinition(ctx, c, names.Replace(definition)) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func createDefinition(ctx context.Context, c *cluster.Cluster, text string) error {
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		return err
	}
	_, err = definitionsOf(c).Create(ctx, objects[0], metav1.CreateOptions{})
	return err
}
