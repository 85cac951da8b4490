package cli

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

// command is a command without flags; its help is a file.
func command(use string, args cobra.PositionalArgs, complete completer, run runner) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args, ValidArgsFunction: complete,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// newCommand is a command that runs after the flags of c are checked.
func (c *common) newCommand(use string, args cobra.PositionalArgs, complete completer, run runner) *cobra.Command {
	return command(use, args, complete, func(ctx context.Context, args []string) error {
		if err := c.validate(); err != nil {
			return err
		}
		return run(ctx, args)
	})
}

// group is a command that only holds others.
func group(use string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use}
	holds(cmd)
	cmd.AddCommand(commands...)
	return cmd
}

// holds makes a command one that does nothing but hold others.
func holds(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 3
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
}

// onlyHolds says that a command does nothing but hold others: the others complete their arguments.
func onlyHolds(cmd *cobra.Command) bool {
	return cmd.HasAvailableSubCommands() && cmd.ValidArgsFunction == nil
}

func unknownCommand(cmd *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return hint.With(err, "did you mean "+slices.Concat(object.Nearest(name, near), near)[0]+"?")
	}
	return hint.With(err, cmd.CommandPath()+" --help lists the commands")
}

// exactly takes n arguments.
func exactly(n int, expected string) cobra.PositionalArgs { return between(n, n, expected) }

// between takes some arguments, and says what they are.
func between(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return hint.With(fmt.Errorf("expected %s", expected), cmd.CommandPath()+" --help has examples")
		}
		return nil
	}
}

// first is the first argument; empty for none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
