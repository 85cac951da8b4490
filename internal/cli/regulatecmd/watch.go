package regulatecmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
)

type regulateWatchOptions struct {
	*applyOptions
	elect   bool
	address string
}

func newRegulateWatch(env command.Env) *cobra.Command {
	o := &regulateWatchOptions{applyOptions: NewActing(env, "table", "json", "yaml")}
	cmd := o.ofSystem("watch [SYSTEM]", o.run)
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation; without it you are asked once, at the start")
	f.BoolVar(&o.allowExec, "allow-exec", false, "run the commands under exec of the manifest, on this machine")
	f.BoolVar(&o.elect, "leader-elect", false, "let one of several watches act, the others stand by")
	f.StringVar(&o.address, "metrics-address", "", "serve /metrics (OpenMetrics), /healthz and /readyz at this ADDRESS (127.0.0.1:8080)")
	o.trusting(cmd)
	o.locking(cmd)
	o.progress.AddFlag(cmd)
	return cmd
}

func (o *regulateWatchOptions) run(ctx context.Context, name string) error {
	o.DryRun, o.progress.Signals = "none", false
	if err := o.check(); err != nil {
		return err
	}
	b, err := regulator.Open(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	o.Say(summary.Watched(b.System, b.Namespace))
	if sure, err := o.confirmWatch(ctx, b); err != nil || !sure {
		return err
	}
	w := o.watcher(b)
	if o.address != "" {
		closing, err := o.serve(ctx, w)
		if err != nil {
			return err
		}
		defer closing()
	}
	if !o.elect {
		return w.Run(ctx, nil)
	}
	return w.Elect(ctx, func(holder string, since time.Time) { o.Say(summary.Standby(holder, since)) }, func() { o.Say("elected: this watch acts now") })
}

// confirmWatch shows what would be done now, and asks.
func (o *regulateWatchOptions) confirmWatch(ctx context.Context, b *regulator.Session) (bool, error) {
	if o.yes {
		return true, nil
	}
	if err := o.Env.MayAsk("the apps of " + b.System.Name + " would be changed whenever its rules require it"); err != nil {
		return false, err
	}
	p, err := b.Plan(ctx, regulator.ByRules)
	if err != nil {
		return false, err
	}
	b.Session.ReportGaps(b.Graph)
	if err := o.showPlan(p, b); err != nil {
		return false, err
	}
	sure, err := o.Env.Confirm(ctx, "Do this, and from now on whatever the rules require?")
	if err == nil && sure {
		b.Accept()
	}
	return sure, err
}

// serve answers scrapes and probes until it is closed.
func (o *regulateWatchOptions) serve(ctx context.Context, w *regulator.Watcher) (func(), error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return nil, fmt.Errorf("--metrics-address %s: %w", o.address, err)
	}
	fmt.Fprintf(o.Env.ErrOut, "serving http://%s/metrics\n", listener.Addr())
	server := &http.Server{Handler: w.Metrics.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}
