package source

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func docsOf(t *testing.T, text string) []Document {
	t.Helper()
	docs, err := Parse("batch.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// overlaid reads a namespace of a server with a batch laid over it, and returns what was
// said with the batch and without.
func overlaid(t *testing.T, f *fake, batch string, ask Query) (with, base *recorder, o *Overlay) {
	t.Helper()
	c, _ := f.cluster(t, ClusterOptions{})
	with, base = newRecorder(), newRecorder()
	detail := func(r object.Resource) (Detail, string) {
		if r.Custom {
			return Fields, ""
		}
		return Typed, "v1"
	}
	o = NewOverlay(c, docsOf(t, batch), OverlayOptions{Namespace: "shop", Detail: detail, BaseSink: base})
	if _, err := o.Kinds(t.Context(), with); err != nil {
		t.Fatal(err)
	}
	if err := o.Read(t.Context(), ask, with); err != nil {
		t.Fatal(err)
	}
	return with, base, o
}

// TestOverlay: objects of the batch stand in place of those of the same name, which are
// only beneath.
func TestOverlay(t *testing.T) {
	f := newFake(t)
	existing := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "11111111-1111-1111-1111-111111111111"}}
	f.objects["/api/v1/namespaces/shop/pods"] = []fakeObject{existing, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "shop"}}}
	with, base, _ := overlaid(t, f, `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: new}}
spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: hidden}
---
apiVersion: example.org/v1
kind: Shop
metadata: {name: mine}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.org}
spec: {group: example.org, scope: Namespaced, names: {kind: Shop, plural: shops}, versions: [{name: v1, served: true, storage: true}]}
`, Query{Namespaces: []string{"shop"}})
	if got, want := with.names(), "CustomResourceDefinition.apiextensions.k8s.io/shops.example.org Pod/shop/db Pod/shop/web Secret/shop/key Shop.example.org/shop/mine"; got != want {
		t.Errorf("with the batch: %s\nwant %s", got, want)
	}
	if got, want := base.names(), "Pod/shop/db Pod/shop/web"; got != want {
		t.Errorf("beneath: %s, want %s", got, want)
	}
	ref := object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}
	pod, ok := with.objects[ref].Body.(*corev1.Pod)
	if !ok || pod.Labels["app"] != "new" || len(pod.Spec.Containers) != 1 || pod.UID != existing.UID {
		t.Errorf("the pod of the batch: %+v", with.objects[ref].Body)
	}
	if old := base.objects[ref].Meta; len(old.GetLabels()) != 0 {
		t.Errorf("beneath it is the cluster's: %v", old.GetLabels())
	}
	if _, whole := with.objects[object.Ref{Kind: "Secret", Namespace: "shop", Name: "key"}].Body.(*metav1.PartialObjectMetadata); !whole {
		t.Error("a Secret is more than its metadata")
	}
	if _, fields := with.objects[object.Ref{Group: "example.org", Kind: "Shop", Namespace: "shop", Name: "mine"}].Body.(*unstructured.Unstructured); !fields {
		t.Error("a custom resource is not as it was written")
	}
	if !strings.Contains(with.coverage(), "Shop.example.org@") || strings.Contains(base.coverage(), "Shop") {
		t.Errorf("covered: %s; beneath: %s", with.coverage(), base.coverage())
	}
	if n := f.count("/api/v1/namespaces/shop/pods"); n != 1 {
		t.Errorf("pods were listed %d times", n)
	}
}

// TestOverlayAbsent: what the batch brings is there, and beneath it is not.
func TestOverlayAbsent(t *testing.T) {
	f := newFake(t)
	ref := object.Ref{Kind: "Namespace", Name: "shop"}
	with, base, _ := overlaid(t, f, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", Query{Objects: []object.Ref{ref}})
	if len(with.absent) != 0 || strings.Join(base.absent, " ") != "Namespace/shop" {
		t.Errorf("absent: %v, beneath: %v", with.absent, base.absent)
	}
}

// TestOverlayMalformed: an object without the shape of its kind is there, as far as its
// metadata goes, and told.
func TestOverlayMalformed(t *testing.T) {
	f := newFake(t)
	with, _, _ := overlaid(t, f, "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: [a]}\nspec: {containers: many}\n", Query{})
	if got := with.names(); got != "Pod/shop/web" {
		t.Errorf("read %s", got)
	}
	if got := with.reasons(); !strings.Contains(got, "Pod/shop/web@:Malformed") {
		t.Errorf("gaps %s", got)
	}
	if len(with.gaps) == 0 || !strings.HasPrefix(with.gaps[0].Message, "batch.yaml:1: ") {
		t.Errorf("the gaps do not say where: %+v", with.gaps)
	}
}

// TestOverlayOtherVersion: what is written in another version than rules read is metadata,
// and told.
func TestOverlayOtherVersion(t *testing.T) {
	for apiVersion, want := range map[string]string{
		"apps/v1beta1":       "Deployment.apps/shop/web@:UnknownVersion",
		"extensions/v1beta1": "Deployment.extensions/shop/web@:UnknownVersion", // Of a group that nobody serves.
		"apps/v1":            "",
	} {
		f := newFake(t)
		with, _, _ := overlaid(t, f, "apiVersion: "+apiVersion+"\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {}\n", Query{})
		if got := with.reasons(); got != want {
			t.Errorf("%s: gaps %s, want %s", apiVersion, got, want)
		}
	}
}

// TestOverlayDefinitions: those of the batch go before those of the same name.
func TestOverlayDefinitions(t *testing.T) {
	f := newFake(t)
	existing := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: "shops.example.org"}}
	f.objects["/apis/apiextensions.k8s.io/v1/customresourcedefinitions"] = []fakeObject{existing}
	_, _, o := overlaid(t, f, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.org}\nspec: {group: example.org}\n", Query{})
	all, err := o.Definitions(t.Context(), newRecorder())
	if err != nil || len(all) != 1 {
		t.Fatalf("definitions %v, %v", all, err)
	}
	if _, whole := all[0].(*unstructured.Unstructured); !whole {
		t.Error("it is not that of the batch, whole")
	}
}
