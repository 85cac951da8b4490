package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// release keeps a revision of a release as Helm 3 does.
func release(t *testing.T, c *cluster.Cluster, ns, name string, revision int, status, manifest, hook string) {
	t.Helper()
	record, err := json.Marshal(map[string]any{
		"name": name, "namespace": ns, "version": revision, "info": map[string]any{"status": status}, "manifest": manifest,
		"hooks": []any{map[string]any{"name": "hook", "kind": "ConfigMap", "manifest": hook, "events": []any{"pre-install"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = admin(c).CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision),
			Labels: map[string]string{"owner": "helm", "name": name, "version": fmt.Sprint(revision), "status": status},
		},
		Type: "helm.sh/release.v1",
		Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// configMaps is a manifest of ConfigMaps.
func configMaps(names ...string) string {
	var out strings.Builder
	for _, n := range names {
		fmt.Fprintf(&out, "---\n# Source: shop/templates/%s.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n", n, n)
	}
	return out.String()
}

// A release of Helm is what carries its annotations, and with --helm-manifest what
// its last revision has besides. No data of a Secret is read without the flag, and
// with it that of this revision alone.
func TestHelmRelease(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "release.yaml")
	release(t, c, ns, "shop", 9, "superseded", configMaps("annotated", "dropped"), configMaps("dropped"))
	release(t, c, ns, "shop", 10, "deployed", configMaps("annotated", "bare", "deleted"), configMaps("hooked"))
	name := "helm-reader-" + ns
	readsAll(t, c, name)
	kubeconfig, err := c.User(name)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		return lists(gapsOf(graph(t, kubeconfig, "deployment/shop", "-n", ns)))
	})
	of := func(kinds ...string) []string {
		for i, k := range kinds {
			kinds[i] = strings.Replace(k, "/", "/"+ns+"/", 1)
		}
		return kinds
	}
	plain := of("ConfigMap/annotated", "Deployment.apps/shop")
	for _, a := range []struct {
		name string
		args []string
		want []string
		data []string // names of the Secrets whose data is answered
	}{
		{"annotations", nil, plain, nil},
		{"manifest", []string{"--helm-manifest"}, of("ConfigMap/annotated", "ConfigMap/bare", "ConfigMap/hooked", "Deployment.apps/shop"), []string{"sh.helm.release.v1.shop.v10"}},
	} {
		t.Run(a.name, func(t *testing.T) {
			since := time.Now()
			d := graph(t, kubeconfig, append(a.args, "helm/shop", "-n", ns)...)
			if !slices.Equal(d.Roots, a.want) {
				t.Errorf("roots %v, want %v", d.Roots, a.want)
			}
			if len(d.Gaps)+len(d.Problems) > 0 {
				t.Errorf("gaps %+v, problems %+v", d.Gaps, d.Problems)
			}
			if got := dataAnswered(t, c, name, since); !slices.Equal(got, a.data) {
				t.Errorf("data was read of %v, want %v", got, a.data)
			}
		})
	}
	t.Run("mistakes", func(t *testing.T) {
		limited := user(t, c, "helm-limited-"+ns, ns, "apps/*", "/configmaps")
		cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
			if r := sysop(t, limited, "graph", "helm/shop", "-n", ns); r.code != 0 {
				return lists([]string{r.stderr})
			}
			return nil
		})
		sysop(t, limited, "graph", "helm/shop", "-n", ns, "--helm-manifest").fails(t, "shop", ns, "secrets", "forbidden", "hint: ", "without --helm-manifest")
		sysop(t, kubeconfig, "graph", "helm/nothing", "-n", ns, "--helm-manifest").fails(t, "nothing", "no such release", "hint: ")
		sysop(t, kubeconfig, "graph", "helm/shop", "-A", "--helm-manifest").fails(t, "-n")
	})
}

// dataAnswered returns the names of the Secrets and ConfigMaps whose data a user
// was given, and "" for lists.
func dataAnswered(t *testing.T, c *cluster.Cluster, user string, since time.Time) []string {
	t.Helper()
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	asked := 0
	for _, e := range events {
		if e.User != user || e.Object.Resource != "secrets" && e.Object.Resource != "configmaps" {
			continue
		}
		asked++
		if e.Data() {
			out = append(out, e.Object.Name)
		}
	}
	if asked == 0 {
		t.Error("the audit log has no request for Secrets or ConfigMaps")
	}
	return out
}

