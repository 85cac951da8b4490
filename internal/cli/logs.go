package cli

import (
	"context"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

type logsOptions struct {
	*command.Common
	logs.Request
	logs.Printer
	selector  string
	sinceTime string
	tail      int64
	tailGiven func() bool
	grep      []string
	exclude   []string
}

func newLogs(env command.Env) *cobra.Command {
	o := &logsOptions{Common: command.NewCommon(env, "text", "json")}
	o.AllGaps = "kubectl sysop graph -o json"
	cmd := o.NewCommand("logs ROOT...", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.tailGiven = func() bool { return cmd.Flags().Changed("tail") }
	o.AddReadFlags(cmd)
	o.flags(cmd)
	return cmd
}

func (o *logsOptions) run(ctx context.Context, args []string) error {
	o.Roots = args
	q, err := o.request()
	if err != nil {
		return err
	}
	o.Env.ErrOut = &oneAtATime{w: o.Env.ErrOut}
	o.Out, o.Width, o.JSON = o.Env.Out, o.Env.Width, o.Output == "json"
	o.Color = o.Colored()
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
