package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MetricsDocument is what stacks use and cost (docs/schema/metrics.json). Of an
// instant, cpu is in cores, memory and storage in bytes; over a window they are in
// core-hours and byte-hours. Network traffic is in bytes. What is unknown is left
// out. A cost.Report has decimals, and no money of a month.
type MetricsDocument struct {
	Head `json:",inline"`
	// At is when it was measured, or the end of the window.
	At string `json:"at"`
	// Window is left out of an instant.
	Window document.Window `json:"window,omitzero"`
	// Every is by what the window is divided, in UTC: the rows of the first level are then its
	// days, weeks or months.
	Every    metrics.Calendar `json:"every,omitempty"`
	Currency string           `json:"currency"`
	// Prices is the name of the price book.
	Prices string `json:"prices"`
	// Sharing says how what several stacks need is split.
	Sharing string `json:"sharing"`
	// SharedAmong says among which stacks: alone (one stack that pays all that it needs),
	// requested, namespace or cluster.
	SharedAmong string `json:"sharedAmong"`
	// Tenant is who pays, where a System says so.
	Tenant string `json:"tenant,omitempty"`
	// GroupBy are the keys of the rows, from the first level, separated by commas.
	GroupBy string               `json:"groupBy"`
	Rows    []MetricsRowDocument `json:"rows"`
	Total   MetricsRowDocument   `json:"total"`
	Notes   []document.Note      `json:"notes"`
	Gaps    []object.Gap         `json:"gaps"`
}

// MetricsRowDocument is a row: an object, a group, or what has no other place.
type MetricsRowDocument struct {
	Level string `json:"level"`
	// Key is what the row of a group is the value of.
	Key string `json:"key,omitempty"`
	// Cluster is where the row is; left out of a sum over several, and where no row names it.
	Cluster string `json:"cluster,omitempty"`
	// ID is that of the object; left out of groups.
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	// From and To bound a period.
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
	// Stack is the id of the root that the row is under.
	Stack    string          `json:"stack,omitempty"`
	Pods     int             `json:"pods"`
	Measured int             `json:"measured"`
	Used     AmountsDocument `json:"used"`
	Requests AmountsDocument `json:"requests"`
	Limits   AmountsDocument `json:"limits"`
	Claimed  AmountsDocument `json:"claimed"`
	Counters AmountsDocument `json:"counters,omitzero"`
	// HostTraffic is what pods on the network of their host see of it: that of the
	// whole node. It is in no sum.
	HostTraffic AmountsDocument `json:"hostTraffic,omitzero"`
	HostNetwork bool            `json:"hostNetwork,omitempty"`
	// Unmeasured is why the usage of a pod is unknown.
	Unmeasured string `json:"unmeasured,omitempty"`
	// GapMinutes are those of the window in which a pod of the row ran and has no samples: the most
	// of any pod. Its figures are less than the truth.
	GapMinutes int          `json:"gapMinutes,omitempty"`
	Cost       CostDocument `json:"cost"`
	Efficiency Number       `json:"efficiency,omitempty"`
	// Share is the part of a shared thing that the stack pays, and SharedBy how many
	// stacks share it.
	Share    Number               `json:"share,omitempty"`
	SharedBy int                  `json:"sharedBy,omitempty"`
	Rows     []MetricsRowDocument `json:"rows,omitempty"`
}

// AmountsDocument is quantities by resource.
type AmountsDocument struct {
	CPU       Number `json:"cpu,omitempty"`
	Memory    Number `json:"memory,omitempty"`
	Storage   Number `json:"storage,omitempty"`
	Ephemeral Number `json:"ephemeralStorage,omitempty"`
	Received  Number `json:"received,omitempty"`
	Sent      Number `json:"sent,omitempty"`
	// Extended are pieces of extended resources, by name.
	Extended map[string]Number `json:"extended,omitempty"`
}

// CostDocument is money. Of an instant Hour and Month (of 730 hours) are given, of a
// window Window; nothing of what no cost is known of. They add up over rows to the last
// digit.
type CostDocument struct {
	Hour   Number `json:"hour,omitempty"`
	Month  Number `json:"month,omitempty"`
	Window Number `json:"window,omitempty"`
	// Parts are of the hour or the window, by what is paid for.
	Parts map[string]Number `json:"parts,omitempty"`
}

