package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

var web = EventObject{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "prod", Name: "web", UID: "u-1"}

// stopped is the event of a signal to web.
func stopped(message string) Event {
	return Event{Kind: EventDone, Signal: "Stopped", Action: "preset", Object: &web, Message: message}
}

func TestEventsAreRecorded(t *testing.T) {
	server := eventServer()
	recorder := newRecorder(server, RecorderOptions{Controller: "sysop.dev/regulate", Instance: "alice@laptop (pid 7)", Warn: func(s string) { t.Errorf("warned: %s", s) }})
	cluster := &EventObject{APIVersion: "example.com/v1", Kind: "Zone", Name: "eu:" + strings.Repeat("x", 250), UID: "u-2"}
	record := func(e Event) {
		e.At = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
		recorder.Receive(e)
	}
	record(stopped("spec.paused = true\xff"))
	record(stopped("spec.paused = true\xff")) // the same
	record(Event{Kind: EventFailed, Signal: "LeftAsIs", Object: &web, Message: strings.Repeat("é", 1000)})
	record(Event{Kind: EventUndone, Signal: "Recovered", Action: "preset", Object: cluster, Message: "as it was"})
	for _, kind := range []EventKind{EventStarted, EventUndoing, EventWaiting, EventNoted} {
		record(Event{Kind: kind, Signal: "Early", Object: &web})
	}
	record(Event{Kind: EventDone, Signal: "Gone", Object: &EventObject{APIVersion: "v1", Kind: "Pod", Namespace: "prod", Name: "deleted"}})
	recorder.Flush(t.Context())
	record(stopped("after the end")) // is not recorded, and does no harm
	recorder.Flush(t.Context())
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
	recorder := newRecorder(server, RecorderOptions{Controller: "x", Warn: func(s string) { warned = append(warned, s) }})
	for i := range 100 {
		recorder.Receive(stopped(fmt.Sprint(i)))
		other := web
		other.Namespace = "test"
		e := stopped(fmt.Sprint(i))
		e.Object = &other
		recorder.Receive(e)
	}
	recorder.Flush(t.Context())
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
	recorder := newRecorder(server, RecorderOptions{Controller: "x", Warn: func(s string) { warned = append(warned, s) }})
	for i := range maxQueued + 100 {
		recorder.Receive(stopped(fmt.Sprint(i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	recorder.Flush(ctx)
	if len(warned) != 1 {
		t.Errorf("warned %q", warned)
	}
}

// The run of an installation is recorded about one object: its start, the end of each step, and
// its end. A namespace that does not exist, or is being deleted, is no reason to warn.
func TestEventsOfInstallation(t *testing.T) {
	server := eventServer()
	server.PrependReactor("create", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetNamespace() == "none" {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "none")
		}
		return false, nil, nil
	})
	run := []Event{
		{Kind: EventStarted, Action: "upgrade"},
		{Kind: EventStarted, Action: "upgrade-release", Step: "upgrade db"},
		{Kind: EventNoted, Message: "a note"},
		{Kind: EventUndoing, Action: "upgrade"},
		{Kind: EventNotUndone, Action: "upgrade-release", Step: "upgrade db", Message: "no"},
		{Kind: EventFailed, Action: "upgrade", Message: "undone, except those listed"},
	}
	for _, ns := range []string{"prod", "none"} {
		about := &EventObject{APIVersion: "v1", Kind: "ConfigMap", Namespace: ns, Name: "sysop-install-shop"}
		recorder := newRecorder(server, RecorderOptions{Controller: "sysop.dev/install", About: about, Warn: func(s string) { t.Errorf("warned: %s", s) }})
		for _, e := range run {
			recorder.Receive(e)
		}
		recorder.Flush(t.Context())
	}
	list, err := server.Resource(eventsResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list.Items {
		got = append(got, fmt.Sprint(e.Object["type"], " ", e.Object["reason"], " ", e.Object["action"], ": ", e.Object["note"]))
	}
	slices.Sort(got)
	want := []string{"Normal Started upgrade: ", "Warning Failed upgrade: undone, except those listed", "Warning NotUndone upgrade-release: upgrade db: no"}
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "<nil>", "")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each receiver gets each event, in order.
func TestFanOut(t *testing.T) {
	var got []string
	receive := func(name string) func(Event) { return func(e Event) { got = append(got, name+" "+e.Message) } }
	emit := FanOut(receive("a"), nil, receive("b"))
	emit(Event{Message: "1"})
	emit(WaitingForLock("shop", "bob", time.Time{}))
	want := []string{"a 1", "b 1", "a for the lock of shop: bob holds it", "b for the lock of shop: bob holds it"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "..."},
		{"abcdef", 5, "ab..."},
		{"", 5, ""},
		{"ééééé", 7, "éé..."},
		{"ééééé", 8, "éé..."},
		{"a\xffb", 100, "a\uFFFDb"},
	} {
		if got := Truncate(c.in, c.n); got != c.want || len(got) > max(c.n, len(c.want)) {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
