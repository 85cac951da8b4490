package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"
)

// parallel is how many queries a server is asked at a time.
const parallel = 4

// row is a series of an answer, and its value, a whole number.
type row struct {
	labels map[string]string
	value  int64
}

func (r row) amount() decimal.Decimal { return decimal.NewFromInt(r.value) }

// fetcher asks a few queries at a time, and collects what the server says besides.
type fetcher struct {
	server   *prometheus
	progress func(answered, needed int)
	// timeouts counts the queries since the last one that was answered at all.
	timeouts atomic.Int64

	mu               sync.Mutex
	answered, needed int
	notes            map[Note]bool
}

func newFetcher(p *prometheus, progress func(answered, needed int)) *fetcher {
	return &fetcher{server: p, progress: progress, notes: map[Note]bool{}}
}

// note keeps a note, once.
func (f *fetcher) note(n Note) {
	n.Source = "prometheus"
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes[n] = true
}

// expect counts queries that are needed.
func (f *fetcher) expect(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.needed += n
}

// rangeQuery is asked over a time, piece by piece. Rows with the same labels are added up, or
// the last one is kept.
type rangeQuery struct {
	name     string
	from, to time.Time
	// piece is how much of the time one query covers; it shrinks, in whole steps, where the
	// server refuses.
	piece, step time.Duration
	write       func(length time.Duration) string
	last        bool
	rows        map[string]row
	take        func(*windowState, row)
}

func (q *rangeQuery) pieces(from time.Time) int {
	return int((q.to.Sub(from) + q.piece - 1) / q.piece)
}

// all sends queries. It omits a query that the server refuses, with a note: half a sum
// would be a wrong figure. If the server refuses
// all of them, or cannot be reached, the window fails.
func (f *fetcher) all(ctx context.Context, queries []*rangeQuery) error {
	for _, q := range queries {
		f.expect(q.pieces(q.from))
	}
	errs := make([]error, len(queries))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, q := range queries {
		g.Go(func() error {
			errs[i] = f.ask(ctx, q)
			if refused, ok := errors.AsType[*QueryError](errs[i]); ok && !refused.Useless {
				return nil // others may pass
			}
			return errs[i]
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(queries) > 0 && !slices.Contains(errs, nil) {
		return errs[0]
	}
	for i, q := range queries {
		if errs[i] != nil {
			if !q.last {
				q.rows = nil
			}
			f.note(Note{Subject: q.name, Reason: "Refused", Message: errs[i].Error(), LowersFigures: true})
		}
	}
	return nil
}

func (f *fetcher) ask(ctx context.Context, q *rangeQuery) error {
	q.rows = map[string]row{}
	for from := q.from; from.Before(q.to); {
		end := q.to
		if next := from.Add(q.piece); next.Before(end) {
			end = next
		}
		got, err := f.query(ctx, q.write(end.Sub(from)), end)
		e, isQuery := errors.AsType[*QueryError](err)
		if half := (end.Sub(from) / 2).Truncate(q.step); isQuery && e.tooLarge() && end.Sub(from) > q.step {
			before := q.pieces(from)
			q.piece = max(half, q.step)
			f.expect(q.pieces(from) - before)
			continue
		}
		if err != nil {
			return fmt.Errorf("query %s: %w", f.server.name, err)
		}
		for _, r := range got {
			key := labelKey(r.labels)
			if known, ok := q.rows[key]; ok && !q.last {
				r.value += known.value
			}
			q.rows[key] = r
		}
		from = end
	}
	return nil
}

// labelKey writes labels in order.
func labelKey(labels map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString(name + "\xfe" + labels[name] + "\xff")
	}
	return b.String()
}

// answer is what the API answers.
type answer struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Message   string   `json:"message"` // of an API server that does not reach it
	Warnings  []string `json:"warnings"`
	Infos     []string `json:"infos"`
	// IsPartial is how VictoriaMetrics says that a part of its storage did not answer.
	IsPartial bool            `json:"isPartial"`
	Data      json.RawMessage `json:"data"`
}

// query evaluates an expression at a moment.
func (f *fetcher) query(ctx context.Context, expression string, at time.Time) ([]row, error) {
	body, err := f.request(ctx, "query", url.Values{
		"query": {expression}, "time": {strconv.FormatInt(at.Unix(), 10)}, "timeout": {strconv.Itoa(int(f.server.timeout.Seconds())) + "s"},
	})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.answered++
	if f.progress != nil {
		f.progress(f.answered, f.needed)
	}
	f.mu.Unlock()
	return decodeVector(body)
}

// request sends a request, keeps what the server says besides, and returns the data. It ends
// where the server has answered none of a number of requests.
func (f *fetcher) request(ctx context.Context, path string, form url.Values) (json.RawMessage, error) {
	got, err := f.server.request(ctx, path, form)
	e, isQuery := errors.AsType[*QueryError](err)
	if silent := isQuery && e.Status == http.StatusGatewayTimeout; !silent {
		f.timeouts.Store(0)
	} else if f.timeouts.Add(1) > 2*parallel {
		e.Useless = true // not even small queries are answered
	}
	if err != nil {
		return nil, err
	}
	if path != "query" {
		return got.Data, nil // a storage that cannot list labels answers queries all the same
	}
	for _, w := range got.Warnings {
		// Those of the language itself are about how a query is written; all others say
		// that a part of the data is missing.
		f.note(Note{Subject: f.server.name, Reason: "Warning", Message: w, LowersFigures: !strings.HasPrefix(w, "PromQL ")})
	}
	for _, i := range got.Infos {
		f.note(Note{Subject: f.server.name, Reason: "Info", Message: i})
	}
	if got.IsPartial {
		f.note(Note{Subject: f.server.name, Reason: "Warning", Message: "the answer is partial: a part of the storage did not answer", LowersFigures: true})
	}
	return got.Data, nil
}

// labelValues returns the values of a label among the series of selectors.
func (f *fetcher) labelValues(ctx context.Context, label string, w Window, selectors ...string) ([]string, error) {
	data, err := f.request(ctx, "label/"+label+"/values", url.Values{
		"match[]": selectors, "start": {strconv.FormatInt(w.From.Add(-maxGap).Unix(), 10)}, "end": {strconv.FormatInt(w.To.Unix(), 10)},
	})
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", f.server.name, err)
	}
	var values []string
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("query %s: the values of label %s are no list", f.server.name, label)
	}
	return values, nil
}

// decodeVector reads the data of an instant query. What is not a finite number is left out.
func decodeVector(data []byte) ([]row, error) {
	var got struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string  `json:"metric"`
			Value  [2]json.RawMessage `json:"value"`
		} `json:"result"`
	}
	if err := json.Unmarshal(data, &got); err != nil || got.ResultType != "vector" {
		return nil, fmt.Errorf("the response is a %q, expected a vector", got.ResultType)
	}
	rows := make([]row, 0, len(got.Result))
	for _, r := range got.Result {
		v, err := strconv.ParseFloat(strings.Trim(string(r.Value[1]), `"`), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/2 {
			continue
		}
		delete(r.Metric, "__name__")
		rows = append(rows, row{r.Metric, int64(math.Round(v))})
	}
	return rows, nil
}
