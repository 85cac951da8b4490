package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

func definitionsOf(c *cluster.Cluster) dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
}

// define creates the definitions of a text and waits until their kinds are served.
// When the test ends they are taken away, with their instances, and forgotten by
// discovery: other tests ask for all kinds.
func define(t *testing.T, c *cluster.Cluster, text string) {
	t.Helper()
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { undefine(t, c, objects) })
	if _, err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { return served(c, objects, true) })
}

// definedForAll are the definitions of defineForAll, by cluster and text.
var definedForAll sync.Map

// defineForAll is define for what several tests use: the definitions stay until the cluster ends.
// Parallel tests alone may call it, which come after those that look at all kinds.
func defineForAll(t *testing.T, c *cluster.Cluster, text string) {
	t.Helper()
	type key struct {
		c    *cluster.Cluster
		text string
	}
	objects, err := apply.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	once, _ := definedForAll.LoadOrStore(key{c, text}, sync.OnceValue(func() error {
		_, err := c.Apply(context.Background(), objects)
		return err
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error { return served(c, objects, true) })
}

func undefine(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects { // the test's context has ended by now
		if err := definitionsOf(c).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete definition %s: %v", o.GetName(), err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err := served(c, objects, false)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Error(err)
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// served is an error unless the kinds of all definitions are served, or of none.
func served(c *cluster.Cluster, definitions []*unstructured.Unstructured, want bool) error {
	lists, err := admin(c).Discovery().ServerPreferredResources()
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range definitions {
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(d.Object, "spec", "names", "plural")
		is := slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool {
			gv, err := schema.ParseGroupVersion(l.GroupVersion)
			return err == nil && gv.Group == group && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Name == plural })
		})
		if is != want {
			errs = append(errs, fmt.Errorf("%s is served: %t", d.GetName(), is))
		}
	}
	return errors.Join(errs...)
}
