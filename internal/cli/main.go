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

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// Exit codes.
const (
	ExitDone        = 0
	ExitError       = 1
	ExitNotFine     = 2 // done, and what was asked about is not fine; only with --exit-code
	ExitInterrupted = 130
)

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, env Env, args []string) int {
	root, called, args := begin(env, args)
	root.SetArgs(args)
	if completing(args) {
		completeFlags(root) // here alone: it takes longer than to make all commands
		return runCompletion(ctx, env, root)
	}
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, errNotFine):
		return ExitNotFine
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(env.ErrOut, "interrupted")
		return ExitInterrupted
	}
	lines := []string{err.Error()}
	if several, ok := errors.AsType[*hint.Lines](err); ok {
		lines = several.Lines
	}
	for _, line := range lines {
		fmt.Fprintf(env.ErrOut, "error: %s\n", safe(called.in(line)))
	}
	if hint := called.in(hint.For(err)); hint != "" {
		for line := range strings.SplitSeq("hint: "+hint, "\n") {
			fmt.Fprintln(env.ErrOut, safe(line))
		}
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if _, ok := errors.AsType[*install.FailedError](err); ok && ctx.Err() != nil {
		return ExitInterrupted // after what was done was told
	}
	return ExitError
}
