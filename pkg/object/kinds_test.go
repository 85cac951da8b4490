package object

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func someKinds() *Kinds {
	return NewKinds([]Resource{
		{Version: "v1", Kind: "Pod", Plural: "pods", Singular: "pod", ShortNames: []string{"po"}, Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Singular: "deployment", ShortNames: []string{"deploy"}, Namespaced: true},
		{Group: "serving.knative.dev", Version: "v1", Kind: "Service", Plural: "services", Singular: "service", ShortNames: []string{"kservice"}, Namespaced: true, Custom: true},
		{Version: "v1", Kind: "Service", Plural: "services", Singular: "service", ShortNames: []string{"svc"}, Namespaced: true},
		{Group: "a.example.com", Version: "v1alpha1", Kind: "Cluster", Plural: "clusters", Singular: "cluster", ShortNames: []string{"cl"}, Custom: true},
		{Group: "b.example.com", Version: "v1", Kind: "Cluster", Plural: "clusters", Singular: "cluster", ShortNames: []string{"cl"}, Custom: true},
		{Group: "b.example.com", Version: "v2", Kind: "Cluster", Plural: "clusters2", Custom: true}, // not the first
		{Group: "moodlecontroller.kubeplus", Version: "v1", Kind: "Moodle", Plural: "moodles", Singular: "moodle", Custom: true},
	})
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"pods":                           "pods",
		"pod":                            "pods",
		"po":                             "pods",
		"Pod":                            "pods",
		"PODS":                           "pods",
		"pods.v1":                        "pods",
		"deploy":                         "deployments.apps",
		"Deployment":                     "deployments.apps",
		"deployments.apps":               "deployments.apps",
		"deployment.v1.apps":             "deployments.apps",
		"deploy.apps":                    "deployments.apps",
		"Deploy.V1.Apps":                 "deployments.apps",
		"service":                        "services",
		"svc":                            "services",
		"service.v1":                     "services",
		"Service.serving.knative.dev":    "services.serving.knative.dev",
		"kservice":                       "services.serving.knative.dev",
		"clusters.a.example.com":         "clusters.a.example.com",
		"cl.b.example.com":               "clusters.b.example.com",
		"cluster.v1alpha1.a.example.com": "clusters.a.example.com",
	} {
		if got, err := someKinds().Find(name); err != nil || got.String() != want {
			t.Errorf("%s: %s %v, want %s", name, got, err, want)
		}
	}
}

