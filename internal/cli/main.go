// Package cli is the command line: a file a command, each an options struct, a
// constructor and a run. It alone imports cobra, and it wires what the packages
// below offer: a source into an inventory, rules into a graph, a graph into a
// view, a view into a format.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// Env is what the process gives the commands.
type Env struct {
	genericiooptions.IOStreams
	// Getenv reads the environment.
	Getenv func(string) string
	// Width is that of the terminal at standard output; 0 where it is none.
	Width int
	// Color says that standard output is a terminal that shows colour.
	Color bool
	// Talk says that standard error is a terminal: progress and summaries go there.
	Talk bool
	// Ask says that standard input and standard error are terminals, so a command can ask.
	Ask bool
	// Demo is the example of --from demo.
	Demo fs.FS
	// Now is the clock.
	Now func() time.Time
	// Program is the name that the binary was called by (os.Args[0]); empty for kubectl-sysop.
	Program string
	// CompletionTimeout is how long a completion waits for a cluster; 0 for a second.
	CompletionTimeout time.Duration
}

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

// errNotFine ends a command that has answered, where --exit-code asks for that.
var errNotFine = errors.New("not fine")

// exitError ends the process as a command that was run ended.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// Process returns the environment of this process.
func Process(demo fs.FS) Env {
	env := Env{
		IOStreams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Getenv:    os.Getenv, Demo: demo, Now: time.Now, Program: os.Args[0], Talk: term.IsTerminal(int(os.Stderr.Fd())),
	}
	env.Ask = env.Talk && term.IsTerminal(int(os.Stdin.Fd()))
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		env.Color = escapes(fd) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(fd); err == nil {
			env.Width = w
		}
	}
	return env
}
