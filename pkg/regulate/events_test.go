package regulate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func eventServer() *fake.FakeDynamicClient {
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{eventsResource: "EventList"})
}

var told = Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "prod", Name: "web", UID: "u-1"}

func TestEventsAreTold(t *testing.T) {
	server := eventServer()
	teller := newEventRecorder(server, "alice@laptop (pid 7)", func(s string) { t.Errorf("warned: %s", s) })
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	teller.Now = func() time.Time { return now }
	cluster := Target{APIVersion: "example.com/v1", Kind: "Zone", Name: "eu:" + strings.Repeat("x", 250)}
	teller.Record(t.Context(), told, false, "Stopped", "preset", "spec.paused = true\xff")
	teller.Record(t.Context(), told, false, "Stopped", "preset", "spec.paused = true\xff") // the same
	teller.Record(t.Context(), told, true, "LeftAsIs", "", strings.Repeat("é", 1000))
	teller.Record(t.Context(), cluster, false, "Recovered", "preset", "as it was")
	teller.Flush(t.Context())
	teller.Record(t.Context(), told, false, "Late", "x", "after the end") // is not told, and does no harm
	teller.Flush(t.Context())
	list, err := server.Resource(eventsResource).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 3 {
		t.Fatalf("%d events, %v; want 3", len(list.Items), err)
	}
	got := map[string]unstructured.Unstructured{}
	for _, e := range list.Items {
		reason, _, _ := unstructured.NestedString(e.Object, "reason")
		got[reason] = e
		note, _, _ := unstructured.NestedString(e.Object, "note")
		action, _, _ := unstructured.NestedString(e.Object, "action")
		if len(note) > 1024 || !utf8.ValidString(note) || action == "" || len(validation.IsDNS1123Subdomain(e.GetName())) > 0 {
			t.Errorf("name %q, action %q, note of %d bytes", e.GetName(), action, len(note))
		}
	}
	for reason, want := range map[string]map[string]string{
		"Stopped":   {"type": "Normal", "action": "preset", "note": "spec.paused = true\uFFFD", "reportingController": "sysop.dev/regulate", "reportingInstance": "alice@laptop (pid 7)", "eventTime": "2026-05-01T10:00:00.000000Z", "regarding.uid": "u-1", "regarding.namespace": "prod", "metadata.namespace": "prod"},
		"LeftAsIs":  {"type": "Warning", "action": "LeftAsIs"},
		"Recovered": {"metadata.namespace": "default", "regarding.kind": "Zone"},
	} {
		e := got[reason]
		for path, v := range want {
			if is, _, _ := unstructured.NestedString(e.Object, strings.Split(path, ".")...); is != v {
				t.Errorf("%s: %s is %q, want %q", reason, path, is, v)
			}
		}
	}
}

// Who may not write Events is told once, and what may be written elsewhere is.
func TestEventsThatAreRefused(t *testing.T) {
	server := eventServer()
	var mu sync.Mutex
	requests := map[string]int{}
	server.PrependReactor("create", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		requests[a.GetNamespace()]++
		if a.GetNamespace() == "prod" {
			return true, nil, apierrors.NewForbidden(eventsResource.GroupResource(), "x", errors.New("no"))
		}
		return false, nil, nil
	})
	var warned []string
	teller := newEventRecorder(server, "x", func(s string) { warned = append(warned, s) })
	for i := range 100 {
		teller.Record(t.Context(), told, false, "Stopped", "preset", fmt.Sprint(i))
		other := told
		other.Namespace = "test"
		teller.Record(t.Context(), other, false, "Stopped", "preset", fmt.Sprint(i))
	}
	teller.Flush(t.Context())
	list, err := server.Resource(eventsResource).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 100 || len(warned) != 1 || !strings.Contains(warned[0], "forbidden") {
		t.Errorf("%d events, %v, warned %q", len(list.Items), err, warned)
	}
}

// A server that does not answer keeps nobody waiting for longer than they want.
func TestEventsThatHang(t *testing.T) {
	server := eventServer()
	hang := make(chan struct{})
	defer close(hang)
	server.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) { <-hang; return false, nil, nil })
	var warned []string
	teller := newEventRecorder(server, "x", func(s string) { warned = append(warned, s) })
	for i := range maxQueued + 100 {
		teller.Record(t.Context(), told, false, "Stopped", "preset", fmt.Sprint(i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	teller.Flush(ctx)
	if len(warned) != 1 {
		t.Errorf("warned %q", warned)
	}
}
