package autoscaler

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podsOf are the pods of the report, by workload; also those that only the history knows.
func (r *reading) podsOf() map[object.Ref][]*metrics.Pod {
	out := map[object.Ref][]*metrics.Pod{}
	for i := range r.Reading.Pods {
		pod := &r.Reading.Pods[i]
		if wl, ok := r.workloadOf(pod); ok {
			out[wl.Ref] = append(out[wl.Ref], pod)
		}
	}
	return out
}

func (r *reading) workloadOf(pod *metrics.Pod) (*check.Workload, bool) {
	if wl, ok := r.state.Workload(pod.Ref); ok {
		return wl, true
	}
	for _, owner := range pod.Owners {
		if wl, ok := r.state.Workload(owner); ok {
			return wl, true
		}
	}
	return nil, false
}

// usage is what the pods of each workload use: at the moment, or by percentiles over the window.
func (r *reading) usage(ctx context.Context, w *autoscale.World) error {
	w.Usage = map[object.Ref]autoscale.Usage{}
	for ref, pods := range r.podsOf() {
		u, known := meanOf(pods, r.Reading.Hours)
		if !known {
			continue
		}
		if w.Window {
			if err := r.percentiles(ctx, ref.Namespace, pods, &u); err != nil {
				return err
			}
		}
		w.Usage[ref] = u
	}
	if len(w.Usage) == 0 {
		return nil
	}
	w.Source = "of the moment, by the metrics API"
	if r.in.From != "" {
		w.Source = "of the moment of the snapshot"
	}
	if w.Window {
		w.Source = fmt.Sprintf("p50 and p95 over %s, by Prometheus", r.req.History.Window)
		return r.requests(ctx, w)
	}
	return nil
}

// meanOf is the mean usage of pods over the hours of a report; unknown without CPU. Pods without a
// figure count as those with one.
func meanOf(pods []*metrics.Pod, hours decimal.Decimal) (autoscale.Usage, bool) {
	u := autoscale.Usage{Containers: map[string]autoscale.Amounts{}}
	var podHours, measured, cpu, memory decimal.Decimal
	containers := map[string]metrics.Amounts{}
	for _, p := range pods {
		podHours = podHours.Add(p.Hours)
		used, known := p.Used.Lookup(metrics.CPU)
		if !known || !p.Hours.IsPositive() {
			continue
		}
		measured, cpu, memory = measured.Add(p.Hours), cpu.Add(used), memory.Add(p.Used.Value(metrics.Memory))
		for _, c := range p.Containers {
			sum := containers[c.Name]
			for _, name := range []metrics.Resource{metrics.CPU, metrics.Memory} {
				sum.Add(name, c.Used.Value(name))
			}
			containers[c.Name] = sum
		}
	}
	if !measured.IsPositive() || !hours.IsPositive() {
		return u, false
	}
	all := podHours.DivRound(measured, 6)
	u.Pods = int(max(1, podHours.DivRound(hours, 6).Round(0).IntPart()))
	now := func(sum decimal.Decimal, unit int64) int64 {
		return sum.Mul(all).Mul(decimal.NewFromInt(unit)).DivRound(hours, 6).Round(0).IntPart()
	}
	const milli = 1000
	u.CPU.Usual, u.Memory.Usual = now(cpu, milli), now(memory, 1)
	u.CPU.Peak, u.Memory.Peak = u.CPU.Usual, u.Memory.Usual
	for name, sum := range containers {
		pod := func(n decimal.Decimal, unit int64) int64 {
			return n.Mul(decimal.NewFromInt(unit)).DivRound(measured, 6).Round(0).IntPart()
		}
		u.Containers[name] = autoscale.Amounts{CPU: pod(sum.Value(metrics.CPU), milli), Memory: pod(sum.Value(metrics.Memory), 1)}
	}
	return u, true
}

// percentiles replaces means by the median and the 95th percentile over the window.
func (r *reading) percentiles(ctx context.Context, namespace string, pods []*metrics.Pod, u *autoscale.Usage) error {
	var names []string
	for _, p := range pods {
		names = append(names, p.Ref.Name)
	}
	for _, q := range []struct {
		of       metrics.Resource
		quantile float64
		into     *int64
	}{
		{metrics.CPU, 0.5, &u.CPU.Usual},
		{metrics.CPU, 0.95, &u.CPU.Peak},
		{metrics.Memory, 0.5, &u.Memory.Usual},
		{metrics.Memory, 0.95, &u.Memory.Peak},
	} {
		value, known, err := r.Quantile(ctx, metrics.QuantileQuery{Resource: q.of, Quantile: q.quantile, Namespace: namespace, Pods: names})
		if err != nil {
			return err
		}
		if known {
			*q.into = value
		}
	}
	return nil
}

// podCosts are what a pod of each workload costs a month: the mean of those of the report, or by the
// requests of its template where none ran.
func (r *reading) podCosts() map[object.Ref]decimal.Decimal {
	costs := map[object.Ref]decimal.Decimal{}
	for i := range r.Ledger.Charges {
		if c := &r.Ledger.Charges[i]; c.Kind == cost.Used {
			costs[c.Item] = costs[c.Item].Add(c.Cost)
		}
	}
	out := map[object.Ref]decimal.Decimal{}
	for ref, pods := range r.podsOf() {
		var sum, hours decimal.Decimal
		for _, p := range pods {
			sum, hours = sum.Add(costs[p.Ref]), hours.Add(p.Hours)
		}
		if hours.IsPositive() {
			out[ref] = sum.Mul(decimal.NewFromInt(cost.HoursPerMonth)).DivRound(hours, 6)
		}
	}
	return out
}
