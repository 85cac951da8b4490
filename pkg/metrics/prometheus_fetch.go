package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// parallel is how many queries a server is asked at a time.
	parallel = 4
	// leastPiece is the time that a query is not split below.
	leastPiece = int64(time.Minute / time.Millisecond)
)

// series is what one scraper stored of one thing, in order of time.
type series struct {
	labels  map[string]string
	samples []sample
}

// fetcher asks for series, a few queries at a time, in pieces of time as small as the
// server wants them, and collects what it has to say besides.
type fetcher struct {
	server *prometheus
	slots  chan struct{}

	// cluster is the first value of the label of that name.
	cluster string
	// mute counts the queries since the last one that was answered at all.
	mute atomic.Int64

	mu    sync.Mutex
	notes map[Note]bool
}

func newFetcher(p *prometheus) *fetcher {
	return &fetcher{server: p, slots: make(chan struct{}, parallel), notes: map[Note]bool{}}
}

// note keeps a note, once.
func (f *fetcher) note(n Note) {
	n.Source = "prometheus"
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes[n] = true
}

// raw returns the samples of a selector in (from, to]. Older servers count the first
// moment of a range in; what is outside is dropped here.
func (f *fetcher) raw(ctx context.Context, selector string, scale int, from, to int64) ([]series, error) {
	return f.fetch(ctx, func(from, to int64) string { return selector + "[" + formatRange(to-from) + "]" }, scale, from, to)
}

// last returns of each series its last value in (from, to]. Of a series that is met
// in several pieces the later one comes later.
func (f *fetcher) last(ctx context.Context, selector string, scale int, from, to int64) ([]series, error) {
	return f.fetch(ctx, func(from, to int64) string {
		return "last_over_time(" + selector + "[" + formatRange(to-from) + "])"
	}, scale, from, to)
}

// fetch splits a query in two where the server says that it is too large.
func (f *fetcher) fetch(ctx context.Context, expression func(from, to int64) string, scale int, from, to int64) ([]series, error) {
	got, err := f.query(ctx, expression(from, to), to, scale)
	var refused *QueryError
	if errors.As(err, &refused) && refused.tooLarge() && to-from > leastPiece {
		middle := from + (to-from)/2
		early, err := f.fetch(ctx, expression, scale, from, middle)
		if err != nil {
			return nil, err
		}
		late, err := f.fetch(ctx, expression, scale, middle, to)
		return append(early, late...), err
	}
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", f.server.name, err)
	}
	out := make([]series, 0, len(got.Data.Result))
	for i := range got.Data.Result {
		r := &got.Data.Result[i]
		kept := r.samples[:0]
		for _, s := range r.samples {
			if s.t > from && s.t <= to {
				kept = append(kept, s)
			}
		}
		if len(kept) > 0 {
			out = append(out, series{labels: unexport(r.Metric), samples: kept})
		}
	}
	return out, nil
}

func (f *fetcher) query(ctx context.Context, expression string, at int64, scale int) (*answer, error) {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-f.slots }()
	got, err := f.server.query(ctx, expression, at, scale)
	var refused *QueryError
	if mute := errors.As(err, &refused) && refused.Status == http.StatusGatewayTimeout; !mute {
		f.mute.Store(0)
	} else if f.mute.Add(1) > 2*parallel {
		refused.Useless = true // not even small queries are answered
	}
	if err != nil {
		return nil, err
	}
	for _, w := range got.Warnings {
		// Those of the language itself are of how a query is written; all others say
		// that a part of the data is missing.
		f.note(Note{Subject: f.server.name, Reason: "Warning", Message: w, LowersFigures: !strings.HasPrefix(w, "PromQL ")})
	}
	for _, i := range got.Infos {
		f.note(Note{Subject: f.server.name, Reason: "Info", Message: i})
	}
	if got.IsPartial {
		f.note(Note{Subject: f.server.name, Reason: "Warning", Message: "the answer is partial: a part of the storage did not answer", LowersFigures: true})
	}
	return got, nil
}

// compare tells that series are of several clusters: what has the same name in both
// would be taken for one thing.
func (f *fetcher) compare(list []series) {
	for i := range list {
		name := list[i].labels["cluster"]
		if name == "" || name == f.cluster {
			continue
		}
		if f.cluster != "" {
			f.note(Note{
				Subject: f.server.name, Reason: "Ambiguous", LowersFigures: true,
				Message: "the server has series of several clusters (label cluster), which are mixed up: select one cluster",
			})
			return
		}
		f.cluster = name
	}
}

// unexport gives labels back the names that kube-state-metrics gave them, where a
// scraper put its own in their place (honor_labels: false).
func unexport(labels map[string]string) map[string]string {
	for name, value := range labels {
		if own, ok := strings.CutPrefix(name, "exported_"); ok {
			labels[own] = value
			delete(labels, name)
		}
	}
	delete(labels, "__name__")
	return labels
}

// formatRange writes a duration for a range selector.
func formatRange(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10) + "s"
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

// quoteMatcher writes alternatives for a matcher of regular expressions: "a|b".
// Names of namespaces have nothing to escape but dots, which they cannot have; a
// name that is none must still not end the string.
func quoteMatcher(values []string) string {
	escaped := make([]string, len(values))
	for i, v := range values {
		var b strings.Builder
		for _, c := range v {
			if strings.ContainsRune(`\.+*?()|[]{}^$`, c) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
		escaped[i] = b.String()
	}
	return strconv.Quote(strings.Join(escaped, "|"))
}
