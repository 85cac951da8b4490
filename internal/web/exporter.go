package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// MetricsOptions configure ServeMetrics.
type MetricsOptions struct {
	Address string // HOST:PORT
	// Compute returns the figures, at most once an Interval.
	Compute  func(context.Context) (view.Output, error)
	Interval time.Duration
	Now      func() time.Time
	ErrOut   io.Writer // for the address, and warnings
}

// ServeMetrics answers scrapes of /metrics at an address until the context ends, which is no error. A
// scrape computes the figures, at most once an interval and one computation at a time; earlier
// scrapes get the last figures. It prints its address on stderr.
func ServeMetrics(ctx context.Context, o MetricsOptions) error {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return hint.With(fmt.Errorf("listen at %q: %w", o.Address, err), "use HOST:PORT, such as 127.0.0.1:9808, or 127.0.0.1:0 for any free port")
	}
	if host == "" {
		host = "127.0.0.1" // All interfaces are never meant by leaving them out.
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return hint.With(fmt.Errorf("listen at %s: %w", o.Address, err), "choose another port, or 0 for any that is free")
	}
	local := loopback(listener.Addr().String())
	e := &exporter{MetricsOptions: o, ctx: ctx}
	server := &http.Server{
		Handler: e.handler(local), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // It tells of broken connections alone.
	}
	if !local {
		fmt.Fprintf(o.ErrOut, "warning: %s can be reached from other machines, and every client can read the figures without a password\n", listener.Addr())
	}
	fmt.Fprintf(o.ErrOut, "metrics at http://%s/metrics, computed at most every %s\n", listener.Addr(), o.Interval)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve metrics at %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	// Scrapes under way are answered; a computation ends with the context.
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = server.Shutdown(leave)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// loopback says that an address is reached from this machine alone; a name is not,
// but for localhost.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = strings.Trim(addr, "[]")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// staleAfter is how many intervals the last figures are still given when no newer
// can be computed. Later ones would be of another time altogether: a scrape fails.
const staleAfter = 5

// exporter computes figures for scrapes.
type exporter struct {
	MetricsOptions
	ctx context.Context // of the server: a scraper that gives up stops nothing

	mu      sync.Mutex
	running chan struct{} // closed when the computation under way ends; nil for none
	last    figures
}

// figures are what is known after a computation.
type figures struct {
	families  []view.Family // of the last that succeeded
	succeeded time.Time
	began     time.Time // of the last, successful or not
	took      time.Duration
	failures  int
	err       error // of the last
}

// current returns figures that are no older than the interval, if possible.
func (e *exporter) current(ctx context.Context) (figures, error) {
	e.mu.Lock()
	if e.running == nil && (e.last.began.IsZero() || e.Now().Sub(e.last.began) >= e.Interval) {
		e.running = make(chan struct{})
		e.last.began = e.Now()
		go e.run(e.running)
	}
	running := e.running
	e.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-ctx.Done():
			return figures{}, ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last, nil
}

func (e *exporter) run(done chan struct{}) {
	began := e.Now()
	answer, err := e.Compute(e.ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last.took, e.last.err = e.Now().Sub(began), err
	if err == nil {
		e.last.families, e.last.succeeded = answer.Families, e.Now()
	} else if e.ctx.Err() == nil {
		e.last.failures++
		fmt.Fprintf(e.ErrOut, "warning: %s\n", render.Escape(err.Error()))
	}
	e.running = nil
	close(done)
}

// handler answers scrapes. On a loopback address it refuses requests for other
// hosts: a web page could make them through a name of its own that leads here.
func (e *exporter) handler(local bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", e.scrape)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "kubectl sysop metrics: /metrics")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !loopback(r.Host) {
			http.Error(w, "this server answers only to its own address", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (e *exporter) scrape(w http.ResponseWriter, r *http.Request) {
	f, err := e.current(r.Context())
	if err == nil && (f.succeeded.IsZero() || f.err != nil && e.Now().Sub(f.succeeded) > staleAfter*e.Interval) {
		err = f.err
	}
	var body bytes.Buffer
	kind := render.PlainTextType
	if err == nil {
		families := append(f.own(), f.families...)
		if wantsOpenMetrics(r.Header.Values("Accept")) {
			kind = render.OpenMetricsType
			err = render.Write(&body, "openmetrics", view.Output{Families: families}, render.Options{})
		} else {
			err = render.PlainText(&body, families)
		}
	}
	if err != nil {
		http.Error(w, render.Escape(err.Error()), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Vary", "Accept")
	// What a scraper does not read is its own loss.
	_, _ = w.Write(body.Bytes())
}

// own are the families about the computation itself.
func (f *figures) own() []view.Family {
	gauge := func(name, help, value string) view.Family {
		return view.Family{Name: name, Type: view.Gauge, Unit: "seconds", Help: help, Samples: []view.Sample{{Value: value}}}
	}
	return []view.Family{
		gauge("sysop_last_success_timestamp_seconds", "When the figures were computed.", decimal.New(f.succeeded.UnixMilli(), -3).String()),
		gauge("sysop_computation_duration_seconds", "How long the last computation took.", decimal.New(f.took.Microseconds(), -6).String()),
		{
			Name: "sysop_errors", Type: view.Counter, Help: "Computations that failed.",
			Samples: []view.Sample{{Value: strconv.Itoa(f.failures)}},
		},
	}
}

// wantsOpenMetrics reads Accept headers, as RFC 9110 has them: whether a scraper
// prefers OpenMetrics 1.0 to the older text format. Who wants neither, or says
// nothing, gets the older: everybody reads it.
func wantsOpenMetrics(accept []string) bool {
	open, plain := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		version := params["version"]
		switch {
		case kind == "application/openmetrics-text" && (version == "" || version == "1.0.0"):
			open = max(open, q)
		case kind == "text/plain" && (version == "" || version == "0.0.4"):
			plain = max(plain, q)
		}
	}
	return open > 0 && open >= plain
}