func (v *metricsView) document() MetricsDocument {
	r := v.o.Reading
	doc := MetricsDocument{
		Head: HeadOf("Metrics"), At: r.To.UTC().Format(time.RFC3339), Currency: v.r.Currency, Prices: v.o.Prices, Sharing: string(v.o.Sharing), SharedAmong: v.o.SharedAmong, Tenant: v.o.Tenant, GroupBy: v.groupBy(),
		Window: document.WindowOf(r), Every: v.o.Every, Total: v.rowDocument(&v.r.Total), Notes: document.NotesOf(r), Gaps: v.o.Gaps,
	}
	doc.Total.Level, doc.Total.Name = "total", "total"
	for i, row := range v.r.Rows {
		doc.Rows = append(doc.Rows, v.rowsDocument(row))
		if v.o.Every != "" {
			doc.Rows[i].From, doc.Rows[i].To = &v.o.Periods[i].From, &v.o.Periods[i].To
		}
	}
	return doc
}

func (v *metricsView) groupBy() string {
	var keys []string
	for _, k := range v.r.Keys {
		if k.By != cost.ByPeriod {
			keys = append(keys, k.String())
		}
	}
	return cmp.Or(strings.Join(keys, ","), cost.ByStack)
}

func (v *metricsView) rowsDocument(r *cost.Row) MetricsRowDocument {
	doc := v.rowDocument(r)
	for _, child := range r.Children {
		doc.Rows = append(doc.Rows, v.rowsDocument(child))
	}
	return doc
}

func (v *metricsView) rowDocument(r *cost.Row) MetricsRowDocument {
	doc := MetricsRowDocument{
		Level: string(r.Level), Key: r.Key, Cluster: r.Cluster, Name: r.Name, Pods: r.Pods, Measured: r.Measured,
		Used: amountsDocument(r.Used), Requests: amountsDocument(r.Requested), Limits: amountsDocument(r.Limited), Claimed: amountsDocument(r.Claimed),
		Counters: amountsDocument(r.Counters), HostTraffic: amountsDocument(r.HostTraffic), HostNetwork: r.HostNetwork, Unmeasured: r.Unmeasured, GapMinutes: int(r.Gap.Minutes()), Cost: costDocument(r, v.instant()),
	}
	if r.Ref.Kind != "" {
		doc.ID = r.Ref.String()
	}
	if doc.Name == "" {
		doc.Name = r.Ref.Name
	}
	if r.Stack.Kind != "" {
		doc.Stack = r.Stack.String()
	}
	if r.Efficiency != nil {
		doc.Efficiency = document.NumberOf(*r.Efficiency)
	}
	if r.Of > 1 {
		doc.Share, doc.SharedBy = document.NumberOf(r.Share), r.Of
	}
	return doc
}

func costDocument(r *cost.Row, instant bool) CostDocument {
	doc := CostDocument{}
	switch {
	case !r.Priced():
	case instant:
		doc.Hour, doc.Month = document.NumberOf(r.Cost), document.NumberOf(r.Cost.Mul(decimal.New(cost.HoursPerMonth, 0)))
	default:
		doc.Window = document.NumberOf(r.Cost)
	}
	for part, c := range r.Costs.All() {
		if doc.Parts == nil {
			doc.Parts = map[string]Number{}
		}
		doc.Parts[string(part)] = document.NumberOf(c)
	}
	return doc
}

func amountsDocument(a metrics.Amounts) AmountsDocument {
	amount := func(r metrics.Resource) Number { return Number(a.Text(r)) }
	doc := AmountsDocument{
		CPU: amount(metrics.CPU), Memory: amount(metrics.Memory), Storage: amount(metrics.Storage), Ephemeral: amount(metrics.Ephemeral),
		Received: amount(metrics.Received), Sent: amount(metrics.Sent),
	}
	for r := range a.All() {
		if r.IsExtended() {
			if doc.Extended == nil {
				doc.Extended = map[string]Number{}
			}
			doc.Extended[string(r)] = amount(r)
		}
	}
	return doc
}
