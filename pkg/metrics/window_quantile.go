package metrics

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// QuantileQuery is about what some pods of a namespace use together, at the steps of a window.
type QuantileQuery struct {
	Resource  Resource // CPU or Memory
	Quantile  float64  // 0.95
	Namespace string
	Pods      []string
	// Counter is a counter that the quantile is of instead: its rate, with the matchers of its labels.
	Counter  string
	Matchers []string
}

// maxSteps is how many steps of a window a quantile is of: the step grows with the window.
const maxSteps = 2000

// Quantile is the quantile over the window, in millicores, bytes or thousandths a second; unknown without
// samples. Steps without samples of any of the pods are left out: they ran none.
func (h *History) Quantile(ctx context.Context, q QuantileQuery) (value int64, known bool, err error) {
	w := h.options.Window.Aligned(h.options.Step)
	step := max(h.options.Step, (w.Length() / maxSteps).Truncate(time.Minute))
	e := &expressions{step: step, sampling: sampling(step), namespaces: []string{q.Namespace}, matchers: h.options.Matchers}
	matchers := []string{"pod=~" + quoteMatcher(q.Pods), `container!=""`, `container!="POD"`}
	x := maxBy(cgroupKey, e.last(staleness, 0, memoryMetric, matchers...))
	if q.Resource == CPU {
		rate := "rate(" + e.selector(cpuMetric, append(matchers, `cpu=~"|total"`)...) + "[" + lengthOf(max(step, staleness)) + "])"
		x = "1000 * " + maxBy(cgroupKey, rate)
	}
	if q.Counter != "" {
		e.namespaces = nil
		x = "1000 * rate(" + e.selector(q.Counter, q.Matchers...) + "[" + lengthOf(max(step, staleness)) + "])"
	}
	f := newFetcher(h.server, nil)
	rows, err := f.query(ctx, fmt.Sprintf("quantile_over_time(%s, sum(%s)[%s:%s])", strconv.FormatFloat(q.Quantile, 'f', -1, 64), x, lengthOf(w.Length()-time.Millisecond), lengthOf(step)), w.To)
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	return rows[0].value, true, nil
}
