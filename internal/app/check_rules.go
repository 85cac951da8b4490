package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
)

// CategoryNames are the categories of the rules.
func CategoryNames() []string {
	var names []string
	for _, c := range check.Categories() {
		names = append(names, string(c))
	}
	return names
}

// RulesIn returns the rules of some categories; of none named, all.
func RulesIn(names []string) ([]check.Rule, error) {
	for _, name := range names {
		if !slices.Contains(CategoryNames(), name) {
			return nil, hint.With(fmt.Errorf("unknown value %q of --category", name), "write one of "+strings.Join(CategoryNames(), ", "))
		}
	}
	return slices.DeleteFunc(all.Rules(), func(r check.Rule) bool {
		return len(names) > 0 && !slices.Contains(names, string(r.Category))
	}), nil
}

// maxWaiverBytes is more than any file of them has.
const maxWaiverBytes = 1 << 20

// ReadWaivers reads the file of --waivers; none without the flag. Any problem refuses the whole
// file: a waiver that is dropped silently would fail a pipeline.
func ReadWaivers(ctx context.Context, name string) ([]check.Waiver, error) {
	if name == "" {
		return nil, nil
	}
	data, err := userfile.Read(ctx, name, maxWaiverBytes, "file of waivers")
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("read the waivers: %w", err)
		}
		return nil, err
	}
	waivers, problems := check.ParseWaivers(name, data, all.Rules())
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "docs/check.md has the grammar")
	}
	return waivers, nil
}
