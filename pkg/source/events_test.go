package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func minute(n int) time.Time { return time.Date(2026, 5, 1, 12, n, 0, 0, time.UTC) }

func at(n int) metav1.Time { return metav1.NewTime(minute(n)) }

func micro(n int) metav1.MicroTime { return metav1.NewMicroTime(minute(n)) }

func TestReports(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "e", CreationTimestamp: at(1)}
	for name, c := range map[string]struct {
		got  storedEvent
		want Event
	}{
		"old": {
			coreReport(&corev1.Event{ObjectMeta: meta, Reason: "R", Message: "m", Count: 3, FirstTimestamp: at(2), LastTimestamp: at(5), Source: corev1.EventSource{Component: "kubelet"}}),
			Event{Reason: "R", Message: "m", Count: 3, First: minute(2), Last: minute(5), Source: "kubelet"},
		},
		"old, of one time": {
			coreReport(&corev1.Event{ObjectMeta: meta, FirstTimestamp: at(2)}),
			Event{Count: 1, First: minute(2), Last: minute(2)},
		},
		"new": {
			coreReport(&corev1.Event{ObjectMeta: meta, EventTime: micro(3), ReportingController: "scheduler", InvolvedObject: corev1.ObjectReference{UID: "u"}}),
			Event{Count: 1, First: minute(3), Last: minute(3), Source: "scheduler", UID: "u"},
		},
		"new, a series": {
			coreReport(&corev1.Event{ObjectMeta: meta, EventTime: micro(3), Series: &corev1.EventSeries{Count: 7, LastObservedTime: micro(9)}}),
			Event{Count: 7, First: minute(3), Last: minute(9)},
		},
		"no time": {coreReport(&corev1.Event{ObjectMeta: meta}), Event{Count: 1, First: minute(1), Last: minute(1)}},
		"events.k8s.io": {
			newReport(&eventsv1.Event{ObjectMeta: meta, Reason: "R", Note: "m", EventTime: micro(3), Series: &eventsv1.EventSeries{Count: 2, LastObservedTime: micro(4)}, ReportingController: "scheduler"}),
			Event{Reason: "R", Message: "m", Count: 2, First: minute(3), Last: minute(4), Source: "scheduler"},
		},
		"events.k8s.io of an old one": {
			newReport(&eventsv1.Event{ObjectMeta: meta, DeprecatedCount: 4, DeprecatedFirstTimestamp: at(2), DeprecatedLastTimestamp: at(6), DeprecatedSource: corev1.EventSource{Component: "kubelet"}, Regarding: corev1.ObjectReference{UID: "u"}}),
			Event{Count: 4, First: minute(2), Last: minute(6), Source: "kubelet", UID: "u"},
		},
	} {
		if c.got.Event != c.want || c.got.id != [2]string{"shop", "e"} {
			t.Errorf("%s: %+v, want %+v", name, c.got.Event, c.want)
		}
	}
}

