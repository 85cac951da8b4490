package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

type regulateWatchOptions struct {
	*applyOptions
	elect   bool
	address string
}

func newRegulateWatch(env Env) *cobra.Command {
	o := &regulateWatchOptions{applyOptions: newActing(env, "table", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "watch [SYSTEM]",
		Short: "Regulate a System continuously, until interrupted",
		Long: `Regulate a System continuously, until interrupted: changes in the cluster are watched and
evaluated, and what the rules require is done, with a line for each action. What is held
when it ends stays held; the next run continues.

In a cluster use --leader-elect, so that one of several acts; regulate manifests prints
what that needs.`,
		Example: `  # regulate the shop until interrupted
  kubectl sysop regulate watch shop --yes`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeSystems,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := o.systemOf(args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), name)
		},
	}
	o.naming(cmd)
	o.writing(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation; without it you are asked once, at the start")
	f.BoolVar(&o.allowExec, "allow-exec", false, "run the commands under exec of the manifest, on this machine")
	f.BoolVar(&o.elect, "leader-elect", false, "let one of several watches act, the others stand by")
	f.StringVar(&o.address, "metrics-address", "", "serve /metrics (OpenMetrics), /healthz and /readyz at this ADDRESS (127.0.0.1:8080)")
	o.trusting(cmd)
	o.locking(cmd)
	o.progress.flag(cmd)
	return cmd
}

func (o *regulateWatchOptions) run(ctx context.Context, name string) error {
	o.dryRun = "none"
	if err := o.check(); err != nil {
		return err
	}
	w, err := o.watcher(ctx, name)
	if err != nil || w == nil {
		return err
	}
	if o.address != "" {
		closing, err := w.serve(ctx, o.address)
		if err != nil {
			return err
		}
		defer closing()
	}
	forever := func(*regulate.Plan) bool { return false }
	if !o.elect {
		return w.run(ctx, forever)
	}
	election, err := regulate.NewElection(w.b.config, w.b.System.Name, w.b.Namespace, w.standby())
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		// A process that loses the election joins it again.
		err := election.Do(ctx, func(ctx context.Context) error {
			fmt.Fprintln(o.env.ErrOut, "elected: this watch acts now")
			return w.run(ctx, forever)
		})
		w.trouble.Failure(err)
	}
	return ctx.Err()
}

// watcher prepares the watch after the user was asked. It is nil if the user declined.
func (o *regulateWatchOptions) watcher(ctx context.Context, name string) (*regulateWatcher, error) {
	b, err := o.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	w := newRegulateWatcher(o.applyOptions, b)
	w.show, o.progress.signals = true, false
	w.announce()
	if o.yes {
		return w, nil
	}
	if err := o.env.canAsk("the apps of " + b.System.Name + " would be changed whenever its rules require it"); err != nil {
		return nil, err
	}
	p, err := b.planned(ctx, byRules)
	if err != nil {
		return nil, err
	}
	b.Session.ReportGaps(b.Graph)
	if err := o.showPlan(p, b); err != nil {
		return nil, err
	}
	if sure, err := o.env.ask(ctx, "Do this, and from now on whatever the rules require?"); err != nil || !sure {
		return nil, err
	}
	b.accept()
	return w, nil
}

// regulateWatcher plans, and does what is planned, whenever something changes.
type regulateWatcher struct {
	o       *applyOptions
	b       *systemSession
	live    *source.Live
	trouble *app.WatchNotices
	meter   *regulate.Metrics
	// idle says that it only looks; show that it writes what was done; freeing that it only
	// lets go.
	idle, show, freeing bool
	// did is given what was done; it may be nil.
	did func(*applyResult)
	// refused is what was refused in the last turn.
	refused map[string]bool
	// changed is what was changed of what is held, in the last turn.
	changed map[string]bool
	// why is the cause that was reported last.
	why string
}

// announce says at once what is watched: the first answer may take a while, and nothing more is
// said until something is to be done.
func (w *regulateWatcher) announce() {
	s := w.b.System
	rules := "no rules: it holds no app"
	if n := len(s.Regulation.Rules); n > 0 {
		rules = plural(n, "rule")
	}
	fmt.Fprintf(w.o.env.ErrOut, "watching the System %s%s: %s (%s), %s; Ctrl-C ends it\n",
		safe(s.Name), safe(inNamespace(w.b.Namespace)), plural(len(s.Apps), "app"), safe(strings.Join(s.AppNames(), ", ")), rules)
}

// standby are the options of the election: who waits says that it stands by, and for whom.
func (w *regulateWatcher) standby() journal.LeaseOptions {
	options := w.o.lockOptions(w.b.System.Name)
	options.Waiting = func(holder string, since time.Time) {
		at := ""
		if !since.IsZero() {
			at = " since " + since.Local().Format(time.TimeOnly)
		}
		fmt.Fprintf(w.o.env.ErrOut, "standing by: %s watches%s, and this one takes over when that ends\n", safe(holder), at)
	}
	return options
}

func newRegulateWatcher(o *applyOptions, b *systemSession) *regulateWatcher {
	return &regulateWatcher{o: o, b: b, trouble: &app.WatchNotices{Report: o.common}, meter: regulate.NewMeter(b.System.Name)}
}

