package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// Without its Service an aggregated API cannot be read, and no namespace can be deleted.
func impactOfAggregation(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	group := ns + ".example.com"
	cups := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/v1",
		APIResources: []metav1.APIResource{{Name: "cups", SingularName: "cup", Kind: "Cup", Namespaced: true, Verbs: metav1.Verbs{"get"}}},
	}
	bundle := askedBy(t, c, ns, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/"+group+"/v1" {
			http.NotFound(w, r)
			return
		}
		reply(w, cups)
	})
	service, err := admin(c).CoreV1().Services(ns).Get(t.Context(), "hook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name := "v1." + group
	apis := dynamic.NewForConfigOrDie(c.Config()).Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, apis.Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
	applyText(t, c, strings.NewReplacer("NAME", name, "GROUP", group, "SPACE", ns, "BUNDLE", bundle, "PORT", fmt.Sprint(service.Spec.Ports[0].Port)).Replace(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: NAME}
spec: {group: GROUP, version: v1, groupPriorityMinimum: 100, versionPriority: 100, caBundle: BUNDLE, service: {namespace: SPACE, name: hook, port: PORT}}
`))
	reads := func() error {
		_, err := admin(c).Discovery().RESTClient().Get().AbsPath("/apis/" + group + "/v1").DoRaw(t.Context())
		return err
	}
	cluster.Eventually(t, limit, reads)
	r := newRealm(t, c, ns)
	r.deletes(r.asks("Service/NAMESPACE/hook", ofHook("breaks APIService.apiregistration.k8s.io/v1.NAMESPACE.example.com"), "-A"))
	cluster.Eventually(t, limit, func() error {
		if err := reads(); err == nil || !strings.Contains(err.Error(), "unable to handle the request") {
			return fmt.Errorf("the API is to be unavailable: %w", err)
		}
		return nil
	})
	stuck(t, c, ns+"-stuck", func() {
		if err := apis.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	cluster.Eventually(t, limit, func() error { // discovery has forgotten it: other tests ask for all kinds
		_, err := admin(c).Discovery().ServerPreferredResources()
		return err
	})
}

// stuck sees a namespace that cannot be deleted, and can when that is mended.
func stuck(t *testing.T, c *cluster.Cluster, name string, mend func()) {
	t.Helper()
	applyText(t, c, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	namespaces := admin(c).CoreV1().Namespaces()
	if err := namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		ns, err := namespaces.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, cond := range ns.Status.Conditions {
			if cond.Type == corev1.NamespaceDeletionDiscoveryFailure && cond.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("nothing keeps the namespace: %+v", ns.Status)
	})
	mend()
	cluster.Eventually(t, limit, func() error {
		_, err := namespaces.Get(t.Context(), name, metav1.GetOptions{})
		return absent(name, err)
	})
}

const cups = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cups.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {kind: Cup, plural: cups, singular: cup, listKind: CupList}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: BUNDLE, service: {namespace: NAMESPACE, name: hook, port: PORT}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

// convert is a conversion webhook: versions differ by their name.
func convert(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		var o unstructured.Unstructured
		if err := json.Unmarshal(raw.Raw, &o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o.SetAPIVersion(review.Request.DesiredAPIVersion)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: &o})
	}
	review.Request = nil
	reply(w, review)
}

// Without the Service that converts them, objects of a kind are read in the stored version
// alone.
func impactOfConversion(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	bundle := askedBy(t, c, ns, convert)
	service, err := admin(c).CoreV1().Services(ns).Get(t.Context(), "hook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := strings.NewReplacer("NAMESPACE", ns, "BUNDLE", bundle, "PORT", fmt.Sprint(service.Spec.Ports[0].Port)).Replace
	define(t, c, in(cups))
	applyText(t, c, in("{apiVersion: NAMESPACE.example.com/v1, kind: Cup, metadata: {name: tea, namespace: NAMESPACE}}"))
	read := func(version string) error {
		at := schema.GroupVersionResource{Group: in("NAMESPACE.example.com"), Version: version, Resource: "cups"}
		_, err := dynamic.NewForConfigOrDie(c.Config()).Resource(at).Namespace(ns).Get(t.Context(), "tea", metav1.GetOptions{})
		return err
	}
	for _, version := range []string{"v1", "v1beta1"} {
		cluster.Eventually(t, limit, func() error { return read(version) })
	}
	r := newRealm(t, c, ns)
	// Definitions are read for that even where not all is.
	r.deletes(r.asks("Service/NAMESPACE/hook", []string{
		"deleted EndpointSlice.discovery.k8s.io/NAMESPACE/hook-* by owner", "loses it Pod/NAMESPACE/hook",
		"breaks CustomResourceDefinition.apiextensions.k8s.io/cups.NAMESPACE.example.com",
	}), "IPAddress.networking.k8s.io/10.96.*")
	cluster.Eventually(t, limit, func() error {
		if err := read("v1beta1"); err == nil || !strings.Contains(err.Error(), `service "hook" not found`) {
			return fmt.Errorf("it is to be unreadable in the other version: %w", err)
		}
		return nil
	})
	if err := read("v1"); err != nil {
		t.Errorf("the stored version: %v", err)
	}
}
