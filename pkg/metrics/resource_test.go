package metrics_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

func uidOf(name string) types.UID { return types.UID("00000000-0000-4000-8000-" + name) }

// samples is a list of PodMetrics: "ns/name: a=100m/64Mi b=1n/1Ki", a line each; "@"
// and seconds says how old a sample is.
func samples(version string, lines ...string) answer {
	var items []any
	for _, line := range lines {
		id, rest, _ := strings.Cut(line, ": ")
		id, age, _ := strings.Cut(id, "@")
		ns, name, _ := strings.Cut(id, "/")
		at := now.Add(-15 * time.Second)
		if age != "" {
			d, err := time.ParseDuration(age)
			if err != nil {
				panic(err)
			}
			at = now.Add(-d)
		}
		var containers []any
		for c := range strings.FieldsSeq(rest) {
			name, usage, _ := strings.Cut(c, "=")
			cpu, memory, both := strings.Cut(usage, "/")
			use := map[string]any{"cpu": cpu}
			if both {
				use["memory"] = memory
			}
			containers = append(containers, map[string]any{"name": name, "usage": use})
		}
		items = append(items, map[string]any{
			"metadata":  map[string]any{"namespace": ns, "name": name},
			"timestamp": at.Format(time.RFC3339), "window": "15s", "containers": containers,
		})
	}
	return ok(map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/" + version, "items": items})
}

const podMetrics = "/apis/metrics.k8s.io/v1beta1/namespaces/%s/pods"

func TestAPI(t *testing.T) {
	s := &server{answers: map[string]answer{
		fmt.Sprintf(podMetrics, "shop"): samples("v1beta1",
			"shop/web-1: a=146648300n/407491Ki b=1n/1Ki", "shop/web-10: a=1/1Gi", "shop/half: a=250m b=5m/1Mi", "shop/old@2h: a=1/1Gi", "shop/not-asked: a=9/9Gi"),
		fmt.Sprintf(podMetrics, "other"): samples("v1beta1", "other/web-1: a=2/2Gi"),
		fmt.Sprintf(podMetrics, "empty"): samples("v1beta1"),
	}}
	r := podsOf("empty/x", "other/web-1", "shop/gone", "shop/half", "shop/old", "shop/web-1", "shop/web-10", "shop/young")
	r.Pods[7].Started = now.Add(-12 * time.Second)
	r.Pods[2].Unmeasured = "not running yet"
	measure(t, metrics.NewAPI(s.get(t), false), r)
	for i, want := range []struct{ cpu, memory, why string }{
		{"", "", "no sample yet"},
		{"2", "2147483648", ""},
		{"", "", "not running yet"},
		{"0.255", "", ""}, // A sum of which a part is missing is none.
		{"", "", "the sample is of an earlier pod of that name"},
		{"0.146648301", "417271808", ""},
		{"1", "1073741824", ""},
		{"", "", "no sample yet: the pod is 12s old"},
	} {
		p := &r.Pods[i]
		has(t, p.Ref.Name, p.Used, metrics.CPU, want.cpu)
		has(t, p.Ref.Name, p.Used, metrics.Memory, want.memory)
		if p.Unmeasured != want.why {
			t.Errorf("%s: %q, want %q", p.Ref, p.Unmeasured, want.why)
		}
	}
	web := r.Pods[5]
	has(t, "container a", web.Containers[0].Used, metrics.CPU, "0.1466483")
	has(t, "container b", web.Containers[1].Used, metrics.Memory, "1024")
	if len(r.Notes) != 0 {
		t.Errorf("notes: %v", r.Notes)
	}
	// One list a namespace, and v1 asked for once.
	if asked, all := s.requests("/v1beta1/"); all != 3 || len(asked) != 3 {
		t.Errorf("asked %v", asked)
	}
	if asked, all := s.requests("/v1/"); all != 1 {
		t.Errorf("asked %v", asked)
	}
}

func TestAPIEverywhere(t *testing.T) {
	s := &server{answers: map[string]answer{"/apis/metrics.k8s.io/v1/pods": samples("v1", "a/x: a=1/1", "b/x: a=2/2", "c/x: a=3/3")}}
	r := podsOf("a/x", "b/x")
	measure(t, metrics.NewAPI(s.get(t), true), r)
	has(t, "a", r.Pods[0].Used, metrics.CPU, "1")
	has(t, "b", r.Pods[1].Used, metrics.CPU, "2")
	if asked, all := s.requests("/"); all != 1 {
		t.Errorf("asked %v", asked)
	}
}

// Who may not list everywhere may list some namespaces.
func TestAPIForbiddenInPart(t *testing.T) {
	s := &server{answers: map[string]answer{
		"/apis/metrics.k8s.io/v1/pods":              forbidden(),
		"/apis/metrics.k8s.io/v1/namespaces/a/pods": forbidden(),
		"/apis/metrics.k8s.io/v1/namespaces/b/pods": samples("v1", "b/x: a=2/2"),
		"/apis/metrics.k8s.io/v1/namespaces/c/pods": forbidden(),
	}}
	r := podsOf("a/x", "b/x", "c/x", "c/y")
	measure(t, metrics.NewAPI(s.get(t), true), r)
	has(t, "b", r.Pods[1].Used, metrics.CPU, "2")
	for _, i := range []int{0, 2, 3} {
		if why := r.Pods[i].Unmeasured; why != "no permission to read the metrics API" {
			t.Errorf("%s: %q", r.Pods[i].Ref, why)
		}
	}
	if len(r.Notes) != 1 || r.Notes[0].Reason != "Forbidden" || r.Notes[0].Subject != "a, c" || !r.Notes[0].LowersFigures {
		t.Errorf("notes: %+v", r.Notes)
	}
	if asked, all := s.requests("/"); all != 4 {
		t.Errorf("asked %v", asked)
	}
}

// What nobody serves is asked once and told once.
func TestAPIRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer      answer
		reason, why string
		most        int
	}{
		"not there":       {answer{}, "NotServed", "the cluster has no metrics API", 2},
		"nobody behind":   {answer{code: 503, reason: metav1.StatusReasonServiceUnavailable}, "Unavailable", "the metrics API is not available", 5},
		"a page to login": {answer{code: 200, body: "<html>log in</html>"}, "Unreadable", "the response of the metrics API cannot be read", 2},
		"cut":             {answer{code: 200, body: `{"items": [{"metadata":`}, "Unreadable", "the response of the metrics API cannot be read", 2},
		"unauthorized":    {answer{code: 401, reason: metav1.StatusReasonUnauthorized}, "Unauthorized", "no permission to read the metrics API", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: map[string]answer{}}
			for _, ns := range []string{"a", "b", "c"} {
				if c.answer.code != 0 {
					s.answers[fmt.Sprintf(podMetrics, ns)] = c.answer
				}
			}
			r := podsOf("a/x", "b/x", "c/x")
			measure(t, metrics.NewAPI(s.get(t), false), r)
			for _, p := range r.Pods {
				if p.Unmeasured != c.why || p.Used != nil {
					t.Errorf("%s: %q %v", p.Ref, p.Unmeasured, p.Used)
				}
			}
			if len(r.Notes) != 1 || r.Notes[0].Reason != c.reason || r.Notes[0].Source != "metrics.k8s.io" || !strings.HasPrefix(r.Notes[0].Message, c.why+": ") {
				t.Errorf("notes: %+v", r.Notes)
			}
			if asked, all := s.requests("/"); all > c.most {
				t.Errorf("asked %v", asked)
			}
		})
	}
}

