package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// passing are what says that time has passed, and no more.
var passing = []schema.GroupResource{
	{Resource: "events"},
	{Group: "events.k8s.io", Resource: "events"},
	{Group: "coordination.k8s.io", Resource: "leases"},
	{Resource: "componentstatuses"},
	{Group: "metrics.k8s.io", Resource: "pods"},
	{Group: "metrics.k8s.io", Resource: "nodes"},
}

// snapshotOf is every object of the cluster as text, by its name, without what every write
// changes: resourceVersion, generation, the times of writers. Of nodes it leaves out the
// status. Mine chooses; nil is all.
func snapshotOf(t *testing.T, c *cluster.Cluster, mine func(o *unstructured.Unstructured) bool) map[string]string {
	t.Helper()
	out, err := allObjects(t.Context(), c, mine)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func allObjects(ctx context.Context, c *cluster.Cluster, mine func(o *unstructured.Unstructured) bool) (map[string]string, error) {
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(c.Config()).ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	client := dynamic.NewForConfigOrDie(c.Config())
	out := map[string]string{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") || strings.Contains(r.Name, "/") || slices.Contains(passing, schema.GroupResource{Group: gv.Group, Resource: r.Name}) {
				continue
			}
			all, err := client.Resource(gv.WithResource(r.Name)).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // Its definition has just gone.
			}
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", r.Name, err)
			}
			for i := range all.Items {
				o := &all.Items[i]
				if mine != nil && !mine(o) {
					continue
				}
				text, err := unwritten(o)
				if err != nil {
					return nil, err
				}
				out[fmt.Sprintf("%s.%s/%s/%s", r.Name, gv.Group, o.GetNamespace(), o.GetName())] = text
			}
		}
	}
	return out, nil
}

// unwritten is an object without what every write changes.
func unwritten(o *unstructured.Unstructured) (string, error) {
	o = o.DeepCopy()
	unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
	unstructured.RemoveNestedField(o.Object, "metadata", "generation")
	if o.GetKind() == "Node" {
		unstructured.RemoveNestedField(o.Object, "status")
	}
	managers := o.GetManagedFields()
	if o.GetKind() == "Node" {
		managers = nil
	}
	for i := range managers {
		managers[i].Time = nil
	}
	o.SetManagedFields(managers)
	text, err := json.MarshalIndent(o.Object, "", " ")
	return string(text), err
}

// unequal says in what two states of a cluster differ; nil if in nothing.
func unequal(was, now map[string]string) error {
	var lines []string
	for name, text := range was {
		switch is, there := now[name]; {
		case !there:
			lines = append(lines, name+" is gone")
		case is != text:
			lines = append(lines, name+": "+firstDifference(text, is))
		}
	}
	for name := range now {
		if _, there := was[name]; !there {
			lines = append(lines, name+" is left")
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return fmt.Errorf("%w: %s", errUnequal, strings.Join(lines, "; "))
}

// asBefore waits until the cluster is byte-equal to what it was: what deletes and what stops
// pods takes a moment.
func asBefore(t *testing.T, c *cluster.Cluster, was map[string]string, mine func(o *unstructured.Unstructured) bool) {
	t.Helper()
	// To look at everything is work for the server, and its namespaces go last.
	cluster.Eventually(t, limit, func() error {
		all, err := admin(c).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all.Items {
			ns := unstructured.Unstructured{}
			ns.SetKind("Namespace")
			ns.SetName(all.Items[i].Name)
			if _, there := was["namespaces.//"+ns.GetName()]; !there && (mine == nil || mine(&ns)) {
				return fmt.Errorf("%w: the namespace %s is left", errUnequal, ns.GetName())
			}
		}
		return nil
	})
	cluster.Eventually(t, limit, func() error {
		now, err := allObjects(t.Context(), c, mine)
		if err != nil {
			return err
		}
		return unequal(was, now)
	})
}
