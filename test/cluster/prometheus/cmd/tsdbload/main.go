// Command tsdbload writes series into a block of a Prometheus data directory, for
// a server that is started on it afterwards.
//
// It reads standard input: a JSON object a series, in the form in which Prometheus
// answers a range query. Times are seconds, ascending; a value of NaN is written
// as a staleness marker, which ends a series as the disappearance of its target
// does.
//
//	{"metric":{"__name__":"up","job":"kubelet"},"values":[[1793491200,"1"],[1793491230,"NaN"]]}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb"
)

func main() {
	dir := flag.String("dir", "", "data `directory` of the server; it is made if need be")
	flag.Parse()
	if err := load(context.Background(), *dir, os.Stdin); err != nil {
		log.Fatal(err)
	}
}

// load reads all series and writes them as one block, however long.
func load(ctx context.Context, dir string, in io.Reader) (err error) {
	if dir == "" {
		return errors.New("load series: -dir is missing")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("load series: %w", err)
	}
	series, size, err := read(in)
	if err != nil {
		return err
	}
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), dir, size)
	if err != nil {
		return fmt.Errorf("open a block: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, s := range series {
		if err := write(ctx, w, s); err != nil {
			return fmt.Errorf("write series %s: %w", s.Metric, err)
		}
	}
	if _, err := w.Flush(ctx); err != nil {
		return fmt.Errorf("write the block: %w", err)
	}
	return nil
}

// read returns the series and a size of the block, in milliseconds, that holds
// them in any order: a writer takes no sample that is older than the newest by
// more than half the size.
func read(in io.Reader) (series []*model.SampleStream, size int64, err error) {
	first, last := model.Latest, model.Earliest
	for d := json.NewDecoder(bufio.NewReader(in)); ; {
		var s model.SampleStream
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read series %d: %w", len(series)+1, err)
		}
		if len(s.Values) == 0 || len(s.Histograms) > 0 || s.Metric[model.MetricNameLabel] == "" {
			return nil, 0, fmt.Errorf("read series %d: it needs a name and values, and no histograms: %s", len(series)+1, s.Metric)
		}
		first, last = min(first, s.Values[0].Timestamp), max(last, s.Values[len(s.Values)-1].Timestamp)
		series = append(series, &s)
	}
	if len(series) == 0 {
		return nil, 0, errors.New("read series: there are none")
	}
	return series, 2*int64(last-first) + tsdb.DefaultBlockDuration, nil
}

func write(ctx context.Context, w *tsdb.BlockWriter, s *model.SampleStream) error {
	m := make(map[string]string, len(s.Metric))
	for name, v := range s.Metric {
		m[string(name)] = string(v)
	}
	l := labels.FromMap(m)
	a := w.Appender(ctx)
	for _, p := range s.Values {
		v := float64(p.Value)
		if math.IsNaN(v) {
			v = math.Float64frombits(value.StaleNaN)
		}
		if _, err := a.Append(0, l, int64(p.Timestamp), v); err != nil {
			return errors.Join(err, a.Rollback())
		}
	}
	return a.Commit()
}
