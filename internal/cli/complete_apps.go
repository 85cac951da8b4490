package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// completeSystems completes the names of Systems that were adopted.
func (o *regulateOptions) completeSystems(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if o.isNamed() || len(args) > 0 {
		return nil, noFiles
	}
	return o.completeSystem(cmd, args, typed)
}

// completeSignals completes the signals that an app of the System hears, and "Stop".
func (o *regulateOptions) completeSignals(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	name, _, _ := o.splitOne(args) // where that is wrong, the only System is meant
	words := o.shell().OfSystem(cmd.Context(), o.file, name, func(s *system.System) []string {
		out := slices.Clone(s.Regulation.Signals)
		for i := range s.Apps {
			out = append(out, s.Apps[i].Signals()...)
		}
		return out
	})
	words = slices.DeleteFunc(append(words, system.Stop), func(w string) bool { return w == system.Recover })
	return completion.Beginning(words, typed), noFiles
}

// appNames are the apps of the System that is named; none where it cannot be read.
func (o *regulateOptions) appNames(ctx context.Context, name string) []string {
	return o.shell().OfSystem(ctx, o.file, name, (*system.System).AppNames)
}
