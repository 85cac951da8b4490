// Package command is what the commands of the command line share: the environment of the process, the
// flags that several take, their completions, questions and progress on standard error.
package command

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
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
	// Version is that of the program.
	Version string
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

// ErrNotFine ends a command that has answered, where --exit-code asks for that.
var ErrNotFine = errors.New("not fine")

// ProcessError ends the process as a command that was run ended.
type ProcessError struct {
	Err  error
	Code int
}

func (e *ProcessError) Error() string { return e.Err.Error() }
func (e *ProcessError) Unwrap() error { return e.Err }

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
