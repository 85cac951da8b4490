package view

import (
	"fmt"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// stackCell is the cell of a stack; an object that is in none has an empty one.
func stackCell(cell func(*StackRow) Cell) func(*StackRow) Cell {
	return func(r *StackRow) Cell {
		if r.other != nil {
			return Cell{}
		}
		return cell(r)
	}
}

// stackFigure is a figure of the cost row of a stack; empty where it has none.
func stackFigure(figure func(*cost.Row) string) func(*StackRow) string {
	return func(r *StackRow) string {
		if r.Row == nil {
			return ""
		}
		return figure(r.Row)
	}
}

func stackCount(r *StackRow, n int) string {
	if r.other != nil {
		return ""
	}
	return strconv.Itoa(n)
}

// pods counts the Healthy pods, of all.
func (v *stacksView) pods(r *StackRow) Cell {
	switch {
	case r.Row == nil || r.Row.Pods == 0:
		return Cell{Text: "0"}
	case r.HealthyPods < r.Row.Pods:
		return Cell{fmt.Sprintf("%d/%d", r.HealthyPods, r.Row.Pods), Warn}
	}
	return Cell{Text: fmt.Sprintf("%d/%d", r.HealthyPods, r.Row.Pods)}
}

func (v *stacksView) measured(r *StackRow) Cell {
	if r.Row == nil {
		return Cell{Text: "0"}
	}
	return Cell{Text: strconv.Itoa(r.Row.Measured)}
}

// unknownFigure is shown for a figure that is unknown.
var unknownFigure = Cell{"-", Faint}

// used is the usage of a stack: a lower bound where not every pod was measured.
func (v *stacksView) used(res metrics.Resource) func(*StackRow) Cell {
	return stackCell(func(r *StackRow) Cell {
		c := amountCell(r.Row, used, res)
		if c != unknownFigure && r.Row.Measured < r.Row.Pods {
			return Cell{"≥" + c.Text, Warn}
		}
		return c
	})
}

func (v *stacksView) amount(amounts func(*cost.Row) metrics.Amounts, res metrics.Resource) func(*StackRow) Cell {
	return stackCell(func(r *StackRow) Cell { return amountCell(r.Row, amounts, res) })
}

func used(r *cost.Row) metrics.Amounts      { return r.Used }
func requested(r *cost.Row) metrics.Amounts { return r.Requested }
func claimed(r *cost.Row) metrics.Amounts   { return r.Claimed }
func limited(r *cost.Row) metrics.Amounts   { return r.Limited }

func amountCell(r *cost.Row, amounts func(*cost.Row) metrics.Amounts, res metrics.Resource) Cell {
	if r == nil {
		return unknownFigure
	}
	n, known := amounts(r).Lookup(res)
	switch {
	case !known:
		return unknownFigure
	case res == metrics.CPU:
		return Cell{Text: cores(n)}
	}
	return Cell{Text: binary(n)}
}

func (v *stacksView) month(r *StackRow) Cell {
	if r.Row == nil {
		return unknownFigure
	}
	if c := money(v.o.Money, r.Row, monthPlaces); c.Text != "" {
		return c
	}
	return unknownFigure
}

func (v *stacksView) hour(r *StackRow) Cell {
	if r.Row == nil || !r.Row.Priced() {
		return unknownFigure
	}
	return Cell{Text: r.Row.Cost.StringFixed(hourPlaces)}
}
