package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// HistoryOptions say what a History measures.
type HistoryOptions struct {
	// Window that is measured; its ends are cut to milliseconds.
	Window Window
	// Namespaces that are asked for; none means all.
	Namespaces []string
	// Matchers are added to every query, as PromQL has them, where a server has the
	// series of several clusters: cluster="prod-1".
	Matchers string
	// Pods says which pods are of interest; nil means all of the namespaces.
	Pods func(namespace, name string) bool
	// KindOf returns the API group of a kind that an owner has, for kinds beyond the
	// built-in ones: kube-state-metrics tells the kind alone. May be nil.
	KindOf func(kind string) (group string, ok bool)
	// Resources are true names of extended resources (google.com/tpu), such as those of the
	// price book and of the nodes: metrics have them with underscores.
	Resources []Resource
	// Client is what a server is asked with directly; nil means a plain one. It does
	// not serve a target behind the API server.
	Client *http.Client
	// Timeout is how long one query may take; 0 means a minute.
	Timeout time.Duration
}

// History is a Source that measures a window, from Prometheus or from what speaks its
// API (Thanos, Mimir, VictoriaMetrics), out of the metrics of the kubelets (cAdvisor,
// volumes), kube-state-metrics and, where it is there, kube-scheduler.
//
//	h, err := metrics.NewHistory("svc:monitoring/prometheus-k8s:9090", cluster.Get, metrics.HistoryOptions{Window: w})
//	...
//	reading := metrics.UsageReport{}           // or an instant's, with the pods that are there
//	err = h.Measure(ctx, &reading)
//
// It asks for raw samples and adds them up itself, since rate and increase extrapolate.
// Every figure is what is known from the samples up to To, less what is known from
// those up to From. So adjacent windows add up to the whole, and what a sample tells
// of the time before it is of the window that the sample is in. Measured again, a
// window that ends now gives the same only for samples that had arrived.
//
//   - CPU and traffic are sums of differences of a counter's samples, of which a fall
//     is a reset. A first value counts where its container is known to have started
//     within the hour before it.
//   - Memory, requests, claims and capacity are sums over time: a sample stands for the
//     time since the one before it, of at most five minutes. Longer holes are not
//     counted, and told (reason Gap); so are those of more than an hour in a counter.
//   - What several scrapers or replicas stored of one thing is merged first.
//   - Requests are those of kube-scheduler where it exports them; else of containers,
//     sidecars and overhead, as long as the pod was scheduled and had not ended.
//
// Integers are exact; amounts of a Reading are quotients of them, rounded to 18 places.
type History struct {
	server  *prometheus
	options HistoryOptions
	// want is how many samples an answer should have.
	want int64
}

