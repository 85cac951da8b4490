// Package focus writes what was charged as FOCUS has it, the FinOps Open Cost and Usage
// Specification: a row a charge, every column of the specification, and columns of its own.
package focus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Versions are the versions of FOCUS that can be written, the default first.
func Versions() []string { return []string{"1.2", "1.3"} }

// Options are what a FOCUS file says besides the charges.
type Options struct {
	// Version is one of Versions; empty for the first.
	Version string
	// AccountID is the billing account: the UID of the namespace kube-system, or what
	// the user calls the cluster. AccountName is its name for people; AccountID where
	// it is empty.
	AccountID, AccountName string
	// Provider is who charges: provider, publisher and issuer of invoices are one.
	// Host is who runs what the cluster runs on (1.3); Provider where it is empty.
	Provider, Host string
	// Sharing is how the charges were split.
	Sharing cost.Options
	// Tags returns the labels of an item or of the root of a stack; may be nil.
	Tags func(object.Ref) map[string]string
	// Tenant is who pays, which every charge is tagged with; empty where no tenant is named.
	Tenant string
}

// CSV returns a FOCUS Cost and Usage dataset of a ledger: a row for each charge, every
// column of the specification in alphabetical order, then the columns of this program (x_...).
// docs/focus.md describes each column.
//
// The charge period is the window of the report. For an instant it is the hour of the clock (UTC)
// that contains it, so that hourly exports have no gap and charge nothing twice. A window must
// begin and end at a whole second, and must be within one calendar month (UTC): a row belongs to
// one billing period.
func CSV(l *cost.Ledger, r *metrics.UsageReport, p *metrics.Attribution, o Options) (*view.CSVTable, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	period, err := periodOf(r)
	if err != nil {
		return nil, err
	}
	f := newFile(l, r, p, o, period)
	t := &view.CSVTable{Rows: make([][]string, len(l.Charges))}
	columns := f.columns()
	for _, c := range columns {
		t.Columns = append(t.Columns, view.CSVColumn{Name: c.name, Kind: c.kind})
	}
	for i := range l.Charges {
		c := &l.Charges[i]
		if !c.Quantity.Mul(c.Price).Equal(c.Cost) {
			return nil, fmt.Errorf("write FOCUS: the cost %s of %s of %s is not its quantity %s at its price %s", c.Cost, c.Resource, c.Item, c.Quantity, c.Price)
		}
		row := make([]string, 0, len(columns))
		for _, col := range columns {
			row = append(row, col.value(c))
		}
		t.Rows[i] = row
	}
	if o.Version != "1.2" {
		f.split(l, t.Columns, t.Rows)
	}
	return t, nil
}

// file is a dataset in the making.
type file struct {
	o         Options
	period    period
	currency  string
	reading   string // Instant or Window
	placement *metrics.Attribution
	nodes     map[string]*metrics.Node
	gone      map[object.Ref]map[string]string // the labels of pods that only a history knows
}

func newFile(l *cost.Ledger, r *metrics.UsageReport, p *metrics.Attribution, o Options, period period) *file {
	f := &file{
		o: o, period: period, currency: l.Currency, reading: "Window", placement: p,
		nodes: make(map[string]*metrics.Node, len(r.Nodes)), gone: map[object.Ref]map[string]string{},
	}
	if r.Instant() {
		f.reading = "Instant"
	}
	if p == nil {
		f.placement = &metrics.Attribution{}
	}
	for i := range r.Nodes {
		f.nodes[r.Nodes[i].Name] = &r.Nodes[i]
	}
	for i := range r.Pods {
		if len(r.Pods[i].Labels) > 0 {
			f.gone[r.Pods[i].Ref] = r.Pods[i].Labels
		}
	}
	return f
}

func (o Options) complete() (Options, error) {
	o.Version = cmp.Or(o.Version, Versions()[0])
	if !slices.Contains(Versions(), o.Version) {
		return o, fmt.Errorf("unknown FOCUS version %q: write one of %s", o.Version, strings.Join(Versions(), ", "))
	}
	if o.AccountID == "" {
		return o, fmt.Errorf("write FOCUS: the cluster has no name: no permission to read the namespace kube-system, whose UID is the default billing account; name one")
	}
	o.AccountName = cmp.Or(o.AccountName, o.AccountID)
	o.Provider = cmp.Or(o.Provider, "Internal")
	o.Host = cmp.Or(o.Host, o.Provider)
	return o, nil
}

// period is the charge period and the billing period that it lies in, [start,
// end) each.
type period struct{ start, end, month, next time.Time }

// CheckWindow says whether a FOCUS file can be written of a window, before anything is asked
// about it.
func CheckWindow(w metrics.Window) error {
	_, err := periodOf(&metrics.UsageReport{From: w.From, To: w.To})
	return err
}

func periodOf(r *metrics.UsageReport) (period, error) {
	p := period{start: r.From.UTC(), end: r.To.UTC()}
	if r.Instant() {
		p.start = p.end.Truncate(time.Hour)
		p.end = p.start.Add(time.Hour)
	}
	if p.start.Nanosecond() != 0 || p.end.Nanosecond() != 0 {
		return p, fmt.Errorf("write FOCUS: the window %s/%s has fractions of a second, which FOCUS does not support: choose whole seconds", p.start.Format(time.RFC3339Nano), p.end.Format(time.RFC3339Nano))
	}
	if !p.end.After(p.start) {
		return p, fmt.Errorf("write FOCUS: the window %s/%s is empty: choose one that ends after it starts", timeText(p.start), timeText(p.end))
	}
	p.month = time.Date(p.start.Year(), p.start.Month(), 1, 0, 0, 0, 0, time.UTC)
	p.next = p.month.AddDate(0, 1, 0)
	if p.end.After(p.next) {
		return p, fmt.Errorf("write FOCUS: the window %s/%s spans calendar months (UTC), and a row lies in one billing period: write a file a month, the first with --window %s/%s",
			timeText(p.start), timeText(p.end), timeText(p.start), timeText(p.next))
	}
	return p, nil
}

// timeText writes a time as FOCUS has it.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
