package regulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func fetched(t *testing.T, h http.Handler, path, accept string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// measured reads an exposition into lines: name{labels} value.
func measured(t *testing.T, text string) map[string]float64 {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				if about := map[string]string{"system": "shop", "system_namespace": "team"}[l.GetName()]; about != "" && l.GetValue() != about {
					t.Errorf("%s is of %s %q", name, l.GetName(), l.GetValue())
				} else if about == "" {
					labels = append(labels, l.GetName()+"="+l.GetValue())
				}
			}
			slices.Sort(labels)
			out[name+"{"+strings.Join(labels, ",")+"}"] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return out
}

func TestExposition(t *testing.T) {
	now := time.Date(2026, 5, 1, 10, 0, 0, 500_000_000, time.UTC)
	m := NewMeter("team", "shop")
	m.Now = func() time.Time { return now }
	h := m.Handler()
	held := &regulate.Journal{Holds: []*regulate.Hold{{ID: 1, App: "web", Signal: "Stop"}, {ID: 2, App: "web", Signal: "drain"}}}
	m.Turned(&regulate.Journal{}, &regulate.Plan{}, nil, nil)
	m.Observe(&regulate.Outcome{
		Done:   []regulate.Record{{Hold: 1, App: "web", Signal: "Stop", Action: "preset"}, {Hold: 1, App: "web", Signal: "Stop", Action: "scale"}, {Hold: 3, App: "db", Signal: "Recover", Action: "preset"}},
		Failed: []regulate.Record{{Hold: 2, App: "web", Signal: "drain", Action: "job"}},
	})
	m.Turned(held, &regulate.Plan{Steps: make([]regulate.Step, 2), Apps: []regulate.AppPlan{{App: "web", State: regulate.IsHeld}, {App: "db", State: regulate.NotHeld}}}, &regulate.SystemState{Apps: []regulate.AppState{{Name: "db", Health: health.Degraded}}}, nil)
	now = now.Add(10 * time.Second)
	fetched(t, h, "/metrics", "")
	now = now.Add(-time.Hour) // a clock that goes back takes nothing away
	fetched(t, h, "/metrics", "")
	now = now.Add(5 * time.Second)
	for i, err := range []error{&journal.ConflictError{Object: "x"}, &journal.LostError{Lease: "x", Why: errors.New("cut")}, fmt.Errorf("x: %w", apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "x", nil)), &permission.MissingError{}, apierrors.NewServiceUnavailable("x"), fmt.Errorf("%s", "x\"\n"), context.Canceled} {
		m.Turned(nil, nil, nil, err)
		if res, text := fetched(t, h, "/readyz", ""); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after error %d: %d %s", i, res.StatusCode, text)
		}
	}
	m.Turned(&regulate.Journal{}, nil, nil, nil)
	now = now.Add(time.Minute)
	res, text := fetched(t, h, "/metrics", "")
	if ct := res.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", ct)
	}
	got := measured(t, text)
	want := map[string]float64{
		"sysop_regulate_signals_total{app=web,result=done,signal=Stop}": 1, "sysop_regulate_signals_total{app=db,result=done,signal=Recover}": 1,
		"sysop_regulate_signals_total{app=web,result=failed,signal=drain}":   1,
		"sysop_regulate_operations_total{action=preset,app=web,result=done}": 1, "sysop_regulate_operations_total{action=scale,app=web,result=done}": 1,
		"sysop_regulate_operations_total{action=preset,app=db,result=done}": 1, "sysop_regulate_operations_total{action=job,app=web,result=failed}": 1,
		"sysop_regulate_errors_total{kind=conflict}": 1, "sysop_regulate_errors_total{kind=lock}": 1, "sysop_regulate_errors_total{kind=forbidden}": 2,
		"sysop_regulate_errors_total{kind=server}": 1, "sysop_regulate_errors_total{kind=other}": 1,
		"sysop_regulate_held_seconds_total{app=web}":        15,
		"sysop_regulate_last_plan_timestamp_seconds{}":      1777629600.5,
		"sysop_regulate_planned_steps{}":                    2,
		"sysop_regulate_app_state{app=web,state=Held}":      1,
		"sysop_regulate_app_state{app=db,state=Free}":       1,
		"sysop_regulate_app_health{app=db,health=Degraded}": 1,
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %v, want %v", k, got[k], v)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("besides, %s is %v", k, got[k])
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

func TestExpositionOfWhoAsks(t *testing.T) {
	m := NewMeter("team", "shop")
	h := m.Handler()
	res, text := fetched(t, h, "/metrics", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
	if ct := res.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/openmetrics-text; version=1.0.0") || !strings.HasSuffix(text, "# EOF\n") || !strings.Contains(text, "# TYPE sysop_regulate_errors counter\n") {
		t.Errorf("content type %q of\n%s", ct, text)
	}
	for path, code := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 404, "/debug/pprof/": 404} {
		if res, _ := fetched(t, h, path, ""); res.StatusCode != code {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, code)
		}
	}
	m.Turned(&regulate.Journal{Holds: []*regulate.Hold{{App: "web", Signal: "Stop"}}}, &regulate.Plan{}, nil, nil)
	if _, text := fetched(t, h, "/metrics", ""); !strings.Contains(text, `sysop_regulate_held{app="web",signal="Stop",system="shop",system_namespace="team"} 1`) {
		t.Errorf("held:\n%s", text)
	}
}
