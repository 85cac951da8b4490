package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manpage"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

func man(t *testing.T, kubeconfig string, args ...string) manpage.Document {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"man", "-o", "json"}, args...)...).succeeds(t)
	var d manpage.Document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestManualOfTheExample reads the manual of a Moodle: its text is the only value
// of a ConfigMap that is asked for.
func TestManualOfTheExample(t *testing.T) {
	c := shared.Cluster(t)
	example(t, c)
	since := time.Now()
	var d manpage.Document
	cluster.Eventually(t, limit, func() error {
		d = man(t, c.Kubeconfig, "moodle", "-n", "moodle")
		for _, p := range d.Composition {
			if p.Kind == "Pod" && p.Via == "ReplicaSet.apps" {
				return nil
			}
		}
		return lists([]string{"no pods"})
	})
	if d.Instances.Count != 2 || !d.Instances.Complete || d.Resource.Definition != "moodles.moodlecontroller.kubeplus" || len(d.Fields) == 0 {
		t.Errorf("got %+v", d)
	}
	if !strings.Contains(d.Usage.Text, "A Moodle is one Moodle site") {
		t.Errorf("usage %+v", d.Usage)
	}
	for _, p := range d.Composition {
		if p.Kind == "Deployment.apps" && (p.Observed != 2 || len(p.Declared) == 0) {
			t.Errorf("composition %+v", p)
		}
	}
	events, err := c.AuditEvents(since)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		data := strings.HasPrefix(e.Agent, "kubectl-sysop/") && e.Object.Group == "" && e.Data()
		switch {
		case data && e.Object.Resource == "secrets":
			t.Errorf("%s was answered with data", e.URI)
		case data && e.Object.Resource == "configmaps" && e.Object.Name != "moodle-usage":
			t.Errorf("%s was answered with data", e.URI)
		}
	}
}

// TestManualWithFewRights has a user who may see the objects of a namespace, and
// no definitions.
func TestManualWithFewRights(t *testing.T) {
	c := shared.Cluster(t)
	example(t, c)
	kubeconfig := user(t, c, "reader-of-moodles", "moodle", "moodlecontroller.kubeplus/moodles", "apps/deployments")
	var d manpage.Document
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		d = man(t, kubeconfig, "moodle", "-n", "moodle")
		if d.Instances.Count != 2 {
			return lists([]string{"no instances"})
		}
		return nil
	})
	if len(d.Fields) > 0 || len(d.Gaps) == 0 || !strings.Contains(strings.Join(d.Notes, " "), "No permission to read the CRD of ") {
		t.Errorf("got %+v", d)
	}
}

// TestExamplesAreTaken has the server look at the example of each kind that the
// cluster defines. Where it refuses one, the example said what was not checked.
func TestExamplesAreTaken(t *testing.T) {
	c := shared.Cluster(t)
	example(t, c)
	ns := c.Namespace(t)
	client := dynamic.NewForConfigOrDie(c.Config())
	crds, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds.Items {
		r := sysop(t, c.Kubeconfig, "man", crd.GetName(), "--example").succeeds(t)
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(r.stdout), &o.Object); err != nil {
			t.Errorf("%s: %v", crd.GetName(), err)
			continue
		}
		gr := schema.ParseGroupResource(crd.GetName())
		var into dynamic.ResourceInterface = client.Resource(gr.WithVersion(o.GroupVersionKind().Version))
		if scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope"); scope == "Namespaced" {
			into = client.Resource(gr.WithVersion(o.GroupVersionKind().Version)).Namespace(ns)
		}
		_, err := into.Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
		warned := apierrors.IsInvalid(err) && strings.Contains(r.stdout, "# not checked: ")
		if err != nil && !warned {
			t.Errorf("%s: %v\n%s", crd.GetName(), err, r.stdout)
		}
	}
	if len(crds.Items) < 10 {
		t.Errorf("only %d definitions", len(crds.Items))
	}
}
