package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sampleKinds are types whose lists are decoded as client-go does it.
var sampleKinds = map[schema.GroupVersionKind]func() (one, list fakeObjects){
	corev1.SchemeGroupVersion.WithKind("Pod"):           func() (fakeObjects, fakeObjects) { return &corev1.Pod{}, &corev1.PodList{} },
	corev1.SchemeGroupVersion.WithKind("Service"):       func() (fakeObjects, fakeObjects) { return &corev1.Service{}, &corev1.ServiceList{} },
	appsv1.SchemeGroupVersion.WithKind("Deployment"):    func() (fakeObjects, fakeObjects) { return &appsv1.Deployment{}, &appsv1.DeploymentList{} },
	batchv1.SchemeGroupVersion.WithKind("CronJob"):      func() (fakeObjects, fakeObjects) { return &batchv1.CronJob{}, &batchv1.CronJobList{} },
	networkingv1.SchemeGroupVersion.WithKind("Ingress"): func() (fakeObjects, fakeObjects) { return &networkingv1.Ingress{}, &networkingv1.IngressList{} },
}

type fakeObjects interface {
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func TestDecodesAsClientGoDoes(t *testing.T) {
	random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), scheme.Codecs)
	for gvk, make := range sampleKinds {
		r := object.Resource{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
		for range 20 {
			_, list := make()
			random.Fill(list)
			for _, item := range itemsOf(t, list) {
				item.(metav1.Object).SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Apply", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}})
			}
			raw, err := list.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			_, want := make()
			if err := want.Unmarshal(raw); err != nil {
				t.Fatal(err)
			}
			items := itemsOf(t, want)
			var got []runtime.Object
			next, err := decodeProtobufList(enveloped(gvk.GroupVersion().WithKind("List"), raw), r, Typed, func(o object.Object) { got = append(got, o.Body) })
			if err != nil || len(got) != len(items) || next != want.(metav1.ListInterface).GetContinue() {
				t.Fatalf("%s: %d items of %d, next %q, %v", gvk, len(got), len(items), next, err)
			}
			for i := range got {
				items[i].(metav1.Object).SetManagedFields(nil)
				if !equality.Semantic.DeepEqual(got[i], items[i]) {
					t.Fatalf("%s:\n got %v\nwant %v", gvk, got[i], items[i])
				}
			}
			n := 0
			_, err = decodeProtobufList(enveloped(gvk, raw), r, Metadata, func(o object.Object) {
				if o.Name != items[n].(metav1.Object).GetName() || o.Meta.GetManagedFields() != nil {
					t.Errorf("%s: item %d read as %s", gvk, n, o.Ref)
				}
				n++
			})
			if err != nil || n != len(items) {
				t.Fatalf("%s: %d of %d, %v", gvk, n, len(items), err)
			}
		}
	}
}

func itemsOf(t *testing.T, list runtime.Object) []runtime.Object {
	t.Helper()
	switch list := list.(type) {
	case *corev1.PodList:
		return pointers[corev1.Pod](list.Items)
	case *corev1.ServiceList:
		return pointers[corev1.Service](list.Items)
	case *appsv1.DeploymentList:
		return pointers[appsv1.Deployment](list.Items)
	case *batchv1.CronJobList:
		return pointers[batchv1.CronJob](list.Items)
	case *networkingv1.IngressList:
		return pointers[networkingv1.Ingress](list.Items)
	}
	t.Fatalf("no items of %T", list)
	return nil
}

func pointers[T any, P interface {
	*T
	runtime.Object
}](items []T) []runtime.Object {
	out := make([]runtime.Object, len(items))
	for i := range items {
		out[i] = P(&items[i])
	}
	return out
}

// podPage returns a list of three pods as a server sends it.
func podPage(t testing.TB) []byte {
	list := corev1.PodList{ListMeta: metav1.ListMeta{Continue: "next"}, Items: []corev1.Pod{*pod("a", "x"), *pod("a", "y"), *pod("a", "z")}}
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return enveloped(corev1.SchemeGroupVersion.WithKind("PodList"), raw)
}

var podResource = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}