// NewHistory returns a source that asks target: the URL of a server, with what comes
// before /api/v1, or svc:[SCHEME:]NAMESPACE/NAME[:PORT][/PREFIX] for a Service that is
// reached with get, through the proxy of the API server. It asks nothing yet.
func NewHistory(target string, get GetFunc, o HistoryOptions) (*History, error) {
	ask, name, err := parseTarget(target, get, o.Client)
	if err != nil {
		return nil, err
	}
	if !o.Window.From.Before(o.Window.To) {
		return nil, fmt.Errorf("window %s is empty", o.Window)
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	o.Namespaces = slices.Compact(slices.Sorted(slices.Values(o.Namespaces)))
	return &History{options: o, want: wantSamples, server: &prometheus{name: name, ask: ask, timeout: o.Timeout, wait: pause}}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Measure replaces the reading's figures by those of the window. Pods, claims and nodes
// that are in the reading already stay in it, also where nothing is known of them;
// those that only the history knows are added, pods with Gone set. It fails, and leaves
// the reading as it was, where the server cannot be asked, or stops answering: half a
// window would be a wrong figure.
func (h *History) Measure(ctx context.Context, r *UsageReport) error {
	p := newPast(h.options, r)
	f := newFetcher(h.server)
	if err := h.recall(ctx, f, p); err != nil {
		return err
	}
	from, to := h.options.Window.From.UnixMilli(), h.options.Window.To.UnixMilli()
	// What is before the window matters to it, and is not of it.
	if err := h.read(ctx, f, p, from-lookBack, from); err != nil {
		return err
	}
	p.begin()
	if err := h.read(ctx, f, p, from, to); err != nil {
		return err
	}
	p.fill(r, f)
	return nil
}

// recall reads what does not change: starts, ends, owners, labels.
func (h *History) recall(ctx context.Context, f *fetcher, p *windowState) error {
	from, to := h.options.Window.From.UnixMilli()-lookBack, h.options.Window.To.UnixMilli()+lookAhead
	const piece = 7 * 24 * reach
	for ; from < to; from += piece {
		if err := h.together(ctx, f, p.facts(), func(ctx context.Context, s stream) ([]series, error) {
			return f.last(ctx, p.selector(s), s.scale, from, min(to, from+piece))
		}); err != nil {
			return err
		}
	}
	return nil
}

// The pieces in which a window is read: as long as the answers have some 100,000
// samples, so that memory does not grow with the window.
const (
	firstPiece  = reach
	longPiece   = 24 * reach
	wantSamples = 100_000
)

func (h *History) read(ctx context.Context, f *fetcher, p *windowState, from, to int64) error {
	for length := p.piece; from < to; {
		end := min(to, from+length)
		most := 0
		err := h.together(ctx, f, p.streams(), func(ctx context.Context, s stream) ([]series, error) {
			begin := max(from, p.options.Window.From.UnixMilli()-s.back)
			if begin >= end {
				return nil, nil
			}
			return f.raw(ctx, p.selector(s), s.scale, begin, end+s.ahead)
		}, func(got []series) {
			n := 0
			for i := range got {
				n += len(got[i].samples)
			}
			most = max(most, n)
		})
		if err != nil {
			return err
		}
		p.settle(end)
		// The next piece is as much longer or shorter as this one was off, within a factor
		// of four.
		if n := max(int64(most), 1); end-from == length || n > h.want {
			length = min(max((end-from)*h.want/n, length/4, leastPiece), length*4, longPiece)
		}
		p.piece, from = length, end
	}
	return nil
}

// together asks for all streams at a time and takes them in their order. A stream
// that the server will not answer is left out, and told; where it would answer none,
// or is not there, the window fails.
func (h *History) together(ctx context.Context, f *fetcher, streams []stream, ask func(context.Context, stream) ([]series, error), seen ...func([]series)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results, errs := make([][]series, len(streams)), make([]error, len(streams))
	var wg sync.WaitGroup
	for i, s := range streams {
		wg.Go(func() {
			results[i], errs[i] = ask(ctx, s)
			var refused *QueryError
			if errs[i] != nil && (!errors.As(errs[i], &refused) || refused.Useless) {
				stop() // no other one would pass
			}
		})
	}
	wg.Wait()
	if err := worst(errs); err != nil {
		return err
	}
	for i, s := range streams {
		if errs[i] != nil {
			f.note(Note{Subject: s.name, Reason: "Refused", Message: errs[i].Error(), LowersFigures: true})
			continue
		}
		for _, see := range seen {
			see(results[i])
		}
		f.compare(results[i])
		s.take(results[i])
	}
	return nil
}

// worst is the error that ends a window: the first that is of more than one query,
// and not of those that were stopped because of it.
func worst(errs []error) error {
	var found error
	refused := 0
	for _, err := range errs {
		var q *QueryError
		switch {
		case err == nil:
		case errors.As(err, &q) && !q.Useless:
			if refused++; refused == len(errs) {
				return err
			}
		case found == nil || errors.Is(found, context.Canceled):
			found = err
		}
	}
	return found
}

// stream is a metric that is asked for, and who takes its series. series is given in
// no order.
type stream struct {
	name, matchers string
	everywhere     bool // it is of the cluster and has no namespace
	scale          int  // of its values, see decodeAnswer
	// back and ahead are how long before and after the window its samples matter.
	back, ahead int64
	take        func([]series)
}

// selector writes the selector of a stream, for the namespaces that are asked for.
func (p *windowState) selector(s stream) string {
	var matchers []string
	for _, m := range []string{s.matchers, p.options.Matchers} {
		if m != "" {
			matchers = append(matchers, m)
		}
	}
	if len(p.options.Namespaces) > 0 && !s.everywhere {
		matchers = append(matchers, "namespace=~"+quoteMatcher(p.options.Namespaces))
	}
	if len(matchers) == 0 {
		return s.name
	}
	return s.name + "{" + strings.Join(matchers, ",") + "}"
}
