package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// groups are the pods of the rows of the first level, by name.
func (u used) groups() map[string]int {
	out := map[string]int{}
	for _, r := range u.Rows {
		out[r.Name] = r.Pods
	}
	return out
}

// The same pods, by other things: each once, and all of them add up to the same.
func TestMetricsByOtherThings(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	whole := metricsOf(t, c.Kubeconfig, "-n", ns)
	for by, want := range map[string]map[string]int{
		"namespace":                     {ns: 3},
		"node":                          {"node-1": 2, "node-2": 1},
		"label:team":                    {"red": 2, "blue": 1},
		"annotation:example.com/budget": {"web": 2, "(none)": 1},
		"label:app":                     {"site": 2, "agent": 1},
	} {
		t.Run(by, func(t *testing.T) {
			u := metricsOf(t, c.Kubeconfig, "-n", ns, "--by", by)
			got := u.groups()
			for name, pods := range want {
				if got[name] != pods {
					t.Errorf("%s: %d pods, want %d", name, got[name], pods)
				}
				delete(got, name)
			}
			for name, pods := range got { // a claim is on no node, and has no label
				if name != "(none)" || pods != 0 {
					t.Errorf("%s: %d pods, want no such row", name, pods)
				}
			}
			for _, d := range u.addsUp() {
				t.Error(d)
			}
			if got, want := value(u.Total.Requests.CPU), value(whole.Total.Requests.CPU); !got.Equal(want) || u.Total.Pods != whole.Total.Pods {
				t.Errorf("%d pods that request %s, want %d and %s, as by stack", u.Total.Pods, got, whole.Total.Pods, want)
			}
		})
	}
}

// appliedBy applies a file as a field manager would who has that name.
func appliedBy(t *testing.T, c *cluster.Cluster, manager, text string) {
	t.Helper()
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(c.Config())
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		resource := schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: strings.ToLower(gvk.Kind) + "s"}
		if _, err := client.Resource(resource).Namespace(o.GetNamespace()).Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
}

// What pods use is charged to who created what stands at the top of them, whoever has
// changed it since, and whatever controller made the pods.
func TestMetricsByCreator(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	appliedBy(t, c, "team-red", twoPods("one", ns))
	appliedBy(t, c, "team-blue", twoPods("two", ns))
	label := []byte(`{"metadata": {"labels": {"seen": "yes"}}}`)
	if _, err := admin(c).AppsV1().Deployments(ns).Patch(t.Context(), "one", types.MergePatchType, label, metav1.PatchOptions{FieldManager: "an-auditor"}); err != nil {
		t.Fatal(err)
	}
	var u used
	cluster.Eventually(t, limit, func() error {
		u = metricsOf(t, c.Kubeconfig, "-n", ns, "--by", "creator")
		if u.Total.Pods != 4 {
			return fmt.Errorf("%d pods, want 4", u.Total.Pods)
		}
		return nil
	})
	if got := u.groups(); len(got) != 2 || got["team-red"] != 2 || got["team-blue"] != 2 {
		t.Errorf("pods by creator %v, want 2 of team-red and 2 of team-blue", got)
	}
	for _, d := range u.addsUp() {
		t.Error(d)
	}
}

func twoPods(name, ns string) string {
	return strings.NewReplacer("NAMESPACE", ns, "NAME", name).Replace(`apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: "NAMESPACE"}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: main, image: registry.example.com/main, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
`)
}

// Two sites need one database. It is split as is asked for, its parts add up to it, and
// asked about alone a site is shown with the whole of it.
func TestMetricsOfWhatIsShared(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	moodles := dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{Group: "moodlecontroller.kubeplus", Version: "v1", Resource: "moodles"}).Namespace(demo)
	weigh := func(ctx context.Context, value string) {
		patch := fmt.Sprintf(`{"metadata": {"annotations": {"sysop.dev/share-weight": %s}}}`, value)
		if _, err := moodles.Patch(ctx, "moodle-1", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	weigh(t.Context(), `"3"`)
	t.Cleanup(func() { weigh(context.Background(), "null") }) // the test's context has ended by now
	const database = "MysqlCluster.mysql.presslabs.org/" + demo + "/cluster1"
	alone := metricsOf(t, c.Kubeconfig, "mysqlcluster/cluster1", "-n", demo).Total
	for _, s := range []struct{ share, first, second string }{
		{"even", "0.5", "0.5"},
		{"weight", "0.75", "0.25"},
	} {
		t.Run(s.share, func(t *testing.T) {
			u := metricsOf(t, c.Kubeconfig, "moodle/moodle-1", "moodle/moodle-2", "-n", demo, "--share", s.share)
			for _, d := range u.addsUp() {
				t.Error(d)
			}
			var parts []usedRow
			for i, want := range []string{s.first, s.second} {
				if len(u.Rows) != 2 {
					t.Fatalf("%d rows, want one a site", len(u.Rows))
				}
				part := findRow(u.Rows[i].Rows, database)
				parts = append(parts, part)
				if part.Share == nil || !part.Share.Equal(exactOf(want)) || part.SharedBy != 2 {
					t.Errorf("%s pays %v of the database, shared by %d; want %s, 2", u.Rows[i].Name, part.Share, part.SharedBy, want)
				}
				if got := value(part.Requests.CPU); !got.Equal(value(alone.Requests.CPU).Mul(exactOf(want))) {
					t.Errorf("%s: %s cores requested, want %s of %s", u.Rows[i].Name, got, want, value(alone.Requests.CPU))
				}
			}
			sum := value(parts[0].Requests.CPU).Add(value(parts[1].Requests.CPU))
			if !sum.Equal(value(alone.Requests.CPU)) || u.Sharing != s.share {
				t.Errorf("the parts request %s cores (sharing %q), want %s", sum, u.Sharing, value(alone.Requests.CPU))
			}
		})
	}
	t.Run("alone", func(t *testing.T) {
		r := sysop(t, c.Kubeconfig, "metrics", "moodle/moodle-1", "-n", demo).succeeds(t)
		toldOnce(t, r.stderr, database, "also needed by", "Moodle.moodlecontroller.kubeplus/"+demo+"/moodle-2")
	})
}
