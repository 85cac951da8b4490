package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// scalers is what autoscale plan and status say, as far as the test looks at it.
type scalers struct {
	Proposals []struct {
		Target, Scaler string
		Min, Max       int
	}
	Scalers []struct {
		Managed                     bool
		Min, Max, Replicas, Desired int
		Limit, Since, LiftCost      string
		Scaler, Target, Problem     string
	}
}

func scalersOf(t *testing.T, c *cluster.Cluster, args ...string) scalers {
	t.Helper()
	var out scalers
	r := sysop(t, c.Kubeconfig, append([]string{"autoscale"}, args...)...).succeeds(t)
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	return out
}

// The real controller follows the scalers: pods come with usage, up to the maximum, and go with
// it; the cost of the stack follows; what regulation holds or another scaler has is refused, and
// remove leaves nothing.
func TestAutoscale(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "autoscale.yaml")
	client := admin(c)
	apply := []string{"autoscale", "apply", "deployment/web", "-n", ns, "--stabilization", "0s", "--yes"}

	cluster.Eventually(t, sampled, func() error {
		p := scalersOf(t, c, "plan", "deployment/web", "-n", ns, "-o", "json").Proposals
		if len(p) != 1 || p[0].Scaler != "HorizontalPodAutoscaler" || p[0].Min != 2 || p[0].Max != 3 {
			return fmt.Errorf("proposals %+v, want an HPA of 2 to 3: 2 pods of 30m on 100m", p)
		}
		return nil
	})
	sysop(t, c.Kubeconfig, "autoscale", "apply", "deployment/scaled", "-n", ns, "--yes").fails(t, "HorizontalPodAutoscaler", "scales it already", "nothing was written")
	sysop(t, c.Kubeconfig, apply...).succeeds(t)
	if r := sysop(t, c.Kubeconfig, apply...).succeeds(t); !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("a second run has something to do:\n%s", r.stderr)
	}
	if r := sysop(t, c.Kubeconfig, "history", "web-autoscaling", "-n", ns).succeeds(t); !strings.Contains(r.stdout, "install") {
		t.Errorf("the history of the scalers:\n%s", r.stdout)
	}
	before := stackCost(t, c, ns)

	uses := func(cpu string) {
		t.Helper()
		body := `{"spec":{"template":{"metadata":{"annotations":{"kwok.x-k8s.io/usage-cpu":"` + cpu + `"}}}}}`
		if _, err := client.AppsV1().Deployments(ns).Patch(t.Context(), "web", types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(replicas int, limit string) {
		t.Helper()
		cluster.Eventually(t, sampled, func() error {
			s := scalersOf(t, c, "status", "deployment/web", "-n", ns, "-o", "json").Scalers
			if len(s) != 1 || !s[0].Managed || s[0].Replicas != replicas || s[0].Desired != replicas || s[0].Limit != limit || s[0].LiftCost == "" || limit != "" && s[0].Since == "" {
				return fmt.Errorf("scalers %+v, want %d replicas, limit %q", s, replicas, limit)
			}
			return nil
		})
	}
	uses("200m")
	has(3, "max")
	if r := sysop(t, c.Kubeconfig, "autoscale", "status", "deployment/web", "-n", ns, "--exit-code"); r.code != 2 {
		t.Errorf("exit code %d at the maximum, want 2:\n%s%s", r.code, r.stdout, r.stderr)
	}
	cluster.Eventually(t, sampled, func() error {
		if now := stackCost(t, c, ns); !now.GreaterThan(before) {
			return fmt.Errorf("the stack costs %s a month with 3 replicas, and %s with 2", now, before)
		}
		return nil
	})
	uses("10m")
	has(2, "min")

	heldIsRefused(t, c, ns)
	sysop(t, c.Kubeconfig, "autoscale", "remove", "deployment/web", "-n", ns, "--yes").succeeds(t)
	hpas, err := client.AutoscalingV2().HorizontalPodAutoscalers(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(hpas.Items) != 1 || hpas.Items[0].Name != "scaled" {
		t.Errorf("after remove there are %v (%v), want only that of others", hpas.Items, err)
	}
	if d, err := client.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("remove changed the replicas: %v, %v", d.Spec.Replicas, err)
	}
	for _, o := range []string{"system list -o json", "autoscale status deployment/web -o json"} {
		if r := sysop(t, c.Kubeconfig, append(strings.Fields(o), "-n", ns)...).succeeds(t); strings.Contains(r.stdout, "web-autoscaling") || strings.Contains(r.stdout, `"scaler"`) {
			t.Errorf("%s after remove: %s", o, r.stdout)
		}
	}
}

// stackCost is what the stack of web costs a month.
func stackCost(t *testing.T, c *cluster.Cluster, ns string) decimal.Decimal {
	t.Helper()
	var list struct {
		Stacks []struct {
			Name, ID string
			Cost     money
		}
	}
	r := sysop(t, c.Kubeconfig, "stacks", "-n", ns, "-o", "json").succeeds(t)
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Stacks {
		if strings.HasSuffix(s.ID+s.Name, "/web") {
			return value(s.Cost.Month)
		}
	}
	t.Fatalf("no stack web in:\n%s", r.stdout)
	return decimal.Decimal{}
}

// heldIsRefused holds web by a System, and wants no scaler changed meanwhile.
func heldIsRefused(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "web.yaml")
	text := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: web, namespace: " + ns + "}\nspec:\n  apps:\n  - {name: web, roots: [deployment/web]}\n"
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sysop(t, c.Kubeconfig, "regulate", "stop", "-f", manifest, "web", "--yes").succeeds(t)
	sysop(t, c.Kubeconfig, "autoscale", "apply", "-f", manifest, "--yes").fails(t, "regulation holds it", "nothing was written")
	sysop(t, c.Kubeconfig, "autoscale", "apply", "deployment/web", "-n", ns, "--yes").fails(t, "regulation holds it", "would delete HorizontalPodAutoscaler")
	sysop(t, c.Kubeconfig, "regulate", "recover", "-f", manifest, "web", "--yes").succeeds(t)
}