func TestPicker(t *testing.T) {
	pod := object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	service := object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}
	knative := object.Ref{Group: "serving.knative.dev", Kind: "Service", Namespace: "shop", Name: "web"}
	p := newPicker([]object.Ref{pod, web, pod, service, knative})
	n := 0
	tell := func(version, kind, name, reason string, minutes int, change func(*storedEvent)) {
		n++
		r := storedEvent{
			Event: Event{Reason: reason, Message: "m", Count: 1, First: minute(minutes), Last: minute(minutes)},
			id:    [2]string{"shop", fmt.Sprint(n)}, warning: true,
			about: corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: "shop", Name: name},
		}
		if change != nil {
			change(&r)
		}
		p.take(r)
	}
	tell("v1", "Pod", "web", "Old", 1, nil)
	tell("v1", "Pod", "web", "Often", 2, nil)
	tell("v1", "Pod", "web", "Often", 8, func(r *storedEvent) { r.Count = 5 })
	tell("v1", "Pod", "web", "Often", 4, func(r *storedEvent) { r.UID = "another pod of the name" })
	tell("v1", "Pod", "web", "Normal", 9, func(r *storedEvent) { r.warning = false })
	tell("v1", "Pod", "web", "Twice", 3, func(r *storedEvent) { r.id[1] = "same" })
	tell("v1", "Pod", "web", "Twice", 3, func(r *storedEvent) { r.id[1] = "same" })
	tell("v1", "Pod", "other", "Unwanted", 9, nil)
	tell("v1", "Pod", "web", "Elsewhere", 9, func(r *storedEvent) { r.about.Namespace = "far" })
	tell("", "Deployment", "web", "NoGroup", 5, nil)
	tell("apps/v1beta1", "Deployment", "web", "OtherVersion", 6, nil)
	tell("extensions/v1beta1", "Deployment", "web", "OtherGroup", 7, nil)
	tell("a/b/c", "Deployment", "web", "NoVersion", 7, nil)
	tell("", "Service", "web", "Core", 5, nil)
	tell("serving.knative.dev/v1", "Service", "web", "Knative", 5, nil)
	texts := func(each int) string {
		var out []string
		for ref, events := range p.last(each) {
			line := ref.String()
			for _, e := range events {
				line += fmt.Sprintf(" %s*%d %d-%d", e.Reason, e.Count, e.First.Minute(), e.Last.Minute())
			}
			out = append(out, line)
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	want := `Deployment.apps/shop/web OtherVersion*1 6-6 NoGroup*1 5-5
Pod/shop/web Often*6 2-8 Often*1 4-4 Twice*1 3-3 Old*1 1-1
Service.serving.knative.dev/shop/web Knative*1 5-5
Service/shop/web Core*1 5-5`
	if got := texts(9); got != want {
		t.Errorf("all:\n%s\nwant:\n%s", got, want)
	}
	want = `Deployment.apps/shop/web OtherVersion*1 6-6
Pod/shop/web Often*6 2-8
Service.serving.knative.dev/shop/web Knative*1 5-5
Service/shop/web Core*1 5-5`
	if got := texts(1); got != want {
		t.Errorf("the last:\n%s\nwant:\n%s", got, want)
	}
	if got := p.last(0); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
}

// events makes warnings about pods, one a pod.
func (f *fake) events(ns string, pods ...string) {
	list := "/api/v1/namespaces/" + ns + "/events"
	for _, p := range pods {
		f.objects[list] = append(f.objects[list], &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: p + ".1"}, Type: "Warning", Reason: "Of" + p, LastTimestamp: at(1),
			InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: ns, Name: p},
		})
	}
}

func podRefs(ns string, n int) []object.Ref {
	var out []object.Ref
	for i := range n {
		out = append(out, object.Ref{Kind: "Pod", Namespace: ns, Name: fmt.Sprint("p", i)})
	}
	return out
}

// TestWarningsAreAskedForCheaply looks at the requests for few and many objects.
func TestWarningsAreAskedForCheaply(t *testing.T) {
	var spread []object.Ref
	for i := range manyNamespace + 1 {
		spread = append(spread, podRefs(fmt.Sprint("ns", i), 1)...)
	}
	const warning, about = "fieldSelector=type%3DWarning", "fieldSelector=type%3DWarning%2CinvolvedObject.kind%3DPod%2CinvolvedObject.name%3Dp0"
	for name, c := range map[string]struct {
		refs  []object.Ref
		want  map[string]string // queries by path
		asked int
		found int
	}{
		"one":         {podRefs("shop", 1), map[string]string{"/api/v1/namespaces/shop/events": about}, 2, 1},
		"many":        {podRefs("shop", fewObjects+1), map[string]string{"/api/v1/namespaces/shop/events": warning}, 2, 3},
		"of many":     {spread, map[string]string{"/api/v1/events": warning}, 3, 1},
		"none":        {nil, nil, 0, 0},
		"no such":     {[]object.Ref{{Kind: "Pod", Namespace: "a/../shop", Name: "p0"}}, nil, 0, 0},
		"of no place": {[]object.Ref{{Kind: "Node", Name: "p0"}}, map[string]string{"/api/v1/namespaces/default/events": "Node", "/api/v1/namespaces/kube-system/events": "Node"}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.events("shop", "p0", "p1", "p2", "else")
			f.events("ns1", "p0")
			cluster, _ := f.cluster(t, ClusterOptions{})
			got, err := cluster.Warnings(t.Context(), c.refs, 3)
			if err != nil || len(got) != c.found {
				t.Errorf("found %v %v", got, err)
			}
			for ref, events := range got {
				if len(events) != 1 || events[0].Reason != "Of"+ref.Name {
					t.Errorf("%s: %v", ref, events)
				}
			}
			asked := f.log()
			if len(asked) != c.asked {
				t.Errorf("asked %v", asked)
			}
			for _, r := range asked {
				want, ok := c.want[r.path]
				if !ok || !strings.Contains(r.query, want) || !strings.Contains(r.query, "limit=2") || !strings.HasPrefix(r.accept, protobufType) {
					t.Errorf("asked %v", r)
				}
			}
		})
	}
}

