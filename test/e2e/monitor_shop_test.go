package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestShopMonitoredAndScaled: the example of a System is monitored by its own Prometheus and scaled as its
// manifest and its load say; when monitors and scalers are removed, nothing of them is left.
func TestShopMonitoredAndScaled(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	sysop(t, c.Kubeconfig, "monitor", "apply", "-f", s.manifest, "--yes").succeeds(t)
	c.OperatePrometheus(t, s.ns, "shop")
	cluster.Eventually(t, limit, func() error {
		seen := sysop(t, c.Kubeconfig, "monitor", "status", "-f", s.manifest)
		for _, want := range []string{`web +2 +2 +0 +yes`, `monitoring +1 +1 +0 +yes`, `worker +3 +0 +0 +no`} {
			if !regexp.MustCompile(want).MatchString(seen.stdout) {
				return fmt.Errorf("no %s in\n%s%s", want, seen.stdout, seen.stderr)
			}
		}
		return nil
	})
	cluster.Eventually(t, sampled, func() error {
		for _, p := range scalersOf(t, c, "plan", "-f", s.manifest, "-o", "json").Proposals {
			if strings.HasSuffix(p.Target, "/web") && p.Scaler == "HorizontalPodAutoscaler" && p.Min == 2 && p.Max == 5 {
				return nil
			}
		}
		return errors.New("no HPA of 2 to 5 is proposed for web: 2 pods of 50m on 100m")
	})
	sysop(t, c.Kubeconfig, "autoscale", "apply", "-f", s.manifest, "--yes").succeeds(t)
	if got := scalersOf(t, c, "status", "-f", s.manifest, "-o", "json").Scalers; len(got) != 1 || !got[0].Managed || got[0].Max != 5 {
		t.Errorf("scalers %+v", got)
	}
	before := stackCost(t, c, s.ns)
	body := []byte(`{"spec":{"template":{"metadata":{"annotations":{"kwok.x-k8s.io/usage-cpu":"200m"}}}}}`)
	if _, err := admin(c).AppsV1().Deployments(s.ns).Patch(t.Context(), "web", types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, sampled, func() error {
		got := scalersOf(t, c, "status", "-f", s.manifest, "-o", "json").Scalers
		if len(got) != 1 || got[0].Replicas != 5 || got[0].Limit != "max" {
			return fmt.Errorf("under load: %+v", got)
		}
		if after := stackCost(t, c, s.ns); !after.GreaterThan(before) {
			return fmt.Errorf("5 pods cost %s a month, and 2 did %s", after, before)
		}
		return nil
	})
	page := visited(t, c.Kubeconfig, "-n", s.ns)
	shown := page.picture().Stacks
	if i := slices.IndexFunc(shown, func(s uistate.Stack) bool { return strings.HasSuffix(s.Name, "/web") }); i < 0 || shown[i].Pods[0] < 5 {
		t.Errorf("the page shows %+v", shown)
	}
	page.ends()
	sysop(t, c.Kubeconfig, "autoscale", "remove", "-f", s.manifest, "--yes").succeeds(t)
	sysop(t, c.Kubeconfig, "monitor", "remove", "-f", s.manifest, "--yes").succeeds(t)
	left := monitoringObjects(t, c, s.ns)
	scalers, err := admin(c).AutoscalingV2().HorizontalPodAutoscalers(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(scalers.Items) > 0 || len(left) > 0 {
		t.Errorf("left: %v, %v (%v)", left, scalers, err)
	}
}
