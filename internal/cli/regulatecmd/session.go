package regulatecmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// regulateOptions is what every command about a System takes.
type regulateOptions struct {
	*command.Common
	file string // of the manifest
	// systemName is --system, and app --app.
	systemName, app string
	// lease is how long a run that has died blocks others.
	lease    time.Duration
	progress command.ProgressPrinter
}

func newRegulating(env command.Env, formats ...string) *regulateOptions {
	return &regulateOptions{Common: command.NewCommon(env, formats...), progress: command.NewProgressPrinter(env)}
}

// request names the System, by its name or by -f.
func (o *regulateOptions) request(name string) regulator.Request {
	return regulator.Request{Name: name, File: o.file, Lease: o.lease, Events: o.progress.Print, Distrusted: o.WarnDistrusted}
}

// WarnDistrusted warns that the journal may not be trusted, and lists what it has pending.
func (o *regulateOptions) WarnDistrusted(reason string, pending []string) {
	o.Warn(reason)
	for _, line := range pending {
		fmt.Fprintf(o.Env.ErrOut, "  %s\n", command.Safe(line))
	}
}

// regulationOptions are how what is known of the System is shown.
func regulationOptions(b *regulator.Session) regulation.Options {
	return regulation.Options{System: b.System.Name, Namespace: b.Namespace, Gaps: b.Graph.Gaps(), Drifts: b.Drifts}
}

func (o *regulateOptions) locking(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.lease, "lock-lease", 15*time.Second, "how long a killed run blocks others")
}

// leastLease is the shortest time in which a lease can be renewed before it ends.
const leastLease = 2 * time.Second

func (o *regulateOptions) checkLease() error {
	if o.lease < leastLease {
		return fmt.Errorf("--lock-lease %s: expected at least %s", o.lease, leastLease)
	}
	return nil
}

// completeSystems completes the names of Systems that were adopted.
func (o *regulateOptions) completeSystems(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if o.isNamed() || len(args) > 0 {
		return nil, command.NoFiles
	}
	return o.CompleteSystem(cmd, args, typed)
}

// completeSignals completes the signals that an app of the System hears, and "Stop".
func (o *regulateOptions) completeSignals(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	name, _, _ := o.splitOne(args) // where that is wrong, the only System is meant
	words := o.Shell().OfSystem(cmd.Context(), o.file, name, func(s *system.System) []string {
		out := slices.Clone(s.Regulation.Signals)
		for i := range s.Apps {
			out = append(out, s.Apps[i].Signals()...)
		}
		return out
	})
	words = slices.DeleteFunc(append(words, system.Stop), func(w string) bool { return w == system.Recover })
	return completion.Beginning(words, typed), command.NoFiles
}

// appNames are the apps of the System that is named; none where it cannot be read.
func (o *regulateOptions) appNames(ctx context.Context, name string) []string {
	return o.Shell().OfSystem(ctx, o.file, name, (*system.System).AppNames)
}
