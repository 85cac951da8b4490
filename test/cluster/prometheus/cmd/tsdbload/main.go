// Command tsdbload writes series into blocks of a Prometheus data directory, for
// a server that is started on it afterwards.
//
// It reads standard input: a JSON object a series, in the form in which Prometheus
// answers a range query. Times are seconds, ascending; a value of NaN is written
// as a staleness marker, which ends a series as the disappearance of its target
// does. A long series is described instead by a ramp: its samples are made as they
// are written, so that a month of many series needs little memory.
//
//	{"metric":{"__name__":"up","job":"kubelet"},"values":[[1793491200,"1"],[1793491230,"NaN"]]}
//	{"metric":{"__name__":"cpu","pod":"a"},"ramp":{"from":1793491200,"to":1796083200,"every":30,"growth":1.5,"noise":0.5}}
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
	"os"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

func main() {
	dir := flag.String("dir", "", "data `directory` of the server; it is made if need be")
	flag.Parse()
	if err := load(context.Background(), *dir, os.Stdin); err != nil {
		log.Fatal(err)
	}
}

// load reads all series and writes them, a block after the other.
func load(ctx context.Context, dir string, in io.Reader) error {
	if dir == "" {
		return errors.New("load series: -dir is missing")
	}
	all, err := read(in)
	if err != nil {
		return err
	}
	first, last := all[0].from(), all[0].to()
	for _, s := range all {
		first, last = min(first, s.from()), max(last, s.to())
	}
	for from := first - first%blockLength; from <= last; from += blockLength {
		// The last block ends with the last sample: the server takes no newer ones before its end.
		if err := writeBlock(ctx, dir, all, from, min(from+blockLength, last+1)); err != nil {
			return fmt.Errorf("write the block from %s: %w", model.Time(from).Time().UTC(), err)
		}
	}
	return nil
}

// read returns the series in the order of their labels.
func read(in io.Reader) ([]*series, error) {
	var all []*series
	for d := json.NewDecoder(bufio.NewReader(in)); ; {
		var s series
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read series %d: %w", len(all)+1, err)
		}
		if valid := len(s.Values) > 0 || s.Ramp != nil && s.Ramp.Every > 0; !valid || s.Metric[model.MetricNameLabel] == "" {
			return nil, fmt.Errorf("read series %d: it needs a name, and values or a ramp: %s", len(all)+1, s.Metric)
		}
		m := make(map[string]string, len(s.Metric))
		for name, v := range s.Metric {
			m[string(name)] = string(v)
		}
		s.labels = labels.FromMap(m).WithoutEmpty()
		all = append(all, &s)
	}
	if len(all) == 0 {
		return nil, errors.New("read series: there are none")
	}
	slices.SortFunc(all, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	return all, nil
}
