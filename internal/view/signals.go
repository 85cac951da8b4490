package view

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// SignalListDocument is the signals of kinds (docs/schema/signals.json).
type SignalListDocument struct {
	Head    `json:",inline"`
	Signals []SignalDocument `json:"signals"`
	Gaps    []object.Gap     `json:"gaps"`
}

// SignalDocument is a signal. Where a pattern covers the kind, Kind is the kind.
type SignalDocument struct {
	signals.Signal `json:",inline"`
	// AllowStop says that a manifest must allow it.
	AllowStop bool `json:"allowStop,omitempty"`
}

// Signals returns the answer of regulate signals, in the order of the signals.
func Signals(list []signals.Signal, gaps []object.Gap) Output {
	// A kind that no preset covers is faint.
	toned := func(value func(signals.Signal) string) func(signals.Signal) Cell {
		return func(s signals.Signal) Cell {
			if s.Other {
				return Cell{value(s), Faint}
			}
			return Cell{Text: value(s)}
		}
	}
	c := ColumnsOf[signals.Signal]{
		{Column: Column{Name: "KIND", Truncate: Middle, MinWidth: LeastName}, Value: toned(func(s signals.Signal) string { return s.Kind })},
		{Column: Column{Name: "PRESET"}, Value: toned(func(s signals.Signal) string {
			if s.Other {
				return "(" + s.Preset + ")"
			}
			return s.Preset
		})},
		{Column: Column{Name: "MODE", DropOrder: 2}, Value: AsFaint(func(s signals.Signal) string { return string(s.Mode) })},
		{Column: Column{Name: "NEEDS", DropOrder: 1}, Value: func(s signals.Signal) Cell {
			if s.NeedsAllowStop() {
				return Cell{"allowStop", Warn}
			}
			return Cell{}
		}},
		{Column: Column{Name: "PATCH", Truncate: Middle, MinWidth: 20}, Value: toned(func(s signals.Signal) string { return s.Text() })},
		{Column: Column{Name: "EFFECT", DropOrder: 3, Truncate: End, MinWidth: 24}, Value: AsFaint(func(s signals.Signal) string { return s.Effect })},
		{Column: Column{Name: "CAVEAT"}, in: wideOnly, Value: AsFaint(func(s signals.Signal) string { return s.Warning() })},
		{Column: Column{Name: "SOURCE"}, in: wideOnly, Value: AsFaint(func(s signals.Signal) string { return strings.TrimSpace(s.Source) })},
	}
	doc := SignalListDocument{Head: HeadOf("SignalList"), Gaps: gaps}
	a := Output{Table: c.Table(list), Wide: c.wideTable(list)}
	for _, s := range list {
		doc.Signals = append(doc.Signals, SignalDocument{Signal: s, AllowStop: s.NeedsAllowStop()})
		a.Names = append(a.Names, s.Kind)
	}
	a.Document = doc
	return a
}
