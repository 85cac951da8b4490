package cost

import (
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// bounded are the resources that a pod without a limit may use without end. Of what is
// counted in pieces it has none.
func bounded() []metrics.Resource {
	return []metrics.Resource{metrics.CPU, metrics.Memory, metrics.Ephemeral}
}

// addPod adds a pod to its row: the part of it that falls to the row, and the whole.
// A row has several where a name was used again.
func (b *roller) addPod(at int32, pod, whole *metrics.Pod) {
	row := b.rows[at]
	leaf := Row{Pods: 1, Used: pod.Used, Requested: pod.Requested, Limited: pod.Limited, HostNetwork: pod.HostNetwork}
	if pod.HostNetwork {
		leaf.Used = quiet(pod.Used)
		if row.Pods == 0 && row.Level == LevelPod {
			row.HostTraffic = traffic(whole)
		}
	} else {
		leaf.Counters = pod.Counters
	}
	if pod.Unmeasured == "" {
		leaf.Measured = 1
	} else if row.Unmeasured == "" && row.Level == LevelPod {
		row.Unmeasured = pod.Unmeasured
	}
	switch {
	case row.Level != LevelPod:
		row.include(&leaf)
	case row.Pods == 0:
		row.Pods, row.Measured, row.HostNetwork = 1, leaf.Measured, leaf.HostNetwork
		row.Used, row.Requested, row.Limited, row.Counters = leaf.Used, leaf.Requested, leaf.Limited, leaf.Counters
	default:
		row.HostTraffic = nil
		row.own()
		row.include(&leaf)
	}
	if b.grouping.Containers && row.Level == LevelPod {
		b.addContainers(at, pod)
	}
}

// addContainers adds the containers of a pod below its row.
func (b *roller) addContainers(at int32, pod *metrics.Pod) {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		row := b.rows[b.named(at, LevelContainer, c.Name)]
		if row.Of == 0 {
			row.Of = 1
			row.Used, row.Requested, row.Limited = c.Used, c.Requested, c.Limited
			continue
		}
		row.own()
		row.include(&Row{Pods: 1, Used: c.Used, Requested: c.Requested, Limited: c.Limited})
	}
}

// addClaim adds a claim to its row.
func (b *roller) addClaim(at int32, claim *metrics.Claim) {
	row := b.rows[at]
	set(&row.Claimed, metrics.Storage, row.Claimed[metrics.Storage].Add(claim.Claimed))
	if claim.UsedKnown {
		set(&row.Used, metrics.Storage, row.Used[metrics.Storage].Add(claim.Used))
	}
}

// quiet returns amounts without network traffic.
func quiet(amounts metrics.Amounts) metrics.Amounts {
	_, received := amounts[metrics.Received]
	_, sent := amounts[metrics.Sent]
	if !received && !sent {
		return amounts
	}
	amounts = maps.Clone(amounts)
	delete(amounts, metrics.Received)
	delete(amounts, metrics.Sent)
	return amounts
}

// traffic returns what a pod sees of the network: over a window, or else since it
// started.
func traffic(pod *metrics.Pod) metrics.Amounts {
	var seen metrics.Amounts
	for _, direction := range []metrics.Resource{metrics.Received, metrics.Sent} {
		if amount, ok := pod.Used[direction]; ok {
			set(&seen, direction, amount)
		}
	}
	if seen == nil {
		return pod.Counters
	}
	return seen
}

// set sets an amount, in a map that may not be there yet.
func set(amounts *metrics.Amounts, resource metrics.Resource, amount decimal.Decimal) {
	if *amounts == nil {
		*amounts = metrics.Amounts{}
	}
	(*amounts)[resource] = amount
}

// addCost adds to the costs of one key.
func addCost(costs map[string]decimal.Decimal, key string, cost decimal.Decimal) {
	if sum, ok := costs[key]; ok {
		cost = sum.Add(cost)
	}
	costs[key] = cost
}