func TestFindFails(t *testing.T) {
	var unknown *UnknownKindError
	for name, nearest := range map[string]string{
		"moodel":                   "moodle",
		"moodles.other":            "moodle",
		"pdo":                      "pod",
		"deplyoments":              "deployment",
		"servise":                  "service",
		"deployments.batch":        "deployment",
		"cluster.v3.a.example.com": "cluster",
		"x":                        "",
		"":                         "",
		"qqqqqqqqqqqq":             "",
		".apps":                    "",
	} {
		_, err := someKinds().Find(name)
		if !errors.As(err, &unknown) || strings.Join(unknown.Nearest, " ") != nearest || unknown.Name != name {
			t.Errorf("%q: %v, want %q", name, err, nearest)
		}
		if suggested := strings.Contains(err.Error(), "did you mean"); suggested != (nearest != "") {
			t.Errorf("%q: %v", name, err)
		}
	}
	var ambiguous *AmbiguousKindError
	for _, name := range []string{"clusters", "Cluster", "cl"} {
		_, err := someKinds().Find(name)
		if !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Choices, []string{"clusters.a.example.com", "clusters.b.example.com"}) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, choice := range ambiguous.Choices {
			if got, err := someKinds().Find(choice); err != nil || got.String() != choice || !strings.Contains(ambiguous.Error(), choice) {
				t.Errorf("%s: %v %v", choice, got, err)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	k := someKinds()
	if len(k.All()) != 7 {
		t.Errorf("%d kinds", len(k.All()))
	}
	r, ok := k.Kind(schema.GroupKind{Group: "b.example.com", Kind: "Cluster"})
	if !ok || r.APIVersion() != "b.example.com/v1" {
		t.Errorf("the first entry of a kind stays: %+v", r)
	}
	if r, ok := k.Resource(schema.GroupResource{Resource: "pods"}); !ok || r.Kind != "Pod" || r.APIVersion() != "v1" {
		t.Errorf("resource: %+v %v", r, ok)
	}
	if _, ok := k.Resource(schema.GroupResource{Group: "apps", Resource: "pods"}); ok {
		t.Error("pods are of no group")
	}
	if _, ok := k.Kind(schema.GroupKind{Group: "apps", Kind: "Pod"}); ok {
		t.Error("Pod is of no group")
	}
}

func TestNotServed(t *testing.T) {
	served, other, broken := schema.GroupKind{Kind: "Pod"}, schema.GroupKind{Group: "x", Kind: "Y"}, schema.GroupKind{Group: "broken", Kind: "Y"}
	k := someKinds()
	k.Fail("broken")
	if k.NotServed(served) || !k.NotServed(other) || k.NotServed(broken) {
		t.Error("not served")
	}
	k.Fail()
	if k.NotServed(other) {
		t.Error("nothing is certain of a part")
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "ab", 2},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"moodel", "moodle", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
		{"abcd", "badc", 2},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The distance is a metric: symmetric, zero for equal words, and a detour is shorter than the sum
// of its parts by at most what a swap saves.
func TestEditsIsADistance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	word := func() string {
		b := make([]byte, random.IntN(7))
		for i := range b {
			b[i] = "abc"[random.IntN(3)]
		}
		return string(b)
	}
	for range 5000 {
		a, b := word(), word()
		d := edits(a, b)
		if d != edits(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Fatalf("%q and %q: %d", a, b, d)
		}
	}
}

func TestFields(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": "x"}}
	if f := (Object{Body: u}).Fields(); f["spec"] != "x" {
		t.Errorf("fields %v", f)
	}
	if f := (Object{Body: &metav1.PartialObjectMetadata{}}).Fields(); f != nil {
		t.Errorf("fields of metadata: %v", f)
	}
}

// TestKnowing: the served entry of a kind wins over one that Knowing adds.
func TestKnowing(t *testing.T) {
	gk := func(kind string) schema.GroupKind { return schema.GroupKind{Group: "example.com", Kind: kind} }
	k := NewKinds([]Resource{{Group: "example.com", Kind: "Served"}}).Knowing(
		Resource{Group: "example.com", Kind: "Served", Namespaced: true}, Resource{Group: "example.com", Kind: "Pool"}, Resource{Group: "example.com", Kind: "Widget", Namespaced: true})
	for _, k := range []*Kinds{k, k.With(Resource{Group: "example.com", Kind: "More", Namespaced: true}), k.Knowing()} {
		for kind, want := range map[string][2]bool{"Served": {false, true}, "Pool": {false, true}, "Widget": {true, true}, "Nothing": {false, false}} {
			if namespaced, known := k.Namespaced(gk(kind)); namespaced != want[0] || known != want[1] {
				t.Errorf("%s is namespaced: %v, known: %v", kind, namespaced, known)
			}
		}
		if _, served := k.Kind(gk("Widget")); served || !k.NotServed(gk("Widget")) {
			t.Error("what is known is not served for that")
		}
	}
}

// TestNoPlural: a kind without a plural is found by English plurals of it, and is shown by its
// kind.
func TestNoPlural(t *testing.T) {
	k := NewKinds([]Resource{
		{Group: "constraints.example", Kind: "K8sRequiredLabels", Singular: "k8srequiredlabels"},
		{Group: "example.com", Kind: "NetworkPolicy", Singular: "networkpolicy"},
		{Group: "example.com", Kind: "Mesh", Singular: "mesh"},
		{Group: "example.com", Kind: "Box", Plural: "boxen", Singular: "box"},
		{Group: "example.com", Kind: "Thing", Singular: "thing"},
		{Group: "example.com", Kind: "Things", Plural: "things", Singular: "things"},
	})
	for name, want := range map[string]string{
		"k8srequiredlabels": "K8sRequiredLabels.constraints.example", "K8sRequiredLabels.constraints.example": "K8sRequiredLabels.constraints.example",
		"network-policies": "NetworkPolicy.example.com", "networkpolicies.example.com": "NetworkPolicy.example.com", "meshes": "Mesh.example.com",
		"boxen": "boxen.example.com", "things": "things.example.com",
	} {
		if r, err := k.Find(name); err != nil || r.String() != want {
			t.Errorf("%s is %s, %v; want %s", name, r, err, want)
		}
	}
	for _, name := range []string{"boxes", "k8srequiredlabel", "meshs2", ""} {
		if r, err := k.Find(name); err == nil {
			t.Errorf("%q is %s", name, r)
		}
	}
	if r, ok := k.Resource(schema.GroupResource{Group: "example.com"}); ok {
		t.Errorf("no name at all is %s", r)
	}
}