// serve answers scrapes and probes at an address until it is closed.
func (w *regulateWatcher) serve(ctx context.Context, address string) (func(), error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics-address %s: %w", address, err)
	}
	fmt.Fprintf(w.o.env.ErrOut, "serving http://%s/metrics\n", listener.Addr())
	server := &http.Server{Handler: w.meter.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}

// run continues until end says so of a plan that nothing was left to do of, or ctx ends.
func (w *regulateWatcher) run(ctx context.Context, end func(*regulate.Plan) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	cluster := w.b.Session.Source
	w.live = w.b.Session.Live(ctx)
	w.trouble.Live = w.live
	defer func() { w.b.Session.Source = cluster }()
	for {
		p, err := w.turn(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.trouble.Failure(err)
		w.trouble.Trouble()
		w.meter.Turned(w.b.journal, p, err)
		if p != nil && w.show {
			w.refusals(p)
		}
		if err == nil && w.show { // else what is held may not be known
			w.drifted(ctx)
		}
		if err == nil {
			w.trouble.Gaps(w.b.Graph.Gaps())
			if end(p) {
				return nil
			}
		}
		if err := w.next(ctx, p); err != nil {
			return err
		}
	}
}

// next waits until something has changed, or is ripe.
func (w *regulateWatcher) next(ctx context.Context, p *regulate.Plan) error {
	pause := app.Ripening
	if p != nil && !p.NextCheck.IsZero() {
		pause = min(pause, max(p.NextCheck.Sub(w.o.env.Now()), app.Gathering))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	case <-w.live.Changed():
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(app.Gathering):
		return nil
	}
}

// turn looks, plans, and does what is planned. The plan is that of the end.
func (w *regulateWatcher) turn(ctx context.Context) (*regulate.Plan, error) {
	b := w.b
	if err := b.observe(ctx); err != nil {
		return nil, err
	}
	p := w.plan()
	if w.idle || len(p.Steps) == 0 && reflect.DeepEqual(b.journal.AppRecords, p.Seen) {
		return p, nil
	}
	var d applyResult
	err := b.locked(ctx, func(ctx context.Context) error {
		// Another process may have acted since.
		if err := b.remember(ctx); err != nil {
			return err
		}
		p = w.plan()
		out, err := w.o.carryOut(ctx, b, p)
		d = applyResult{planned: p, out: out}
		return err
	})
	if d.out != nil {
		w.meter.Observe(d.out)
		if w.did != nil {
			w.did(&d)
		}
		if w.show {
			if err := w.tell(&d); err != nil {
				return p, err
			}
		}
	}
	return p, err
}

// refusals tells what the rules ask for and is not done, each once while it is so.
func (w *regulateWatcher) refusals(p *regulate.Plan) {
	now := map[string]bool{}
	for _, r := range p.Refused {
		text := fmt.Sprintf("%s of %s is refused (%s): %s", r.Signal, r.App, r.Reason, r.Message)
		key := r.Signal + " " + r.App + " " + r.Rule + " " + r.Reason // The message has times in it.
		now[key] = true
		if !w.refused[key] {
			fmt.Fprintf(w.o.env.ErrOut, "warning: %s\n", safe(text))
		}
	}
	w.refused = now
}

// drifted reports changes by others to held objects, with the remedies, each once while it lasts.
func (w *regulateWatcher) drifted(ctx context.Context) {
	if err := w.b.drift(ctx); err != nil || ctx.Err() != nil {
		return
	}
	now := map[string]bool{}
	for i := range w.b.drifts {
		d := &w.b.drifts[i]
		text := fmt.Sprintf("%s of app %s: %s", d.Target, d.App, d.Text())
		if now[text] = true; w.changed[text] {
			continue
		}
		fmt.Fprintf(w.o.env.ErrOut, "warning: %s\n", safe(text))
		for _, c := range d.Choices(w.b.System.Name) {
			fmt.Fprintf(w.o.env.ErrOut, "  %s: %s\n", safe(c.What), safe(c.Command))
		}
	}
	w.changed = now
}

// plan says what the rules ask for, or what of it lets go.
func (w *regulateWatcher) plan() *regulate.Plan {
	p := regulate.NewPlan(w.b.State, w.b.System, w.b.journal, w.o.env.Now())
	if w.freeing {
		p.Steps = slices.DeleteFunc(p.Steps, func(s regulate.Step) bool { return s.Verb == regulate.Send || s.Verb == regulate.AddCause })
	}
	return p
}

// tell writes what was done: lines, or a document.
func (w *regulateWatcher) tell(d *applyResult) error {
	if len(d.out.Done)+len(d.out.Failed) == 0 {
		return nil
	}
	quiet := *d.planned
	quiet.Pending, quiet.Refused = nil, nil
	a := view.RegulationDone(d.out, &quiet, nil, w.b.options())
	switch w.o.output {
	case "json":
		return render.JSONLine(w.o.env.Out, a.Document)
	case "yaml":
		if _, err := fmt.Fprintln(w.o.env.Out, "---"); err != nil {
			return err
		}
		return w.o.write(a)
	}
	w.dropRepeatedCause(a.Table)
	return w.o.writeUnder(a, false)
}

// dropRepeatedCause leaves a cause out that was reported last, by the last column.
func (w *regulateWatcher) dropRepeatedCause(t *view.Table) {
	for _, row := range t.Rows {
		cell := &row[len(row)-1]
		if cell.Text == w.why {
			cell.Text = ""
			continue
		}
		w.why = cell.Text
	}
}
