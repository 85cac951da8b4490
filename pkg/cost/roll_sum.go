package cost

import (
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
func (b *reportBuilder) addPod(at int32, pod, whole *metrics.Pod) {
	row := b.rows[at]
	leaf := Row{Pods: 1, Gap: pod.Gap, Used: pod.Used, Requested: pod.Requested, Limited: pod.Limited, HostNetwork: pod.HostNetwork}
	if pod.HostNetwork {
		leaf.Used = pod.Used.Without(metrics.Received, metrics.Sent)
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
	if row.Pods > 0 {
		row.HostTraffic = nil
	}
	b.join(row, &leaf)
	if b.grouping.Containers && row.Level == LevelPod {
		b.addContainers(at, pod)
	}
}

// addContainers adds the containers of a pod below its row.
func (b *reportBuilder) addContainers(at int32, pod *metrics.Pod) {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		row := b.rows[b.named(at, LevelContainer, c.Name)]
		b.join(row, &Row{Pods: 1, Used: c.Used, Requested: c.Requested, Limited: c.Limited})
	}
}

// addClaim adds a claim to its row.
func (b *reportBuilder) addClaim(at int32, claim *metrics.Claim) {
	leaf := Row{Claimed: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Storage: claim.Claimed})}
	if claim.UsedKnown {
		leaf.Used = metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Storage: claim.Used})
	}
	b.join(b.rows[at], &leaf)
}

// volumes adds the volumes that no claim has, however things are grouped.
func (b *reportBuilder) volumes() {
	for i := range b.reading.Unclaimed {
		v := &b.reading.Unclaimed[i]
		b.addClaim(b.unclaimed(v.Ref()), &metrics.Claim{Claimed: v.Claimed})
	}
}

// join adds a thing to the row that it stands in, mostly the first.
func (b *reportBuilder) join(row, leaf *Row) {
	before := *row
	b.totals.sum(row, []*Row{&before, leaf})
}

// traffic returns what a pod sees of the network: over a window, or else since it
// started.
func traffic(pod *metrics.Pod) metrics.Amounts {
	var seen metrics.Amounts
	for _, direction := range []metrics.Resource{metrics.Received, metrics.Sent} {
		if amount, ok := pod.Used.Lookup(direction); ok {
			seen.Set(direction, amount)
		}
	}
	if seen == nil {
		return pod.Counters
	}
	return seen
}

// collapse takes the row of a thing that is a root itself into the row of the stack,
// where there is nothing else in it: it is not shown twice.
func (r *Row) collapse() {
	if len(r.Children) != 1 || r.Children[0].Level != LevelPod || r.Children[0].Ref != r.Ref {
		return
	}
	thing := r.Children[0]
	r.Children, r.Unmeasured, r.HostTraffic = thing.Children, thing.Unmeasured, thing.HostTraffic
	r.Share, r.Of = thing.Share, thing.Of
}

// report sums the rows up and puts them in order.
func (b *reportBuilder) report() *Report {
	report := &Report{Currency: b.ledger.Currency, Hours: b.ledger.Hours, Keys: b.grouping.Keys}
	for i, row := range slices.Backward(b.rows) {
		above := &report.Total
		if b.parent[i] != top {
			above = b.rows[b.parent[i]]
		}
		above.Children = append(above.Children, row)
		switch {
		case row.Level == LevelContainer:
			row.Pods, row.Measured, row.HostNetwork = 0, 0, false
			continue
		case row.Level == LevelPod:
			row.blind = row.unseen()
		case len(row.Children) > 0:
			b.totals.sum(row, row.Children)
		}
		b.totals.settle(row)
		row.collapse()
		row.settleShare()
		if above.Level == LevelResource || above.Level == LevelWorkload {
			above.shareWith(row.Share, row.Of)
		}
	}
	report.Rows, report.Total.Children = report.Total.Children, nil
	b.totals.sum(&report.Total, report.Rows)
	b.totals.settle(&report.Total)
	report.Total.settleShare()
	report.Total.Pods, report.Total.Measured = len(b.reading.Pods), 0
	for i := range b.reading.Pods {
		if b.reading.Pods[i].Unmeasured == "" {
			report.Total.Measured++
		}
	}
	if b.base != top { // What stacks share counts once.
		b.rows[b.base].Pods, b.rows[b.base].Measured = report.Total.Pods, report.Total.Measured
	}
	b.order(report)
	for _, row := range b.rows {
		row.Cluster = b.grouping.Cluster
	}
	return report
}
