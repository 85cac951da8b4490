package cli

import (
	"context"
	"io"
	"sync"

	"github.com/spf13/cobra"

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