// own gives a row maps of its own.
func (r *Row) own() {
	r.Used, r.Requested, r.Limited = maps.Clone(r.Used), maps.Clone(r.Requested), maps.Clone(r.Limited)
	r.Counters, r.Claimed = maps.Clone(r.Counters), maps.Clone(r.Claimed)
}

// include adds what another row sums up to a row that has maps of its own. Cost and
// efficiency are for settle.
func (r *Row) include(o *Row) {
	r.limit(o)
	if o.Pods > 0 {
		r.HostNetwork = o.HostNetwork && (r.Pods == 0 || r.HostNetwork)
	}
	r.Pods += o.Pods
	r.Measured += o.Measured
	addAmounts(&r.Used, o.Used)
	addAmounts(&r.Requested, o.Requested)
	addAmounts(&r.Claimed, o.Claimed)
	addAmounts(&r.Counters, o.Counters)
	if r.Costs == nil && len(o.Costs) > 0 {
		r.Costs = make(map[string]decimal.Decimal, len(o.Costs))
	}
	for key, cost := range o.Costs {
		addCost(r.Costs, key, cost)
	}
	r.blind = r.blind.plus(o.blind)
}

// limit adds limits: of CPU, memory and ephemeral storage only while every pod has
// one.
func (r *Row) limit(o *Row) {
	if o.Pods == 0 {
		return
	}
	for resource, amount := range o.Limited {
		sum, ok := r.Limited[resource]
		switch {
		case ok:
			r.Limited[resource] = sum.Add(amount)
		case r.Pods == 0 || !slices.Contains(bounded(), resource):
			set(&r.Limited, resource, amount)
		}
	}
	for _, resource := range bounded() {
		if _, ok := o.Limited[resource]; !ok {
			delete(r.Limited, resource)
		}
	}
}

func addAmounts(to *metrics.Amounts, from metrics.Amounts) {
	if *to == nil && len(from) > 0 {
		*to = make(metrics.Amounts, len(from))
	}
	for resource, amount := range from {
		if sum, ok := (*to)[resource]; ok {
			amount = sum.Add(amount)
		}
		(*to)[resource] = amount
	}
}

// settle works out what follows from the sums of a row.
func (r *Row) settle(q *quotient) {
	r.Cost = decimal.Decimal{}
	first := true
	for _, cost := range r.Costs {
		if !first {
			cost = r.Cost.Add(cost)
		}
		r.Cost, first = cost, false
	}
	r.Efficiency = r.efficiency(q)
}

// collapse takes the row of a thing that is a root itself into the row of the stack,
// where there is nothing else in it: it is not shown twice.
func (r *Row) collapse() {
	if len(r.Below) != 1 || r.Below[0].Level != LevelPod || r.Below[0].Ref != r.Ref {
		return
	}
	thing := r.Below[0]
	r.Below, r.Unmeasured, r.HostTraffic = thing.Below, thing.Unmeasured, thing.HostTraffic
	r.Share, r.Of = thing.Share, thing.Of
}

// report sums the rows up and puts them in order.
func (b *roller) report() *Report {
	report := &Report{Currency: b.ledger.Currency, Hours: b.ledger.Hours}
	var q quotient
	for i, row := range slices.Backward(b.rows) {
		above := &report.Total
		if b.parent[i] != top {
			above = b.rows[b.parent[i]]
		}
		above.Below = append(above.Below, row)
		if row.Level == LevelContainer {
			continue
		}
		if row.Level == LevelPod {
			row.blind = row.unseen()
		}
		row.settle(&q)
		row.collapse()
		row.settleShare()
		above.include(row)
		if above.Level == LevelResource || above.Level == LevelWorkload {
			above.shareWith(row.Share, row.Of)
		}
	}
	report.Rows, report.Total.Below = report.Total.Below, nil
	report.Total.settle(&q)
	report.Total.settleShare()
	report.Total.Pods, report.Total.Measured = len(b.reading.Pods), 0
	for i := range b.reading.Pods {
		if b.reading.Pods[i].Unmeasured == "" {
			report.Total.Measured++
		}
	}
	b.order(report)
	return report
}
