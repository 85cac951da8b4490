package view

import (
	"fmt"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// pods is how many there are, and how many of them are well.
func (v *stacksView) pods(r *StackRow) Cell {
	switch {
	case r.Row == nil || r.Row.Pods == 0:
		return Cell{Text: "0"}
	case r.Well < r.Row.Pods:
		return Cell{fmt.Sprintf("%d/%d", r.Well, r.Row.Pods), Warn}
	}
	return Cell{Text: fmt.Sprintf("%d/%d", r.Well, r.Row.Pods)}
}

func (v *stacksView) measured(r *StackRow) Cell {
	if r.Row == nil {
		return Cell{Text: "0"}
	}
	return Cell{Text: strconv.Itoa(r.Row.Measured)}
}

// unknownFigure is shown for a figure that is unknown.
const unknownFigure = "-"

// used is what a stack uses. Where it is not that of all of its pods it is no less.
func (v *stacksView) used(r *StackRow, res metrics.Resource) Cell {
	switch c := amountCell(r.Row, used, res); {
	case c.Text == "" || c.Text == unknownFigure:
		return Cell{unknownFigure, Faint}
	case r.Row.Measured < r.Row.Pods:
		return Cell{"≥" + c.Text, Warn}
	default:
		return c
	}
}

func used(r *cost.Row) metrics.Amounts      { return r.Used }
func requested(r *cost.Row) metrics.Amounts { return r.Requested }
func claimed(r *cost.Row) metrics.Amounts   { return r.Claimed }

func amountCell(r *cost.Row, of func(*cost.Row) metrics.Amounts, res metrics.Resource) Cell {
	if r == nil {
		return Cell{unknownFigure, Faint}
	}
	n, known := of(r)[res]
	switch {
	case !known:
		return Cell{unknownFigure, Faint}
	case res == metrics.CPU:
		return Cell{Text: cores(n)}
	}
	return Cell{Text: binary(n)}
}

func (v *stacksView) month(r *cost.Row) Cell {
	if r == nil {
		return Cell{unknownFigure, Faint}
	}
	if c := money(v.o.Money, r, monthPlaces); c.Text != "" {
		return c
	}
	return Cell{unknownFigure, Faint}
}

func (v *stacksView) hour(r *cost.Row) Cell {
	if r == nil || !r.Priced() {
		return Cell{unknownFigure, Faint}
	}
	return Cell{Text: r.Cost.StringFixed(hourPlaces)}
}
