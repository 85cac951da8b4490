package krew

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is a rule that a manifest breaks, and where.
type Finding struct {
	Rule Rule
	// Path is that of the field: spec.platforms[2].bin. Of the whole file it is empty.
	Path string
	// Line counts from 1. Where the field is missing it is that of what it is missing in.
	Line int
	// Message is what is wrong, Remedy what to do about it.
	Message, Remedy string
}

func (f Finding) String() string {
	at := f.Path
	if at != "" {
		at += ": "
	}
	return fmt.Sprintf("line %d: %s%s: %s (rule %d, %s)", f.Line, at, f.Message, f.Remedy, f.Rule.Number, f.Rule.By)
}

// Lint tells all rules that a manifest breaks, in the order of its lines. The name is that of
// its file. Archives are looked up by the last part of each uri; where they are nil, nothing
// that depends on what they hold is told.
func Lint(name string, text []byte, archives *Archives) []Finding {
	l := &linter{file: name, rules: Rules(), archives: archives}
	if l.read(text) {
		l.structure()
		l.guide()
		l.platforms()
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule.Number, b.Rule.Number))
	})
	return l.found
}

type linter struct {
	file     string
	rules    []Rule
	archives *Archives
	manifest Manifest
	// lines are those of the fields that there are, by their paths.
	lines map[string]int
	found []Finding
}

func (l *linter) add(rule int, path, remedy, message string, args ...any) {
	l.found = append(l.found, Finding{
		Rule: l.rules[rule-1], Path: path, Line: l.line(path),
		Message: fmt.Sprintf(message, args...), Remedy: remedy,
	})
}
