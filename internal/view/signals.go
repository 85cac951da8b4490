package view

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// SignalListDocument is how objects are held, by kind (docs/schema/signals.json).
type SignalListDocument struct {
	Head    `json:",inline"`
	Signals []SignalDocument `json:"signals"`
	Gaps    []object.Gap     `json:"gaps"`
}

// SignalDocument is a signal. Of a kind that is meant by a pattern, Kind is the kind.
type SignalDocument struct {
	regulate.Signal `json:",inline"`
	// AllowStop says that a manifest must allow it.
	AllowStop bool `json:"allowStop,omitempty"`
}

// Signals returns the answer of regulate signals, in the order of the signals.
func Signals(signals []regulate.Signal, gaps []object.Gap) Output {
	doc := SignalListDocument{Head: Head{APIVersion, "SignalList"}, Signals: []SignalDocument{}, Gaps: none(gaps)}
	head := []Column{
		{Name: "KIND", Truncate: Middle, MinWidth: leastName},
		{Name: "PRESET"},
		{Name: "MODE", DropOrder: 2},
		{Name: "NEEDS", DropOrder: 1},
		{Name: "PATCH", Truncate: Middle, MinWidth: 20},
		{Name: "EFFECT", DropOrder: 3, Truncate: End, MinWidth: 24},
	}
	table, wide := &Table{Columns: head}, &Table{Columns: []Column{head[0], head[1], head[2], head[3], {Name: "PATCH"}, {Name: "EFFECT"}, {Name: "CAVEAT"}, {Name: "SOURCE"}}}
	var names []string
	for _, s := range signals {
		doc.Signals = append(doc.Signals, SignalDocument{Signal: s, AllowStop: s.NeedsAllowStop()})
		names = append(names, s.Kind)
		needs, tone := "", Plain
		if s.NeedsAllowStop() {
			needs = "allowStop"
		}
		preset := s.Preset
		if s.Other { // No preset means it.
			preset, tone = "("+s.Preset+")", Faint
		}
		row := []Cell{{s.Kind, tone}, {preset, tone}, {string(s.Mode), Faint}, {needs, Warn}, {s.Text(), tone}, {s.Effect, Faint}}
		table.Rows = append(table.Rows, row)
		wide.Rows = append(wide.Rows, append(slices.Clip(row), Cell{s.Warning(), Faint}, Cell{strings.TrimSpace(s.Source), Faint}))
	}
	return Output{Table: table, Wide: wide, Document: doc, Names: names}
}

// signalsSection tells in a manual how an object is paused and stopped.
func signalsSection(m manual.Manual) Section {
	s := Section{Title: "SIGNALS"}
	for _, signal := range m.Signals {
		text := signal.Effect
		if signal.Caveat != "" {
			text += "; " + signal.Caveat
		}
		needs := ""
		if signal.AllowStop {
			needs = " (needs allowStop)"
		}
		s.Blocks = append(s.Blocks, Block{Pairs: []Pair{{signal.Preset, signal.Writes + needs}, {"", signal.Mode + ": " + text}}})
	}
	if len(s.Blocks) > 0 {
		s.Blocks = append(s.Blocks, Block{Text: "kubectl sysop regulate signals has the sources."})
	}
	return s
}