// setID is the ID of the ApplySet that a ConfigMap keeps.
func setID(name, ns string) string {
	sum := sha256.Sum256([]byte(name + "." + ns + ".ConfigMap."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// The parent of an ApplySet keeps its members, in its own namespace and in others.
func TestApplySet(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	id := setID("set", ns)
	for _, m := range []struct {
		ns, name, annotation string
		labels               map[string]string
	}{
		{ns, "set", other, map[string]string{"applyset.kubernetes.io/id": id}},
		{ns, "near", "", map[string]string{"applyset.kubernetes.io/part-of": id}},
		{other, "far", "", map[string]string{"applyset.kubernetes.io/part-of": id}},
		{other, "of-another", "", map[string]string{"applyset.kubernetes.io/part-of": "applyset-other-v1"}},
	} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: m.name, Labels: m.labels}}
		if m.annotation != "" {
			o.Annotations = map[string]string{
				"applyset.kubernetes.io/additional-namespaces": m.annotation,
				"applyset.kubernetes.io/contains-group-kinds":  "ConfigMap,Deployment.apps",
				"applyset.kubernetes.io/tooling":               "kubectl/v1.33",
			}
		}
		if _, err := admin(c).CoreV1().ConfigMaps(m.ns).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	set := "ConfigMap/" + ns + "/set"
	want := parseEdges(t, fmt.Sprintf("%[1]s --owns--> ConfigMap/%[2]s/near\n%[1]s --owns--> ConfigMap/%[3]s/far", set, ns, other))
	if got := want.wholly(graph(t, c.Kubeconfig, "configmap/set", "-n", ns)); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
	managedBy(t, c, "configmap/near", ns, set)
	managedBy(t, c, "configmap/far", other, "")
}

// managedBy looks at what the graph of a member says of its manager: it is none of
// the stack.
func managedBy(t *testing.T, c *cluster.Cluster, root, ns, manager string) {
	t.Helper()
	r := sysop(t, c.Kubeconfig, "graph", root, "-n", ns).succeeds(t)
	want := ""
	if manager != "" {
		want = "managed by: " + manager + "\n"
	}
	if r.stderr != want {
		t.Errorf("%s: stderr %q, want %q", root, r.stderr, want)
	}
	if manager != "" && strings.Contains(r.stdout, manager) {
		t.Errorf("%s: the manager is in the stack:\n%s", root, r.stdout)
	}
}

// Argo CD and Flux keep what their status lists, unless that is in another cluster;
// Crossplane's kinds are known by their categories.
func TestManagers(t *testing.T) {
	c := shared.Cluster(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	define(t, c, inNamespace(t, ns, "managers.definitions.yaml"))
	applyText(t, c, inNamespaces(t, ns, other, "managers.yaml"))
	const shop = `
Deployment.apps/OTHER/shop --needs--> ConfigMap/OTHER/shop
Deployment.apps/OTHER/shop --needs--> ServiceAccount/OTHER/default
Deployment.apps/OTHER/shop --owns--> ReplicaSet.apps/OTHER/shop-845dcf6fc8
ReplicaSet.apps/OTHER/shop-845dcf6fc8 --needs--> ConfigMap/OTHER/shop
ReplicaSet.apps/OTHER/shop-845dcf6fc8 --needs--> ServiceAccount/OTHER/default
`
	for _, m := range []struct{ root, in, edges, missing string }{
		{"app/site", ns, shop + `
Application.argoproj.io/NAMESPACE/site --owns--> Deployment.apps/OTHER/shop
Application.argoproj.io/NAMESPACE/site --owns--> ConfigMap/OTHER/lost`, "ConfigMap/OTHER/lost"},
		{"application/remote", ns, "", ""},
		{"kustomization/site", ns, shop + `
Kustomization.kustomize.toolkit.fluxcd.io/NAMESPACE/site --owns--> Deployment.apps/OTHER/shop
Kustomization.kustomize.toolkit.fluxcd.io/NAMESPACE/site --owns--> ConfigMap/OTHER/shop`, ""},
		{"kustomization/remote", ns, "Kustomization.kustomize.toolkit.fluxcd.io/NAMESPACE/remote --needs--> Secret/NAMESPACE/elsewhere", ""},
		{"deployment/shop", other, shop, ""},
		{"shops.crossplane.example.org/claim", other, `
Shop.crossplane.example.org/OTHER/claim --needs--> Composition.apiextensions.crossplane.io/NAMESPACE
Shop.crossplane.example.org/OTHER/claim --owns--> Secret/OTHER/connection
Shop.crossplane.example.org/OTHER/claim --owns--> XShop.crossplane.example.org/NAMESPACE
XShop.crossplane.example.org/NAMESPACE --needs--> Composition.apiextensions.crossplane.io/NAMESPACE
XShop.crossplane.example.org/NAMESPACE --owns--> ConfigMap/OTHER/composed`, ""},
		{"xshop/" + ns, "", `
XShop.crossplane.example.org/NAMESPACE --needs--> Composition.apiextensions.crossplane.io/NAMESPACE
XShop.crossplane.example.org/NAMESPACE --owns--> ConfigMap/OTHER/composed`, ""},
		{"store/composite", other, `
Store.crossplane.example.org/OTHER/composite --needs--> Composition.apiextensions.crossplane.io/NAMESPACE
Store.crossplane.example.org/OTHER/composite --owns--> ConfigMap/OTHER/composed-too`, ""},
	} {
		t.Run(m.root, func(t *testing.T) {
			names := strings.NewReplacer("NAMESPACE", ns, "OTHER", other)
			want := parseEdges(t, names.Replace(m.edges))
			cluster.Eventually(t, limit, func() error {
				found := want.wholly(graph(t, c.Kubeconfig, m.root, "-n", m.in))
				return lists(slices.DeleteFunc(found, func(l string) bool { return l == "missing: "+names.Replace(m.missing) }))
			})
		})
	}
	// The label on it says so: the Application, in another namespace, is not known from here.
	managedBy(t, c, "deployment/shop", other, "Kustomization.kustomize.toolkit.fluxcd.io/"+ns+"/site")
	managedBy(t, c, "kustomization/site", ns, "")
	r := sysop(t, c.Kubeconfig, "graph", "app/site", "-n", ns, "--problems", "--exit-code")
	if r.code != 2 || !strings.Contains(r.stdout, "lost") || strings.Count(r.stdout, "lost") != strings.Count(r.stdout, "ConfigMap/"+other+"/lost") {
		t.Errorf("exit code %d, want 2 and the ConfigMap that is lost:\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = sysop(t, c.Kubeconfig, "graph", "shops.crossplane.example.org/claim", "-n", other).succeeds(t)
	if !strings.Contains(r.stdout, "XShop/"+ns) {
		t.Errorf("no composite below the claim:\n%s", r.stdout)
	}
}
