package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
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

// serve answers scrapes of /metrics at an address until the context ends, which is no error. A
// scrape computes the figures, at most once an interval and one computation at a time; earlier
// scrapes get the last figures. It prints its address on stderr, for port 0 above all.
func serve(ctx context.Context, env Env, addr string, interval time.Duration, compute func(context.Context) (view.Output, error)) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return hint.With(fmt.Errorf("listen at %q: %w", addr, err), "use HOST:PORT, such as 127.0.0.1:9808, or 127.0.0.1:0 for any free port")
	}
	if host == "" {
		host = "127.0.0.1" // All interfaces are never meant by leaving them out.
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return hint.With(fmt.Errorf("listen at %s: %w", addr, err), "choose another port, or 0 for any that is free")
	}
	local := loopback(listener.Addr().String())
	e := &exporter{ctx: ctx, compute: compute, interval: interval, now: env.Now, errOut: env.ErrOut}
	server := &http.Server{
		Handler: e.handler(local), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // It tells of broken connections alone.
	}
	if !local {
		fmt.Fprintf(env.ErrOut, "warning: %s can be reached from other machines, and every client can read the figures without a password\n", listener.Addr())
	}
	fmt.Fprintf(env.ErrOut, "metrics at http://%s/metrics, computed at most every %s\n", listener.Addr(), interval)
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
	ctx      context.Context // of the server: a scraper that gives up stops nothing
	compute  func(context.Context) (view.Output, error)
	interval time.Duration
	now      func() time.Time
	errOut   io.Writer

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
	if e.running == nil && (e.last.began.IsZero() || e.now().Sub(e.last.began) >= e.interval) {
		e.running = make(chan struct{})
		e.last.began = e.now()
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
	began := e.now()
	answer, err := e.compute(e.ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last.took, e.last.err = e.now().Sub(began), err
	if err == nil {
		e.last.families, e.last.succeeded = answer.Families, e.now()
	} else if e.ctx.Err() == nil {
		e.last.failures++
		fmt.Fprintf(e.errOut, "warning: %s\n", safe(err.Error()))
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
	if err == nil && (f.succeeded.IsZero() || f.err != nil && e.now().Sub(f.succeeded) > staleAfter*e.interval) {
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
		http.Error(w, safe(err.Error()), http.StatusServiceUnavailable)
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