func TestAPIEnds(t *testing.T) {
	s := &server{answers: map[string]answer{}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := podsOf("a/x")
	if err := metrics.NewAPI(s.get(t), false).Measure(ctx, r); err == nil || len(r.Notes) != 0 {
		t.Errorf("an ended context: %v, notes %v", err, r.Notes)
	}
	if err := metrics.NewAPI(s.get(t), true).Measure(t.Context(), &metrics.UsageReport{}); err != nil {
		t.Error(err)
	}
	if asked, all := s.requests("/"); all != 0 {
		t.Errorf("asked %v for nothing", asked)
	}
}

// Many namespaces are asked at once, within a bound, and each gets its own samples.
func TestAPIManyNamespaces(t *testing.T) {
	s := &server{answers: map[string]answer{}}
	var names []string
	for i := range 60 {
		ns := fmt.Sprintf("ns-%02d", i)
		names = append(names, ns+"/x", ns+"/y")
		s.answers[fmt.Sprintf(podMetrics, ns)] = samples("v1beta1", ns+fmt.Sprintf("/x: a=%d/1", i))
	}
	s.answers[fmt.Sprintf(podMetrics, "ns-07")] = answer{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden}
	r := podsOf(names...)
	measure(t, metrics.NewAPI(s.get(t), false), r)
	for i := range 60 {
		want := fmt.Sprint(i)
		if i == 7 {
			want = ""
		}
		has(t, names[2*i], r.Pods[2*i].Used, metrics.CPU, want)
		has(t, names[2*i+1], r.Pods[2*i+1].Used, metrics.CPU, "")
	}
	if _, all := s.requests("/v1beta1/"); all != 60 || s.most > 16 {
		t.Errorf("%d requests, %d at once", all, s.most)
	}
}
