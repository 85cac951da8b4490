package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// runner runs a command with its arguments.
type runner = func(ctx context.Context, args []string) error

// New is a command without flags; its help is a file.
func New(use string, args cobra.PositionalArgs, complete Completer, run runner) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args, ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// NewCommand is a command that runs after the flags of c are checked.
func (c *Common) NewCommand(use string, args cobra.PositionalArgs, complete Completer, run runner) *cobra.Command {
	return New(use, args, complete, func(ctx context.Context, args []string) error {
		if err := c.Validate(); err != nil {
			return err
		}
		return run(ctx, args)
	})
}

// Group is a command that only holds others.
func Group(use string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use}
	MakeGroup(cmd)
	cmd.AddCommand(commands...)
	return cmd
}

// MakeGroup makes a command one that does nothing but hold others.
func MakeGroup(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 3
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return UnknownCommand(cmd, args[0])
	}
}

// IsGroup says that a command does nothing but hold others: the others complete their arguments.
func IsGroup(cmd *cobra.Command) bool {
	return cmd.HasAvailableSubCommands() && cmd.ValidArgsFunction == nil
}

func UnknownCommand(cmd *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return hint.With(err, "did you mean "+slices.Concat(object.Nearest(name, near), near)[0]+"?")
	}
	return hint.With(err, cmd.CommandPath()+" --help lists the commands")
}

// ExactArgs takes n arguments.
func ExactArgs(n int, expected string) cobra.PositionalArgs { return RangeArgs(n, n, expected) }

// RangeArgs takes some arguments, and says what they are.
func RangeArgs(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return hint.With(fmt.Errorf("expected %s", expected), cmd.CommandPath()+" --help has examples")
		}
		return nil
	}
}

// FirstArg is the first argument; empty for none.
func FirstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
