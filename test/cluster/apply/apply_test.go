package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// object makes apiVersion/kind/name; its old UID is its name. Owners are given
// as apiVersion/kind/name too, and are controllers.
func object(t *testing.T, what string, owners ...string) *unstructured.Unstructured {
	t.Helper()
	apiVersion, kind, name := parts(t, what)
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	o.SetUID(types.UID(name))
	yes := true
	var refs []metav1.OwnerReference
	for _, owner := range owners {
		v, k, n := parts(t, owner)
		refs = append(refs, metav1.OwnerReference{APIVersion: v, Kind: k, Name: n, UID: types.UID(n), Controller: &yes})
	}
	o.SetOwnerReferences(refs)
	return o
}

func parts(t *testing.T, what string) (apiVersion, kind, name string) {
	t.Helper()
	p := strings.Split(what, "/")
	if len(p) < 3 {
		t.Fatalf("%q is not apiVersion/kind/name", what)
	}
	return strings.Join(p[:len(p)-2], "/"), p[len(p)-2], p[len(p)-1]
}

func namesOf(objects []*unstructured.Unstructured) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	return strings.Join(names, " ")
}

func definition(t *testing.T, kind string, owners ...string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, "apiextensions.k8s.io/v1/CustomResourceDefinition/def-"+kind, owners...)
	o.Object["spec"] = map[string]any{"group": "example.org", "names": map[string]any{"kind": kind}}
	return o
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		want    string
		objects []*unstructured.Unstructured
	}{
		{
			"def-App ns class config app pod hook",
			[]*unstructured.Unstructured{
				object(t, "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration/hook"),
				object(t, "v1/Pod/pod"), object(t, "example.org/v1/App/app"), object(t, "v1/ConfigMap/config"),
				object(t, "storage.k8s.io/v1/StorageClass/class"), object(t, "v1/Namespace/ns"), definition(t, "App"),
			},
		},
		{
			"grandchild-owner owner config", // an owner comes first even if its kind comes later
			[]*unstructured.Unstructured{
				object(t, "v1/ConfigMap/config", "example.org/v1/App/owner"),
				object(t, "example.org/v1/App/owner", "example.org/v1/App/grandchild-owner"),
				object(t, "example.org/v1/App/grandchild-owner"),
			},
		},
		{
			"def-Package package def-App", // a definition that is owned by an instance of another
			[]*unstructured.Unstructured{
				definition(t, "App", "example.org/v1/Package/package"), object(t, "example.org/v1/Package/package"), definition(t, "Package"),
			},
		},
		{"a", []*unstructured.Unstructured{object(t, "v1/ConfigMap/a", "v1/ConfigMap/elsewhere")}},
	} {
		got, err := order(c.objects)
		if err != nil || namesOf(got) != c.want {
			t.Errorf("order %q, %v, want %q", namesOf(got), err, c.want)
		}
	}
}

func TestOrderRefusesCircles(t *testing.T) {
	_, err := order([]*unstructured.Unstructured{
		object(t, "v1/ConfigMap/a", "v1/ConfigMap/b"), object(t, "v1/ConfigMap/b", "v1/ConfigMap/a"),
	})
	if err == nil || !strings.Contains(err.Error(), "ConfigMap/a is owned by ConfigMap/b") {
		t.Errorf("error %v does not show the circle", err)
	}
}

func TestSplit(t *testing.T) {
	objects := []*unstructured.Unstructured{
		object(t, "example.org/v1/App/of-pod", "v1/Pod/pod"), // before its owner
		object(t, "v1/Pod/pod", "apps/v1/ReplicaSet/rs"),
		object(t, "apps/v1/ReplicaSet/rs", "apps/v1/Deployment/deploy"),
		object(t, "apps/v1/Deployment/deploy", "example.org/v1/App/app"),
		object(t, "example.org/v1/App/app"),
		object(t, "discovery.k8s.io/v1/EndpointSlice/slice", "v1/Service/svc"),
		object(t, "cert-manager.io/v1/Certificate/cert", "networking.k8s.io/v1/Ingress/ing"),
		object(t, "cert-manager.io/v1/CertificateRequest/request", "cert-manager.io/v1/Certificate/cert"),
	}
	for _, c := range []struct {
		makers Makers
		want   string
	}{
		{Makers{}, "of-pod pod rs deploy app slice cert request"},
		{Makers{Controllers: true}, "deploy app cert request"},
		{Makers{Certificates: true}, "of-pod pod rs deploy app slice"},
		{Makers{Controllers: true, Certificates: true}, "deploy app"},
	} {
		wanted, skipped := split(c.makers, objects)
		if namesOf(wanted) != c.want || len(wanted)+len(skipped) != len(objects) {
			t.Errorf("%+v: wanted %q, want %q; skipped %v", c.makers, namesOf(wanted), c.want, skipped)
		}
	}
}

