package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// The node under a Deployment is not heard of any more, as the node lifecycle controller
// writes after the grace period, and comes back. It is a node of this test alone.
func TestHealthNodeIsGone(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	node := "node-of-" + ns
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, admin(c).CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{}))
	})
	applied(t, c, ns, "health-node.yaml")
	sysop(t, c.Kubeconfig, "health", "deployment/web", "-n", ns, "--wait", "--timeout", limit.String()).succeeds(t)
	watch := watchHealth(t, c.Kubeconfig, "deployment/web", "-n", ns)
	watch.says("", "Healthy", "")

	patched(t, c, nodes, "", node, `{"metadata":{"annotations":{"sysop.dev/fail":"NodeStatusUnknown"}}}`)
	patched(t, c, nodes, "", node, fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown",
		"message":"Kubelet stopped posting node status.","lastTransitionTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339)), "status")
	watch.says("Node/"+node, "Degraded", "NodeStatusUnknown")
	watch.says("", "Degraded", "")
	cluster.Eventually(t, limit, func() error {
		s := healthOf(t, c.Kubeconfig, "deployment/web", "-n", ns).stack(t)
		if s.Health != "Degraded" {
			return fmt.Errorf("%+v", s)
		}
		return s.caused("Node/" + node + " Degraded NodeStatusUnknown")
	})

	patched(t, c, nodes, "", node, `{"metadata":{"annotations":{"sysop.dev/fail":null}}}`)
	watch.says("Node/"+node, "Healthy", "")
	watch.says("", "Healthy", "")
	watch.interrupted()
}
