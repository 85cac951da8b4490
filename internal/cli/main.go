// Package cli is the command line: a file a command, each an options struct, a
// constructor and a run. It alone imports cobra, and it wires what the packages
// below offer: a source into an inventory, rules into a graph, a graph into a
// view, a view into a format.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, env command.Env, args []string) int {
	root, called, args := begin(env, args)
	root.SetArgs(args)
	if completing(args) {
		completeFlags(root) // here alone: it takes longer than to make all commands
		return runCompletion(ctx, env, root)
	}
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return command.ExitDone
	case errors.Is(err, command.ErrNotFine):
		return command.ExitNotFine
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(env.ErrOut, "interrupted")
		return command.ExitInterrupted
	}
	lines := []string{err.Error()}
	if several, ok := errors.AsType[*hint.Lines](err); ok {
		lines = several.Lines
	}
	for _, line := range lines {
		fmt.Fprintf(env.ErrOut, "error: %s\n", command.Safe(called.in(line)))
	}
	if hint := called.in(hint.For(err)); hint != "" {
		for line := range strings.SplitSeq("hint: "+hint, "\n") {
			fmt.Fprintln(env.ErrOut, command.Safe(line))
		}
	}
	if exit, ok := errors.AsType[*command.ProcessError](err); ok {
		return exit.Code
	}
	if _, ok := errors.AsType[*install.FailedError](err); ok && ctx.Err() != nil {
		return command.ExitInterrupted // after what was done was told
	}
	return command.ExitError
}
