package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// A group of an API server that does not run is one gap, and nothing else
// changes.
func TestBrokenAPIService(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	whole := settledWeb(t, c, ns)
	services := dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	const name = "v1.broken.example.com"
	broken := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "broken.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": ns, "name": "no-such-service"},
		},
	}}
	if _, err := services.Create(t.Context(), broken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	defer func() { // until discovery has forgotten it: other tests ask for all kinds
		if err := services.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete APIService %s: %v", name, err)
		}
		cluster.Eventually(t, limit, func() error {
			if d := graph(t, c.Kubeconfig, "deployment/web", "-n", ns); len(d.Gaps) > 0 {
				return fmt.Errorf("gaps %+v", d.Gaps)
			}
			_, err := admin(c).Discovery().ServerPreferredResources()
			return err
		})
	}()
	var d document
	var said string
	cluster.Eventually(t, limit, func() error { // discovery takes a moment to know it
		if d, said = graphSaying(t, c.Kubeconfig, "deployment/web", "-n", ns); len(d.Gaps) == 0 {
			return errors.New("no gap")
		}
		return nil
	})
	if len(d.Gaps) != 1 || !strings.Contains(d.Gaps[0].Resource, "broken.example.com") || d.Gaps[0].Reason != "Unavailable" {
		t.Errorf("gaps %+v, want one of broken.example.com", d.Gaps)
	}
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "broken.example.com") {
		t.Errorf("stderr has not one warning about broken.example.com:\n%s", said)
	}
	same(t, whole, d)
	for _, args := range [][]string{
		{"path", "deployment/web", "secret/web-password"}, {"impact", "secret/web-password"}, {"snapshot", "-o", "-"},
	} {
		sysop(t, c.Kubeconfig, append(args, "-n", ns)...).succeeds(t)
	}
}
