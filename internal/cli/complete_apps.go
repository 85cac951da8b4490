package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
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
	words := o.completeFromSystem(cmd.Context(), name, func(s *system.System) []string {
		out := slices.Clone(s.Regulation.Signals)
		for i := range s.Apps {
			out = append(out, s.Apps[i].Signals()...)
		}
		return out
	})
	words = slices.DeleteFunc(append(words, system.Stop), func(w string) bool { return w == system.Recover })
	return beginning(words, typed), noFiles
}

// appNames are the apps of the System that is meant; none where it cannot be read.
func (o *regulateOptions) appNames(ctx context.Context, name string) []string {
	return o.completeFromSystem(ctx, name, (*system.System).AppNames)
}

// completeFromSystem are words of the System that is meant: that of the manifest, the one that is named,
// or the only one of the namespace.
func (o *regulateOptions) completeFromSystem(ctx context.Context, name string, words func(*system.System) []string) []string {
	return o.completeWithin(ctx, func(ctx context.Context) []string {
		o.Completing = true
		s, err := o.loadSystem(ctx, name)
		if err != nil || s == nil {
			return nil
		}
		return words(s)
	})
}

func (o *regulateOptions) loadSystem(ctx context.Context, name string) (*system.System, error) {
	switch {
	case o.file == "-":
		return nil, nil //nolint:nilnil // standard input is the terminal that is typed on
	case o.file != "":
		return systems.Read(ctx, &o.Input, o.file)
	case name != "":
		return systems.Named(ctx, &o.Input, name)
	}
	k, err := systems.OpenAdopted(ctx, &o.Input)
	if err != nil {
		return nil, err
	}
	all, err := k.List(ctx, k.Namespace)
	if err != nil || len(all) != 1 {
		return nil, err
	}
	return system.ParseParent(all[0])
}
