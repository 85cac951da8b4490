package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// regulateOptions is what every command about a System takes.
type regulateOptions struct {
	*common
	file string // of the manifest
	// systemName is --system, and app --app.
	systemName, app string
	// lease is how long a run that has died blocks others.
	lease    time.Duration
	progress progressPrinter
}

func newRegulating(env Env, formats ...string) *regulateOptions {
	return &regulateOptions{common: newCommon(env, formats...), progress: newProgressPrinter(env)}
}

// request names the System, by its name or by -f.
func (o *regulateOptions) request(name string) regulator.Request {
	return regulator.Request{Name: name, File: o.file, Lease: o.lease, Events: o.progress.print, Distrusted: o.warnDistrusted}
}

// warnDistrusted warns that the journal may not be trusted, and lists what it has pending.
func (o *regulateOptions) warnDistrusted(reason string, pending []string) {
	o.Warn(reason)
	for _, line := range pending {
		fmt.Fprintf(o.env.ErrOut, "  %s\n", safe(line))
	}
}

// regulationOptions are how what is known of the System is shown.
func regulationOptions(b *regulator.Session) view.RegulationOptions {
	return view.RegulationOptions{System: b.System.Name, Namespace: b.Namespace, Gaps: b.Graph.Gaps(), Drifts: b.Drifts}
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