func TestPrepareLeavesNothingOfTheOldCluster(t *testing.T) {
	in := object(t, "v1/Service/svc", "example.org/v1/App/app")
	in.SetResourceVersion("1")
	in.SetGeneration(3)
	in.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
	in.Object["spec"] = map[string]any{"clusterIP": "10.43.0.1", "clusterIPs": []any{"10.43.0.1"}, "type": "ClusterIP"}
	before := fmt.Sprint(in.Object)
	a := &applier{uids: map[types.UID]types.UID{"app": "new"}}
	o := a.prepare(in)
	if o.GetUID() != "" || o.GetResourceVersion() != "" || o.GetGeneration() != 0 || o.GetManagedFields() != nil {
		t.Errorf("metadata is left: %v", o.Object["metadata"])
	}
	if refs := o.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != "new" {
		t.Errorf("owner references %v, want the new UID", refs)
	}
	if spec := fmt.Sprint(o.Object["spec"]); spec != "map[type:ClusterIP]" {
		t.Errorf("spec %s, want no address", spec)
	}
	if fmt.Sprint(in.Object) != before {
		t.Error("the input was changed")
	}
}

func TestObserve(t *testing.T) {
	for _, c := range []struct{ before, seen, now, want int64 }{
		{4, 4, 1, 1}, {4, 3, 1, 0}, {4, 3, 2, 1}, {0, 9, 1, 9}, {3, 4, 1, 1},
	} {
		status := map[string]any{"observedGeneration": c.seen, "conditions": []any{map[string]any{"observedGeneration": c.seen}}}
		observe(status, c.before, c.now)
		inner, _, _ := unstructured.NestedInt64(status["conditions"].([]any)[0].(map[string]any), "observedGeneration")
		if status["observedGeneration"] != c.want || inner != c.want {
			t.Errorf("%+v: status %v", c, status)
		}
	}
}

func TestParse(t *testing.T) {
	objects, err := Parse([]byte("# nothing\n---\n{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\n" +
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}]}`))
	if err != nil || namesOf(objects) != "a b" {
		t.Errorf("parsed %q, %v", namesOf(objects), err)
	}
	for _, bad := range []string{"a: b", "{", "- x"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestLackingLabels(t *testing.T) {
	now := map[string]string{"app": "db", "controller-revision-hash": "new"}
	old := map[string]string{"app": "other", "controller-revision-hash": "old", "role": "master", "topology.kubernetes.io/zone": "a"}
	if got := fmt.Sprint(lacking(now, old)); got != "map[role:master]" {
		t.Errorf("labels %s are added, want role alone", got)
	}
}

func TestPodsOfStatefulSets(t *testing.T) {
	for what, owner := range map[string]string{"v1/Pod/db-0": "apps/v1/StatefulSet/db", "v1/Pod/web-x": "apps/v1/ReplicaSet/web", "v1/ConfigMap/c": "apps/v1/StatefulSet/db"} {
		if got, want := ofStatefulSet(object(t, what, owner)), what == "v1/Pod/db-0"; got != want {
			t.Errorf("%s of %s: %v", what, owner, got)
		}
	}
}

func TestRefString(t *testing.T) {
	got := []string{refOf(object(t, "v1/Node/n")).String(), refOf(object(t, "apps/v1/Deployment/d")).String()}
	if want := []string{"Node/n", "Deployment.apps/d"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
