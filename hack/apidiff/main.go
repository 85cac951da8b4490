// Command apidiff prints what a change does to the packages of pkg/, for the programs
// that import them: what it breaks, and what it adds.
//
//	apidiff [--base REVISION] [--fail]
//
// The base is the latest tag, where none is named. It is checked out into a temporary
// worktree, which is removed at the end. What is incompatible must be announced in the
// section on top of CHANGELOG.md, under "### Changed in the library"; with --fail the
// exit code is 1 where it is not. An error has the exit code 2.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitDone   = 0
	exitBroken = 1
	exitError  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], ".", os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run compares the checkout in a folder with its base.
func run(ctx context.Context, args []string, dir string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("apidiff", flag.ContinueOnError)
	flags.SetOutput(errOut)
	base := flags.String("base", "", "`revision` of git to compare with (default: the latest tag)")
	fail := flags.Bool("fail", false, "exit with 1 where something breaks that CHANGELOG.md does not announce")
	if err := flags.Parse(args); err != nil {
		return exitError
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(errOut, "apidiff: unknown argument %q: want --base REVISION\n", flags.Arg(0))
		return exitError
	}
	broken, err := compare(ctx, dir, *base, out)
	switch {
	case err != nil:
		fmt.Fprintln(errOut, "apidiff:", err)
		return exitError
	case broken && *fail:
		return exitBroken
	}
	return exitDone
}

// compare writes the report, and reports whether a breaking change is not announced.
func compare(ctx context.Context, dir, base string, out io.Writer) (bool, error) {
	top, err := root(ctx, dir)
	if err != nil {
		return false, err
	}
	if base == "" {
		if base, err = latestTag(ctx, top); err != nil {
			return false, err
		}
	}
	if base == "" {
		fmt.Fprintln(out, "there is no tag to compare with yet: name a revision (make apidiff BASE=main), or git fetch --tags")
		return false, nil
	}
	then, remove, err := worktree(ctx, top, base)
	if err != nil {
		return false, err
	}
	defer remove()
	before, err := load(ctx, then)
	if err != nil {
		return false, fmt.Errorf("load %s: %w", base, err)
	}
	now, err := load(ctx, top)
	if err != nil {
		return false, fmt.Errorf("load the checkout: %w", err)
	}
	d := diff(before, now)
	d.write(out, base)
	if d.breaks == 0 {
		return false, nil
	}
	ok, err := announced(top)
	if err != nil {
		return false, err
	}
	if ok {
		fmt.Fprintf(out, "%s announces it under %q\n", changelog, heading)
		return false, nil
	}
	fmt.Fprintf(out, "%s does not announce it: its section on top wants a heading %q\n", changelog, heading)
	return true, nil
}
