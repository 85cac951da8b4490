package regulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Metrics counts what regulate watch does, and exposes it.
type Metrics struct {
	// Now tells the time; it is time.Now unless set before the meter is used.
	Now func() time.Time

	registry   *prometheus.Registry
	signals    *prometheus.CounterVec
	operations *prometheus.CounterVec
	failures   *prometheus.CounterVec
	held       *prometheus.GaugeVec
	seconds    *prometheus.CounterVec
	turned     prometheus.Gauge
	steps      prometheus.Gauge
	apps       *prometheus.GaugeVec
	health     *prometheus.GaugeVec

	mu      sync.Mutex
	holding map[string]bool // apps that were held when it was last counted
	counted time.Time
	trouble error // error of the last turn
}

// NewMeter returns the meter of the system of a namespace.
func NewMeter(namespace, system string) *Metrics {
	constLabels := prometheus.Labels{"system": system, "system_namespace": namespace}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: constLabels}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: constLabels}, labels)
	}
	m := &Metrics{
		Now: time.Now, registry: prometheus.NewRegistry(), holding: map[string]bool{},
		signals:    counter("sysop_regulate_signals_total", "Signals that were sent to apps, and recoveries (Recover).", "app", "signal", "result"),
		operations: counter("sysop_regulate_operations_total", "Operations on objects by signals.", "app", "action", "result"),
		failures:   counter("sysop_regulate_errors_total", "Rounds of the watch that failed, by kind of failure.", "kind"),
		held:       gauge("sysop_regulate_held", "1 for each app and signal that is held.", "app", "signal"),
		seconds:    counter("sysop_regulate_held_seconds_total", "How long apps were held while this process watched.", "app"),
		turned:     gauge("sysop_regulate_last_plan_timestamp_seconds", "When a plan was last made, in seconds since the epoch; 0 for never.").WithLabelValues(),
		steps:      gauge("sysop_regulate_planned_steps", "Steps that the last plan had left.").WithLabelValues(),
		apps:       gauge("sysop_regulate_app_state", "1 for the state of each app to regulation: Free, Held, Cause or Unknown.", "app", "state"),
		health:     gauge("sysop_regulate_app_health", "1 for the health of each app: Healthy, Progressing, Degraded, Suspended, Missing or Unknown.", "app", "health"),
	}
	m.registry.MustRegister(m.signals, m.operations, m.failures, m.held, m.seconds, m.turned, m.steps, m.apps, m.health)
	for _, kind := range []string{"conflict", "forbidden", "lock", "other", "server"} {
		m.failures.WithLabelValues(kind)
	}
	return m
}

// Observe counts the results of a run.
func (m *Metrics) Observe(o *regulate.Outcome) {
	type sent struct {
		hold        int
		app, signal string
	}
	result := map[sent]string{}
	count := func(list []regulate.Record, outcome string) {
		for _, r := range list {
			result[sent{r.Hold, r.App, r.Signal}] = outcome
			if r.Action != "" {
				m.operations.WithLabelValues(r.App, r.Action, outcome).Inc()
			}
		}
	}
	count(o.Done, "done")
	count(o.Failed, "failed") // a signal of which a part failed has failed
	for s, outcome := range result {
		m.signals.WithLabelValues(s.app, s.signal, outcome).Inc()
	}
}

// Turned records how a turn of the watch ended: with the journal, the plan and the state of the apps, or
// with an error. Each may be nil.
func (m *Metrics) Turned(j *regulate.Journal, p *regulate.Plan, state *regulate.SystemState, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count()
	m.trouble = err
	if err != nil && !errors.Is(err, context.Canceled) {
		m.failures.WithLabelValues(kindOf(err)).Inc()
	}
	if j != nil {
		m.held.Reset()
		clear(m.holding)
		for _, h := range j.Holds {
			m.held.WithLabelValues(h.App, h.Signal).Set(1)
			m.holding[h.App] = true
			m.seconds.WithLabelValues(h.App)
		}
	}
	if p == nil || err != nil {
		return
	}
	m.turned.Set(float64(m.Now().UnixNano()) / 1e9)
	m.steps.Set(float64(len(p.Steps)))
	m.apps.Reset()
	for _, a := range p.Apps {
		m.apps.WithLabelValues(a.App, string(a.State)).Set(1)
	}
	if state == nil {
		return
	}
	m.health.Reset()
	for i := range state.Apps {
		m.health.WithLabelValues(state.Apps[i].Name, string(state.Apps[i].Health)).Set(1)
	}
}

// count adds the time since the last count to apps that were held meanwhile.
func (m *Metrics) count() {
	now := m.Now()
	if passed := now.Sub(m.counted).Seconds(); !m.counted.IsZero() && passed > 0 { // clocks go back
		for app := range m.holding {
			m.seconds.WithLabelValues(app).Add(passed)
		}
	}
	m.counted = now
}

// kindOf returns the class of an error, as a label with few values.
func kindOf(err error) string {
	switch {
	case errors.As(err, new(*journal.ConflictError)), apierrors.IsConflict(err):
		return "conflict"
	case errors.As(err, new(*journal.LostError)):
		return "lock"
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), errors.As(err, new(*permission.MissingError)):
		return "forbidden"
	case apierrors.ReasonForError(err) != "" && journal.IsTransient(err):
		return "server"
	}
	return "other"
}

// Handler serves /metrics (OpenMetrics if requested, else the text format of Prometheus),
// /healthz and /readyz. It is ready unless its last turn failed; a standby replica is ready too.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", m.expose)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		trouble := m.trouble
		m.mu.Unlock()
		if trouble != nil {
			// The message stays private: the port needs no authentication.
			say(w, http.StatusServiceUnavailable, "the last round failed: "+kindOf(trouble))
			return
		}
		say(w, http.StatusOK, "ok")
	})
	return mux
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	fmt.Fprintln(w, text)
}

func (m *Metrics) expose(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.count()
	m.mu.Unlock()
	families, err := m.registry.Gather()
	if err != nil {
		say(w, http.StatusInternalServerError, "the metrics contradict each other")
		return
	}
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	var out strings.Builder // buffered, so that the response is complete or an error
	enc := expfmt.NewEncoder(&out, format)
	for _, f := range families {
		err = errors.Join(err, enc.Encode(f))
	}
	if end, ok := enc.(expfmt.Closer); ok {
		err = errors.Join(err, end.Close())
	}
	if err != nil {
		say(w, http.StatusInternalServerError, "the metrics cannot be written")
		return
	}
	w.Header().Set("Content-Type", string(format))
	_, _ = w.Write([]byte(out.String())) // the scraper may have disconnected
}
