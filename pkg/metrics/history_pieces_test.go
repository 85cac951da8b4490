package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"testing"
)

// crowd is a server with containers that all use a core and a kilobyte, a sample every
// half a minute.
func crowd(containers int, hours int64) *fakeServer {
	f := &fakeServer{}
	times := grid(fakeBegin, fakeBegin+hours*reach, 30*second)
	cpu := make([]fakeSample, len(times))
	for i, t := range times {
		cpu[i] = fakeSample{t, formatMillis(t - fakeBegin)}
	}
	flat := constant("1024", times...)
	for i := range containers {
		uid := fmt.Sprintf("%08d-2222-3333-4444-555555555555", i)
		l := cadvisor("shop", "web-"+strconv.Itoa(i), "web", "/kubepods/pod"+uid+"/abc")
		f.add("container_cpu_usage_seconds_total", l, cpu...)
		f.add("container_memory_working_set_bytes", l, flat...)
		f.add("kube_pod_container_resource_requests", with2(podLabels("shop", "web-"+strconv.Itoa(i), uid), "container", "web", "resource", "memory"), flat...)
	}
	return f
}

// TestPieces reads a window in pieces of very different lengths: the figures are the
// same to the last digit, and no answer is much larger than it should be.
func TestPieces(t *testing.T) {
	var want map[string]string
	for _, samples := range []int64{1_000_000, 20_000, 1000} {
		m := newMess(3)
		h, err := NewHistory(m.f.start(t), nil, HistoryOptions{Window: window(m.from+40*minute, m.to)})
		if err != nil {
			t.Fatal(err)
		}
		h.want = samples
		var r UsageReport
		if err := h.Measure(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for key, v := range figures(&r) {
			got[key] = v.String()
		}
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("in pieces of %d samples figures are %v, want %v", samples, got, want)
		}
	}
	f := crowd(4, 12)
	h, err := NewHistory(f.start(t), nil, HistoryOptions{Window: window(fakeBegin+2*reach, fakeBegin+12*reach)})
	if err != nil {
		t.Fatal(err)
	}
	h.want = 200
	if err := h.Measure(t.Context(), &UsageReport{}); err != nil {
		t.Fatal(err)
	}
	large := 0
	for _, q := range f.queries {
		if q.Get("query") == "" {
			t.Error("a query is empty")
		}
		_, n, err := f.evaluate(q.Get("query"), millis(t, q.Get("time")))
		if err != nil {
			t.Fatal(err)
		}
		if n > 300 {
			large++
		}
	}
	// The first pieces, before it is known how much there is.
	if large > 6 {
		t.Errorf("%d answers of %d have more samples than they should", large, len(f.queries))
	}
}

func millis(t *testing.T, text string) int64 {
	t.Helper()
	v, ok := parseScaled(text, 3)
	if !ok {
		t.Fatalf("time %s is no number", text)
	}
	return v
}

// BenchmarkMeasure reads a day of 100 containers. Most of the time is that of the server.
func BenchmarkMeasure(b *testing.B) {
	f := crowd(100, 27)
	server := f.start(b)
	for b.Loop() {
		h, err := NewHistory(server, nil, HistoryOptions{Window: window(fakeBegin+3*reach, fakeBegin+27*reach), Client: http.DefaultClient})
		if err != nil {
			b.Fatal(err)
		}
		var r UsageReport
		if err := h.Measure(b.Context(), &r); err != nil {
			b.Fatal(err)
		}
	}
}