// TestWarningsThatMayNotBeRead has one namespace that is refused, or all at once.
func TestWarningsThatMayNotBeRead(t *testing.T) {
	f := newFake(t)
	f.events("shop", "p0")
	var refs []object.Ref
	for i := range manyNamespace + 1 {
		refs = append(refs, podRefs(fmt.Sprint("ns", i), 1)...)
	}
	refs = append(refs, podRefs("shop", 1)...)
	f.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.HasSuffix(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/shop/") {
			sendStatus(w, 403, metav1.StatusReasonForbidden, "events is forbidden: not you", "")
			return true
		}
		return false
	}
	c, _ := f.cluster(t, ClusterOptions{})
	for _, some := range [][]object.Ref{refs, refs[8:]} {
		got, err := c.Warnings(t.Context(), some, 3)
		var gaps *WarningsError
		if len(got) != 1 || !errors.As(err, &gaps) || !apierrors.IsForbidden(err) {
			t.Fatalf("read %v: %v", got, err)
		}
		want := object.Gap{Resource: "events", Namespace: "ns8", Reason: "Forbidden", Message: "not you"}
		if len(gaps.Gaps) != len(some)-1 || gaps.Gaps[len(gaps.Gaps)-1] != want || !strings.Contains(err.Error(), "list events in ns8: not you") {
			t.Errorf("%v: %v", err, gaps.Gaps)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Warnings(ended, refs, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	f = newFake(t)
	c, _ = f.cluster(t, ClusterOptions{})
	f.Close()
	var gone *ConnectError
	if _, err := c.Warnings(t.Context(), refs, 3); !errors.As(err, &gone) {
		t.Errorf("no server: %v", err)
	}
}

const withEvents = `
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web}}
---
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: web.1}
type: Warning
reason: BackOff
message: back-off restarting
count: 12
firstTimestamp: "2026-05-01T12:01:00Z"
lastTimestamp: "2026-05-01T12:09:00Z"
source: {component: kubelet}
involvedObject: {apiVersion: v1, kind: Pod, namespace: shop, name: web, uid: u1}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {namespace: shop, name: web.1}
type: Warning
reason: BackOff
note: back-off restarting
deprecatedCount: 12
regarding: {apiVersion: v1, kind: Pod, namespace: shop, name: web, uid: u1}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {namespace: shop, name: web.2}
type: Warning
reason: FailedScheduling
note: no nodes
eventTime: "2026-05-01T12:02:00.000000Z"
series: {count: 3, lastObservedTime: "2026-05-01T12:03:00.000000Z"}
reportingController: default-scheduler
regarding: {apiVersion: v1, kind: Pod, namespace: shop, name: web}
`

func TestWarningsOfASnapshot(t *testing.T) {
	s := snapshotOf(t, withEvents)
	web := object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}
	got, err := s.Warnings(t.Context(), []object.Ref{web, {Kind: "Pod", Namespace: "shop", Name: "db"}}, 5)
	want := map[object.Ref][]Event{web: {
		{Reason: "BackOff", Message: "back-off restarting", Count: 12, First: minute(1), Last: minute(9), Source: "kubelet", UID: "u1"},
		{Reason: "FailedScheduling", Message: "no nodes", Count: 3, First: minute(2), Last: minute(3), Source: "default-scheduler"},
	}}
	for _, events := range got {
		for i := range events {
			events[i].First, events[i].Last = events[i].First.UTC(), events[i].Last.UTC()
		}
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
	s = snapshotOf(t, "{apiVersion: v1, kind: Event, metadata: {name: e}, count: many}")
	if _, err := s.Warnings(t.Context(), []object.Ref{web}, 5); err == nil || !strings.Contains(err.Error(), "Event/default/e") {
		t.Errorf("an event that is none: %v", err)
	}
}
