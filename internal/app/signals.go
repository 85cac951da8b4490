package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// signalsIn returns the signals of a kind for its manual, those of the presets.
func signalsIn(kind object.Resource, served *object.Kinds) []manual.Signal {
	var all []manual.Signal
	for _, s := range signalsOf([]object.Resource{kind}, served) {
		if !s.Other {
			all = append(all, manual.Signal{Preset: s.Preset, Mode: string(s.Mode), Writes: s.Text(), AllowStop: s.NeedsAllowStop(), Effect: s.Effect, Caveat: s.Warning(), Source: s.Source})
		}
	}
	return all
}

// signalsOf returns the signals of kinds as they are served; for all kinds, with the signal of
// every kind that has the subresource scale.
func signalsOf(kinds []object.Resource, served *object.Kinds) []signals.Signal {
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
	slices.SortStableFunc(all, bySignalKind)
	return all
}

// KnownSignals returns the signals of the catalog as they are written, patterns and all: those of a
// kind, or all if it is empty.
func KnownSignals(kind string) []signals.Signal {
	all := slices.Concat(catalog.Signals(nil), signals.BuiltIn())
	if kind != "" {
		all = slices.DeleteFunc(all, func(s signals.Signal) bool { return !isAbout(s, kind) })
	}
	slices.SortStableFunc(all, bySignalKind)
	return all
}

// Signals returns the signals of what a source serves, of a kind, or of all if it is empty, with what
// could not be read.
func (c *Input) Signals(ctx context.Context, kind string) ([]signals.Signal, []object.Gap, error) {
	s, err := c.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	kinds := s.Kinds.All()
	if kind != "" {
		k, err := s.Kinds.Find(kind)
		if err != nil {
			return nil, s.Gaps, err
		}
		kinds = []object.Resource{k}
	}
	return signalsOf(kinds, s.Kinds), s.Gaps, nil
}

// isAbout says whether a signal is about a kind: by its name, with or without its group, or by its
// plural.
func isAbout(s signals.Signal, name string) bool {
	kind, _, _ := strings.Cut(s.Kind, ".")
	if strings.EqualFold(s.Kind, name) || object.MayBePlural(name, kind) {
		return true
	}
	_, _, grouped := strings.Cut(name, ".")
	return grouped && strings.HasPrefix(s.Kind, "*.") && s.AppliesTo(schema.ParseGroupKind(name))
}

// bySignalKind orders signals by their kind: patterns after kinds, and those of every kind last.
// Signals of one kind keep their order.
func bySignalKind(x, y signals.Signal) int {
	return cmp.Or(cmp.Compare(breadth(x.Kind), breadth(y.Kind)), strings.Compare(x.Kind, y.Kind))
}

func breadth(kind string) int {
	if kind == "*" {
		return 3
	}
	return strings.Count(kind, "*")
}
