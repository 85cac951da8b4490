package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestShopMonitoredAndScaled: the example of a System is monitored by its own Prometheus and scaled as its
// manifest and its load say; when monitors and scalers are removed, nothing of them is left.
func TestShopMonitoredAndScaled(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	sysop(t, c.Kubeconfig, "monitor", "apply", "-f", s.manifest, "--yes").succeeds(t)
	cluster.Eventually(t, limit, func() error {
		config, err := generatedConfig(t.Context(), c, s.ns, "shop")
		if err != nil {
			return err
		}
		for _, job := range []string{"podMonitor/" + s.ns + "/shop-web/0", "podMonitor/" + s.ns + "/shop-prometheus-shop/0"} {
			if !strings.Contains(config, job) {
				return fmt.Errorf("no %s in\n%s", job, config)
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
	sysop(t, c.Kubeconfig, "autoscale", "remove", "-f", s.manifest, "--yes").succeeds(t)
	sysop(t, c.Kubeconfig, "monitor", "remove", "-f", s.manifest, "--yes").succeeds(t)
	left := monitoringObjects(t, c, s.ns)
	scalers, err := admin(c).AutoscalingV2().HorizontalPodAutoscalers(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(scalers.Items) > 0 || len(left) > 0 {
		t.Errorf("left: %v, %v (%v)", left, scalers, err)
	}
}
