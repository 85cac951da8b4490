// Package cli is the command line: a file a command, each an options struct, a
// constructor and a run. It alone imports cobra, and it wires what the packages
// below offer: a source into an inventory, rules into a graph, a graph into a
// view, a view into a format.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
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

// New returns the root command.
func New(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-sysop",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl sysop"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	holds(root)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); onlyHolds(cmd) && len(args) > 0 {
			return unknownCommand(cmd, args[0]) // The flag would be one of its.
		}
		return hint.With(err, cmd.CommandPath()+" --help lists the flags")
	})
	logs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logs)
	v := root.PersistentFlags()
	v.AddGoFlag(logs.Lookup("v"))
	v.Lookup("v").Usage = "log level: 6 shows each request"
	root.PersistentPreRun = func(*cobra.Command, []string) {
		// The libraries log what they return as errors as well: who does not ask for
		// logs reads it once, from us.
		if v.Lookup("v").Value.String() == "0" {
			quietLogs()
		}
	}
	root.AddCommand(newCatalog(env), newGraph(env), newCheck(env), newDiff(env), newHealth(env), newHistory(env), newPath(env), newImpact(env), newInstall(env), newLogs(env), newMetrics(env), newMan(env), newPrices(env), newRegulate(env), newRollback(env), newRules(env), newSnapshot(env), newStacks(env), newSystem(env), newUI(env), newUninstall(env), newUpgrade(env), newVersion(env))
	addCompletion(env, root)
	describe(root)
	completeFlags(root)
	return root
}

// quietLogs is for the whole process.
var quietLogs = sync.OnceFunc(func() {
	klog.SetLogger(logr.Discard())
	slog.SetDefault(slog.New(slog.DiscardHandler)) // which Helm's library uses now and then
})

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