// TestTruncatedAnywhere cuts a page at every byte: within the envelope, and, with
// an envelope that fits, within the list.
func TestTruncatedAnywhere(t *testing.T) {
	full := podPage(t)
	for n := range len(full) {
		var names string
		_, err := decodeProtobufList(bytes.Clone(full[:n]), podResource, Typed, func(o object.Object) { names += o.Name })
		if err == nil && names != "xyz" {
			t.Fatalf("cut at %d: no error, %q", n, names)
		}
	}
	raw, err := envelope(full)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(raw) {
		var names string
		_, _ = decodeProtobufList(enveloped(schema.GroupVersionKind{}, raw[:n]), podResource, Typed, func(o object.Object) { names += o.Name })
		if whole := "xyz"; !strings.HasPrefix(whole, names) {
			t.Fatalf("cut at %d: %q", n, names)
		}
	}
}

// TestStringsDoNotPinThePage changes a page after reading it.
func TestStringsDoNotPinThePage(t *testing.T) {
	body, _ := json.Marshal(map[string]any{"kind": "PodList", "items": []any{pod("a", "x")}})
	for _, a := range []answer{{podPage(t), protobufType}, {body, jsonType}} {
		for _, d := range []Detail{Metadata, Typed, Fields} {
			if d == Fields && protobuf(a) {
				continue
			}
			page := answer{bytes.Clone(a.body), a.contentType}
			var names []object.Object
			if _, err := decodeList(page, podResource, d, func(o object.Object) { names = append(names, o) }); err != nil {
				t.Fatal(err)
			}
			clear(page.body)
			if o := names[0]; o.Name != "x" || o.Meta.GetName() != "x" || o.Namespace != "a" {
				t.Errorf("%s, detail %d: %q", a.contentType, d, o.Name)
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	none := func(object.Object) {}
	for name, a := range map[string]answer{
		"empty":           {nil, protobufType},
		"no list inside":  {[]byte(magic), protobufType},
		"cut JSON":        {[]byte(`{"kind":"PodList","items":[{"meta`), jsonType},
		"an object":       {[]byte(`{"kind":"Pod"}`), jsonType},
		"a wrong field":   {[]byte(`{"kind":"PodList","items":[{"metadata":{"name":7}}]}`), jsonType},
		"an item of none": {[]byte(`{"kind":"PodList","items":[7]}`), jsonType},
	} {
		if _, err := decodeList(a, podResource, Typed, none); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := decodeList(answer{[]byte(`{"kind":"PodList","items":null}`), jsonType}, podResource, Typed, none); err != nil {
		t.Error(err)
	}
	if _, err := decodeOne(answer{[]byte(`{"kind":"Pod"`), jsonType}, podResource, Fields); !errors.Is(err, errTruncated) {
		t.Error(err)
	}
	if _, err := decodeOne(answer{[]byte(`null`), jsonType}, podResource, Fields); err == nil {
		t.Error("null is an object")
	}
	if o, err := decodeOne(answer{[]byte(`{"metadata":{"name":"a"},"spec":{"n":9007199254740993}}`), jsonType}, podResource, Fields); err != nil || o.Fields()["spec"].(map[string]any)["n"] != int64(9007199254740993) {
		t.Error(o, err)
	}
}

func FuzzDecodeProtobufList(f *testing.F) {
	f.Add(podPage(f), uint8(1))
	f.Add(podPage(f)[:40], uint8(0))
	f.Add([]byte(magic), uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, detail uint8) {
		decode := func(body []byte) (out []string, next string, err error) {
			next, err = decodeProtobufList(body, podResource, Detail(detail%2), func(o object.Object) {
				if o.Meta.GetManagedFields() != nil {
					t.Error("managed fields")
				}
				out = append(out, o.String())
			})
			return out, next, err
		}
		a, next, err := decode(bytes.Clone(body))
		b, again, err2 := decode(bytes.Clone(body))
		if len(a) != len(b) || next != again || (err == nil) != (err2 == nil) {
			t.Errorf("%v %q %v, and then %v %q %v", a, next, err, b, again, err2)
		}
	})
}
