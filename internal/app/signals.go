package app

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// signalsIn returns the signals of a kind for its manual, those of the presets.
func signalsIn(kind object.Resource, served *object.Kinds) []manual.Signal {
	var all []manual.Signal
	for _, s := range SignalsOf([]object.Resource{kind}, served) {
		if !s.Other {
			all = append(all, manual.Signal{Preset: s.Preset, Mode: string(s.Mode), Writes: s.Text(), AllowStop: s.NeedsAllowStop(), Effect: s.Effect, Caveat: s.Warning(), Source: s.Source})
		}
	}
	return all
}

// SignalsOf returns the signals of kinds as they are served; for all kinds, with the signal of
// every kind that has the subresource scale.
func SignalsOf(kinds []object.Resource, served *object.Kinds) []signals.Signal {
	set := signals.NewSet(catalog.Signals(served), nil)
	var all []signals.Signal
	for _, k := range kinds {
		for _, s := range set.All(k.GroupKind().WithVersion(k.Version)) {
			s.Kind, s.Except, s.Categories = k.GroupKind().String(), nil, nil
			all = append(all, s)
		}
	}
	if len(kinds) != 1 {
		all = append(all, slices.DeleteFunc(signals.BuiltIn(), func(s signals.Signal) bool { return s.Kind != "*" })...)
	}
	slices.SortStableFunc(all, BySignalKind)
	return all
}

// BySignalKind orders signals by their kind: patterns after kinds, and those of every kind last.
// Signals of one kind keep their order.
func BySignalKind(x, y signals.Signal) int {
	return cmp.Or(cmp.Compare(breadth(x.Kind), breadth(y.Kind)), strings.Compare(x.Kind, y.Kind))
}

func breadth(kind string) int {
	if kind == "*" {
		return 3
	}
	return strings.Count(kind, "*")
}
