package docs

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// kept are the kinds of which a page may leave nothing behind, and take nothing away.
func kept() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "secrets"},
		{Version: "v1", Resource: "services"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	}
}

// there are the objects of these kinds, each as RESOURCE NAMESPACE/NAME.
func there(t *testing.T, c *cluster.Cluster) map[string]bool {
	t.Helper()
	client, err := metadata.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, gvr := range kept() {
		list, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("list %s: %v", gvr.Resource, err)
		}
		for i := range list.Items {
			out[fmt.Sprintf("%s %s/%s", gvr.Resource, list.Items[i].Namespace, list.Items[i].Name)] = true
		}
	}
	return out
}

// leftBehind fails the test unless what is there is what was there before. What is being
// deleted may take its time.
func leftBehind(t *testing.T, c *cluster.Cluster, before map[string]bool) {
	t.Helper()
	cluster.Eventually(t, timeout.Scaled(time.Minute), func() error {
		after := there(t, c)
		var more, less []string
		for _, o := range slices.Sorted(maps.Keys(after)) {
			if !before[o] {
				more = append(more, o)
			}
		}
		for _, o := range slices.Sorted(maps.Keys(before)) {
			if !after[o] {
				less = append(less, o)
			}
		}
		if len(more)+len(less) > 0 {
			return fmt.Errorf("the page left behind %q, and took away %q", more, less)
		}
		return nil
	})
}
