package source

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestForbiddenEverywhereIsReadWhereItMayBe(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.pods("shop", "a")
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.URL.Path == "/api/v1/pods" && refuse(403, metav1.StatusReasonForbidden, "no")(w, r, n)
	}
	c, _ := f.cluster(t, ClusterOptions{})
	got := newRecorder()
	asks := []Query{{Namespaces: []string{"far"}, Objects: []object.Ref{{Kind: "Pod", Namespace: "elsewhere", Name: "x"}}}, {}}
	err := Follow(t.Context(), c, Query{Namespaces: []string{"shop"}, Kinds: []schema.GroupKind{podKind}}, got, func() Query {
		next := asks[0]
		asks = asks[1:]
		return next
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.names() != "Pod/shop/a" || got.coverage() != "Pod@far Pod@shop" || got.reasons() != "pods@:Forbidden" || len(got.absent) != 1 {
		t.Errorf("read %s, covered %s, gaps %s, absent %v", got.names(), got.coverage(), got.reasons(), got.absent)
	}
}

func TestManyThatMayNotBeListedAreGot(t *testing.T) {
	f := newFake(t)
	f.onlyPods()
	f.pods("shop", "p1")
	f.fault = refuse(403, metav1.StatusReasonForbidden, "no")
	c, _ := f.cluster(t, ClusterOptions{})
	var refs []object.Ref
	for i := range many + 1 {
		refs = append(refs, object.Ref{Kind: "Pod", Namespace: "shop", Name: fmt.Sprint("p", i)})
	}
	got := newRecorder()
	if err := c.Read(t.Context(), Query{Objects: refs}, got); err != nil {
		t.Fatal(err)
	}
	if got.names() != "Pod/shop/p1" || len(got.absent) != many || len(got.gaps) > 0 {
		t.Errorf("read %s, %d absent, gaps %v", got.names(), len(got.absent), got.gaps)
	}
}
