package source

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func snapshotOf(t testing.TB, text string) *Snapshot {
	t.Helper()
	docs, err := Parse("x", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := SnapshotOptions{}.New("x", docs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, s Source) *recorder {
	t.Helper()
	got := newRecorder()
	if err := s.Read(context.Background(), Query{All: true}, got); err != nil {
		t.Fatal(err)
	}
	return got
}

const mixed = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: Pod, metadata: {name: nested, managedFields: [{manager: m}]}}
- {apiVersion: v1, kind: Node, metadata: {name: n1, namespace: wrong}}
- {apiVersion: v1, kind: Event, metadata: {name: e, namespace: shop}}
- apiVersion: v1
  kind: Secret
  metadata: {name: s, namespace: shop, annotations: {kubectl.kubernetes.io/last-applied-configuration: password}}
  data: {p: cGFzc3dvcmQ=}
---
apiVersion: apps/v1
kind: DeploymentList
items:
- {metadata: {name: d, namespace: shop}, spec: {replicas: 3}}
---
{apiVersion: example.com/v1, kind: AccessList, metadata: {name: l}, items: [{big: 9007199254740993}]}
---
apiVersion: apps/v9
kind: StatefulSet
metadata: {name: future, namespace: shop}
---
{apiVersion: example.com/v1, kind: Proxy, metadata: {name: p, namespace: shop}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: proxies.example.com}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Gadget, plural: gadgets, shortNames: [gd], categories: [all]}
  versions:
  - {name: v1alpha1, served: true, storage: true}
  - {name: v1, served: true, storage: false}
  - {name: v2, served: false, storage: false}
---
{apiVersion: example.com/v1alpha1, kind: Gadget, metadata: {name: g, namespace: dropped}}
`

func TestSnapshotReads(t *testing.T) {
	s := snapshotOf(t, mixed)
	got := read(t, s)
	want := "AccessList.example.com/l CustomResourceDefinition.apiextensions.k8s.io/gadgets.example.com CustomResourceDefinition.apiextensions.k8s.io/proxies.example.com " +
		"Deployment.apps/shop/d Gadget.example.com/g Node/n1 Pod/default/nested Proxy.example.com/shop/p Secret/shop/s StatefulSet.apps/shop/future"
	if got.names() != want {
		t.Errorf("read %s\nwant %s", got.names(), want)
	}
	if got.reasons() != "statefulsets.apps@:UnknownVersion" {
		t.Errorf("gaps %v", got.gaps)
	}
	body := func(r object.Ref) any {
		o := got.objects[r]
		if o.Meta.GetNamespace() != r.Namespace || o.Meta.GetManagedFields() != nil {
			t.Errorf("%s is in namespace %q", r, o.Meta.GetNamespace())
		}
		return o.Body
	}
	if d := body(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "d"}).(*appsv1.Deployment); *d.Spec.Replicas != 3 {
		t.Error("replicas")
	}
	_ = body(object.Ref{Kind: "Pod", Namespace: "default", Name: "nested"}).(*corev1.Pod)
	_ = body(object.Ref{Kind: "Node", Name: "n1"}).(*corev1.Node)
	_ = body(object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "future"}).(*metav1.PartialObjectMetadata)
	if m := body(object.Ref{Kind: "Secret", Namespace: "shop", Name: "s"}).(*metav1.PartialObjectMetadata); len(m.Annotations) > 0 {
		t.Error(m.Annotations)
	}
	l := body(object.Ref{Group: "example.com", Kind: "AccessList", Name: "l"}).(*unstructured.Unstructured)
	if n := l.Object["items"].([]any)[0].(map[string]any)["big"]; n != int64(9007199254740993) {
		t.Errorf("a number became %v", n)
	}
	if ns := s.Namespaces(); !slices.Equal(ns, []string{"default", "shop"}) {
		t.Error(ns)
	}
}

func TestSnapshotKinds(t *testing.T) {
	s := snapshotOf(t, mixed)
	k, _ := s.Kinds(t.Context(), nil)
	for name, want := range map[string]object.Resource{
		"gd":      {Group: "example.com", Version: "v1", Kind: "Gadget", Plural: "gadgets"},
		"proxies": {Group: "example.com", Version: "v1", Kind: "Proxy", Plural: "proxies", Namespaced: true},
	} {
		r, err := k.Find(name)
		if err != nil || r.Plural != want.Plural || r.Version != want.Version || r.Kind != want.Kind || r.Namespaced != want.Namespaced || !r.Custom {
			t.Errorf("%s is %+v, %v", name, r, err)
		}
	}
	if k.NotServed(schema.GroupKind{Group: "example.com", Kind: "Unheard"}) {
		t.Error("a dump cannot know what is not served")
	}
	defs, err := s.Definitions(t.Context(), nil)
	if err != nil || len(defs) != 2 || defs[0].GetName() != "gadgets.example.com" {
		t.Error(defs, err)
	}
	// The plural is that of a definition of which only the name is known, and never made up.
	names := []schema.GroupResource{
		{Group: "g", Resource: "sheeps"},
		{Group: "g", Resource: "policies"},
		{Group: "g", Resource: "k8srequiredlabels"},
		{Group: "g", Resource: "net-attach-defs"},
		{Group: "g", Resource: "network-attachments"},
		{Group: "g", Resource: "box"},
		{Group: "g", Resource: "boxes"},
		{Group: "h", Resource: "widgets"},
	}
	for kind, want := range map[string]string{
		"Sheep": "sheeps", "Policy": "policies", "K8sRequiredLabels": "k8srequiredlabels", "NetworkAttachment": "network-attachments",
		"Widget": "", "NetAttachment": "", "Box": "",
	} {
		if r := shown(schema.GroupVersionKind{Group: "g", Version: "v1", Kind: kind}, object.Resource{}, names); r.Plural != want || r.Singular != strings.ToLower(kind) {
			t.Errorf("%s has the plural %q, want %q", kind, r.Plural, want)
		}
	}
	old := map[string]any{"spec": map[string]any{"group": "g", "version": "v1", "scope": "Namespaced", "names": map[string]any{"kind": "K", "plural": "ks"}}}
	if r, ok := definition(old); !ok || r.Version != "v1" || r.Singular != "k" || !r.Namespaced {
		t.Errorf("%+v", r)
	}
}

func TestSnapshotWithDetail(t *testing.T) {
	s := snapshotOf(t, mixed).Reading(func(r object.Resource) (Detail, string) {
		switch r.Kind {
		case "StatefulSet", "Secret":
			return Typed, "v9"
		case "Gadget":
			return Fields, "v1"
		case "Proxy":
			return Fields, ""
		}
		return Metadata, ""
	})
	got := read(t, s)
	for ref, o := range got.objects {
		_, partly := o.Body.(*metav1.PartialObjectMetadata)
		if partly == (ref.Kind == "Proxy") {
			t.Errorf("%s is read as %T", ref, o.Body)
		}
	}
	if got.reasons() != "gadgets.example.com@:UnknownVersion statefulsets.apps@:UnknownVersion" {
		t.Errorf("gaps %v", got.gaps)
	}
}

func TestWholeSnapshotIsACopy(t *testing.T) {
	s := snapshotOf(t, mixed)
	for _, o := range read(t, s.Whole()).objects {
		if neverWhole(o.GroupKind()) {
			continue
		}
		o.Fields()["kind"] = "Changed"
	}
	if got := read(t, s.Whole()); len(got.objects) != 10 || strings.Contains(got.names(), "Changed") {
		t.Error(got.names())
	}
	for _, o := range read(t, s.Whole()).objects {
		if f := o.Fields(); f != nil && f["kind"] == "Changed" {
			t.Fatal("the snapshot has changed")
		}
	}
}

func TestSnapshotHead(t *testing.T) {
	s := snapshotOf(t, `{apiVersion: sysop.dev/v1alpha1, kind: Snapshot, objects: 1, covered: [{kind: Pod, namespace: a}], absent: [Pod/a/x], gaps: [{resource: secrets, reason: Forbidden, message: nope}]}
