package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

func (o *logsOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.BoolVar(&o.Owned, "owned", false, "only pods that the roots own, not those of what they need")

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
	o.AddFormatFlags(cmd)
	for flag, values := range map[string][]string{"since": {"5m", "1h", "24h"}, "tail": {"-1", "10", "100"}} {
		command.Offer(cmd, flag, values...)
	}
	for _, flag := range []string{"container", "grep", "exclude", "since-time"} {
		command.Complete(cmd, flag, cobra.NoFileCompletions)
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
	if o.tail >= 0 && (o.tailGiven() || q.Options.Since == 0 && o.sinceTime == "" && len(o.grep) == 0) {
		q.Options.Tail = &o.tail
	}
	var err error
	if o.sinceTime != "" {
		if q.Options.SinceTime, err = time.Parse(time.RFC3339Nano, o.sinceTime); err != nil {
			return nil, hint.With(fmt.Errorf("--since-time %q: not a time", o.sinceTime), "write it as 2026-11-15T09:30:00Z, or say how long ago it was with --since 2h")
		}
	}
	if q.Filter.Only, err = logs.Patterns("--grep", o.grep); err != nil {
		return nil, err
	}
	if q.Filter.Never, err = logs.Patterns("--exclude", o.exclude); err != nil {
		return nil, err
	}
	q.Selector, err = app.ParseSelector(o.selector)
	return q, err
}

// check finds what cannot be meant, before anything is read.
func (o *logsOptions) check() error {
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
