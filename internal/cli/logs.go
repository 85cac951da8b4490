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
	tailGiven func() bool
	grep      []string
	exclude   []string
}

func newLogs(env Env) *cobra.Command {
	o := &logsOptions{common: newCommon(env, "text", "json")}
	o.allGaps = "kubectl sysop graph -o json"
	cmd := o.newCommand("logs ROOT...", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.tailGiven = func() bool { return cmd.Flags().Changed("tail") }
	o.reading(cmd)
	o.flags(cmd)
	return cmd
}

func (o *logsOptions) run(ctx context.Context, args []string) error {
	o.Roots = args
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
