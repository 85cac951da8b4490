package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

type logsOptions struct {
	*common
	logs.Request
	logs.Printer
	selector  string
	sinceTime string
	tail      int64
	tailGiven bool
	grep      []string
	exclude   []string
}

func newLogs(env Env) *cobra.Command {
	o := &logsOptions{common: newCommon(env, "text", "json")}
	o.allGaps = "kubectl sysop graph -o json"
	cmd := &cobra.Command{
		Use:   "logs ROOT...",
		Short: "Show the logs of all pods of a stack",
		Long: `Show the logs of the pods of one or more stacks: the pods that the roots own, those of
what they need (a database, for example), and of what serves them; with --owned only the
first. Each line begins with its pod and its container, with a color for each pod.

The last 10 lines of each container are shown, or all lines with --since, --since-time
or --grep (--tail overrides this; it counts lines before --grep filters them). The lines
of all logs are sorted by time.

With --follow new lines are shown as they are written. New pods and restarted containers
are followed as well, until interrupted, from their first line: --since and --tail apply
only to containers that exist at the start.

At most --max-streams logs are open at once. Without --follow the others are read after
these, and the order is kept; with it the others wait for a free stream, which is
reported. A log that cannot be read is reported and skipped, and so is a container that
has not started; the exit code is 1 if no log could be read.

Color codes are removed from lines, and other control characters are escaped. Lines are
cut off after 1 MiB. -o json writes each line as an object, on a line.`,
		Example: `  # the logs of all pods of a stack
  kubectl sysop logs moodle/moodle-1

  # follow them, and those that come
  kubectl sysop logs moodle/moodle-1 -f

  # errors of the last hour, in the whole stack of a Helm release
  kubectl sysop logs helm/shop --since 1h --grep '(?i)error' --exclude healthz

  # why did it restart?
  kubectl sysop logs deployment/web --previous --tail 50

  # one container, for a program
  kubectl sysop logs statefulset/db -c mysql --tail -1 -o json`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Roots, o.tailGiven = args, cmd.Flags().Changed("tail")
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.flags(cmd)
	return cmd
}

func (o *logsOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.BoolVar(&o.Owned, "owned", false, "only pods that the roots own, not those of what they need")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")

	f.BoolVarP(&o.Options.Follow, "follow", "f", false, "print new lines as they are written, until interrupted")
	f.DurationVar(&o.Options.Since, "since", 0, "only lines newer than this: 90s, 5m, 2h")
	f.StringVar(&o.sinceTime, "since-time", "", "only lines since this time: 2026-11-15T09:30:00Z")
	f.Int64Var(&o.tail, "tail", defaultTail, "how many lines of each container, from the end (-1: all)")
	f.BoolVarP(&o.Options.Previous, "previous", "p", false, "the logs of containers before their last restart")
	f.StringSliceVarP(&o.Containers, "container", "c", nil, "only containers of this name; may be repeated")
	f.BoolVar(&o.AllContainers, "all-containers", true, "init and ephemeral containers, too")
	f.StringArrayVar(&o.grep, "grep", nil, "only lines that match this regular expression; of several, one is enough")
	f.StringArrayVar(&o.exclude, "exclude", nil, "no lines that match this regular expression; may be repeated")

	f.BoolVar(&o.Timestamps, "timestamps", false, "show when each line was written")
	f.BoolVar(&o.NoPrefix, "no-prefix", false, "leave out the pod and container in front of lines")
	f.IntVar(&o.MaxStreams, "max-streams", 50, "how many logs may be open at once")
	f.StringVarP(&o.output, "output", "o", o.formats[0], "output format: "+strings.Join(o.formats, ", "))
	f.StringVar(&o.color, "color", "auto", "color: auto, always or never")
	for flag, values := range map[string][]string{"output": o.formats, "color": {"auto", "always", "never"}, "since": {"5m", "1h", "24h"}, "tail": {"-1", "10", "100"}} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	for _, flag := range []string{"container", "grep", "exclude", "since-time"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// defaultTail is how many lines of a log are shown where nothing says which.
const defaultTail = 10

// request reads the flags, before anything is read from a cluster.
func (o *logsOptions) request() (*logs.Request, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	q := &o.Request
	if o.tail >= 0 && (o.tailGiven || q.Options.Since == 0 && o.sinceTime == "" && len(o.grep) == 0) {
		q.Options.Tail = &o.tail
	}
	var err error
	if o.sinceTime != "" {
		if q.Options.SinceTime, err = time.Parse(time.RFC3339Nano, o.sinceTime); err != nil {
			return nil, hint.With(fmt.Errorf("--since-time %q: not a time", o.sinceTime), "write it as 2026-11-15T09:30:00Z, or say how long ago it was with --since 2h")
		}
	}
	if q.Filter.Only, err = patterns("--grep", o.grep); err != nil {
		return nil, err
	}
	if q.Filter.Never, err = patterns("--exclude", o.exclude); err != nil {
		return nil, err
	}
	q.Selector, err = app.ParseSelector(o.selector)
	return q, err
}

// check finds what cannot be meant, before anything is read.
func (o *logsOptions) check() error {
	if err := o.validate(); err != nil {
		return err
	}
	switch {
	case len(o.Roots) == 0:
		return hint.With(errors.New("name a root: TYPE/NAME, TYPE NAME or TYPE"), "kubectl sysop logs --help has examples")
	case o.Options.Follow && o.Options.Previous:
		return errors.New("--follow and --previous exclude each other: an ended log does not continue")
	case o.Options.Since != 0 && o.sinceTime != "":
		return errors.New("--since and --since-time exclude each other")
	case o.Options.Since < 0:
		return fmt.Errorf("--since %s: expected how long ago, as in 2h", o.Options.Since)
	case o.tail < -1:
		return fmt.Errorf("--tail %d: expected 0 or more, or -1 for all", o.tail)
	case o.MaxStreams < 1:
		return fmt.Errorf("--max-streams %d: expected 1 or more", o.MaxStreams)
	case o.From != "":
		return hint.With(errors.New("--from: a snapshot holds no logs"), "without --from, logs are read from a cluster; kubectl sysop graph ROOT --kinds pods --from "+o.From+" lists the pods")
	}
	return nil
}

func patterns(flag string, texts []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, text := range texts {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s %q: %w", flag, text, err), `expected a regular expression of Go (RE2); \ escapes the next character`)
		}
		out = append(out, re)
	}
	return out, nil
}

func (o *logsOptions) run(ctx context.Context) error {
	q, err := o.request()
	if err != nil {
		return err
	}
	o.env.ErrOut = &oneAtATime{w: o.env.ErrOut}
	o.Out, o.Width, o.JSON = o.env.Out, o.env.Width, o.output == "json"
	o.Color = o.color == "always" || o.color != "never" && o.env.Color
	return logs.Print(ctx, &o.Input, q, &o.Printer)
}

// oneAtATime is a writer that several may use at once.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
