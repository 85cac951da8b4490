package regulatecmd

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// watcher returns a watcher that prints what it does.
func (o *regulateWatchOptions) watcher(b *regulator.Session) *regulator.Watcher {
	w := b.NewWatcher(o.applying(b))
	w.Refused = func(r *regulate.Refusal) {
		o.Warn(fmt.Sprintf("%s of %s is refused (%s): %s", r.Signal, r.App, r.Reason, r.Message))
	}
	w.Drifted = func(d *regulate.Drift) {
		o.Say(summary.Drift(d, b.System.Name)...)
	}
	p := &watchPrinter{o: o.applyOptions, b: b}
	w.Applied = p.print
	return w
}

// watchPrinter writes what a watch did: lines, or documents.
type watchPrinter struct {
	o *applyOptions
	b *regulator.Session
	// why is the cause that was printed last.
	why string
}

func (p *watchPrinter) print(d *regulator.Result) error {
	if len(d.Outcome.Done)+len(d.Outcome.Failed) == 0 {
		return nil
	}
	quiet := *d.Plan
	quiet.Pending, quiet.Refused = nil, nil
	a := regulation.Done(d.Outcome, &quiet, nil, regulationOptions(p.b))
	switch p.o.Output {
	case "json":
		return render.JSONLine(p.o.Env.Out, a.Document)
	case "yaml":
		if _, err := fmt.Fprintln(p.o.Env.Out, "---"); err != nil {
			return err
		}
		return p.o.Write(a)
	}
	p.dropRepeatedCause(a.Table)
	return p.o.WriteUnder(a, false)
}

// dropRepeatedCause leaves a cause out that was printed last, by the last column.
func (p *watchPrinter) dropRepeatedCause(t *view.Table) {
	for _, row := range t.Rows {
		cell := &row[len(row)-1]
		if cell.Text == p.why {
			cell.Text = ""
			continue
		}
		p.why = cell.Text
	}
}