---
{apiVersion: apps/v1, kind: FromTheFuture, metadata: {name: f, namespace: a}}
---
{apiVersion: sysop.dev/v1alpha1, kind: Snapshot, objects: 1, covered: [{kind: Pod, namespace: b}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: b}}
...
`)
	got := read(t, s)
	if got.names() != "FromTheFuture.apps/a/f Pod/b/p" || got.coverage() != "Pod@a Pod@b" || !slices.Equal(got.absent, []string{"Pod/a/x"}) {
		t.Errorf("read %s, covered %s, absent %v", got.names(), got.coverage(), got.absent)
	}
	if got.reasons() != "FromTheFuture.apps@:UnknownVersion secrets@:Forbidden" {
		t.Errorf("gaps %v", got.gaps)
	}
}

func TestSnapshotReadEnds(t *testing.T) {
	s := snapshotOf(t, mixed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := newRecorder()
	if err := s.Read(ctx, Query{}, got); !errors.Is(err, context.Canceled) || got.added > 0 {
		t.Error(err, got.added)
	}
	bad := snapshotOf(t, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: d}\n  spec: {replicas: many}\n")
	if err := bad.Read(t.Context(), Query{}, got); err == nil || !strings.HasPrefix(err.Error(), "x:4: document 1, item 1: Deployment.apps/default/d: ") {
		t.Error(err)
	}
}

// What an old cluster had, and a new one has not, is told whatever its group: that its kind
// has moved to another one makes it no better understood.
func TestSnapshotTellsRemovedVersions(t *testing.T) {
	const dump = `
{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: i, namespace: shop}}
---
{apiVersion: networking.k8s.io/v1beta1, kind: Ingress, metadata: {name: i, namespace: shop}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: today, namespace: shop}}
---
{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: p}}
---
{apiVersion: settings.k8s.io/v1alpha1, kind: PodPreset, metadata: {name: p, namespace: shop}}
---
{apiVersion: storage.k8s.io/v1beta1, kind: VolumeAttributesClass, metadata: {name: v}}
---
{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}}
`
	detail := func(r object.Resource) (Detail, string) {
		switch {
		case r.Group == "networking.k8s.io":
			return Typed, "v1"
		case r.Kind == "CustomResourceDefinition":
			return Fields, ""
		}
		return Metadata, ""
	}
	want := []string{
		"PodPreset.settings.k8s.io: in the snapshot as settings.k8s.io/v1alpha1, removed in Kubernetes 1.20 without a successor: its fields were not read",
		"PodSecurityPolicy.policy: in the snapshot as policy/v1beta1, removed in Kubernetes 1.25 without a successor: its fields were not read",
		"ingresses.extensions: in the snapshot as extensions/v1beta1, removed in Kubernetes 1.22, use networking.k8s.io/v1: its fields were not read",
		"ingresses.networking.k8s.io: in the snapshot as networking.k8s.io/v1beta1, removed in Kubernetes 1.22, use networking.k8s.io/v1: its fields were not read",
	}
	var reasons []string
	for _, g := range read(t, snapshotOf(t, dump).Reading(detail)).gaps {
		reasons = append(reasons, g.Resource+": "+g.Message)
	}
	slices.Sort(reasons)
	if !slices.Equal(reasons, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(reasons, "\n"), strings.Join(want, "\n"))
	}
	typed := read(t, snapshotOf(t, dump))
	if _, partly := typed.objects[object.Ref{Group: "extensions", Kind: "Ingress", Namespace: "shop", Name: "i"}].Body.(*metav1.PartialObjectMetadata); !partly {
		t.Error("an Ingress of extensions passes for one that is understood")
	}
}

// Of a Secret its type is read where it is written, and nothing else of its content.
func TestSnapshotTellsTypesOfSecrets(t *testing.T) {
	got := read(t, snapshotOf(t, `
{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: a}, type: kubernetes.io/service-account-token, data: {token: eA==}}
---
{apiVersion: v1, kind: Secret, metadata: {name: untyped, namespace: a}, stringData: {password: x}}
---
{apiVersion: v1, kind: Secret, metadata: {name: metadata, namespace: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a}, data: {type: x}}
`))
	want := map[object.Ref]string{
		{Kind: "Secret", Namespace: "a", Name: "token"}:       "kubernetes.io/service-account-token",
		{Kind: "Secret", Namespace: "a", Name: "untyped"}:     "Opaque",
		{Kind: "Secret", Namespace: "a", Name: "metadata"}:    "",
		{Kind: "ConfigMap", Namespace: "a", Name: "settings"}: "",
	}
	for ref, typ := range want {
		o := got.objects[ref]
		if _, partly := o.Body.(*metav1.PartialObjectMetadata); o.Type != typ || !partly {
			t.Errorf("%s is a %T of type %q, want %q", ref, o.Body, o.Type, typ)
		}
	}
}

// TestSnapshotScopes: what a server wrote, and a definition, go before what is known; that
// goes before what the objects show.
func TestSnapshotScopes(t *testing.T) {
	docs, err := Parse("dump.yaml", strings.NewReader(`
{apiVersion: known/v1, kind: Inside, metadata: {name: a}}
---
{apiVersion: known/v1, kind: Outside, metadata: {name: b, namespace: dropped}}
---
{apiVersion: known/v1, kind: Moved, metadata: {name: c, namespace: there, resourceVersion: "7"}}
---
{apiVersion: known/v1, kind: Defined, metadata: {name: d}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: defineds.known}
spec: {group: known, scope: Cluster, names: {kind: Defined, plural: defineds}, versions: [{name: v1, served: true, storage: true}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: e}}
---
{apiVersion: v1, kind: Node, metadata: {name: f}}
`))
	if err != nil {
		t.Fatal(err)
	}
	kind := func(name string, namespaced bool) object.Resource {
		return object.Resource{Group: "known", Kind: name, Plural: "many-" + name, Namespaced: namespaced}
	}
	known := []object.Resource{kind("Inside", true), kind("Outside", false), kind("Moved", false), kind("Defined", true), kind("Elsewhere", false)}
	s, err := SnapshotOptions{Namespace: "shop", Known: known}.New("dump.yaml", docs)
	if err != nil {
		t.Fatal(err)
	}
	want := "CustomResourceDefinition.apiextensions.k8s.io/defineds.known Defined.known/d Inside.known/shop/a Moved.known/there/c Node/f Outside.known/b Pod/shop/e"
	if got := read(t, s); got.names() != want {
		t.Errorf("read %s\nwant %s", got.names(), want)
	}
	k, _ := s.Kinds(t.Context(), nil)
	for name, plural := range map[string]string{"Inside": "many-Inside.known", "Defined": "defineds.known"} {
		if r, ok := k.Kind(schema.GroupKind{Group: "known", Kind: name}); !ok || r.String() != plural {
			t.Errorf("%s is served as %s, %v", name, r, ok)
		}
	}
	if namespaced, ok := k.Namespaced(schema.GroupKind{Group: "known", Kind: "Elsewhere"}); namespaced || !ok {
		t.Error("the scope of a kind that the dump lacks")
	}
}
