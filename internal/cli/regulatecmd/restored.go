package regulatecmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const (
	// recoverTimeout is how long regulate recover waits until what it recovered is Healthy.
	recoverTimeout = time.Minute
	// glance is how long to wait without a request to wait; noLook does not wait.
	glance = 5 * time.Second
	noLook = -1
)

// inspect waits until what recovered is Healthy, and says so or what is not.
func (o *applyOptions) inspect(ctx context.Context, b *regulator.Session, out *regulate.Outcome, timeout time.Duration) (*restored.Report, error) {
	if o.DryRun != "none" {
		return nil, nil //nolint:nilnil // nothing to say is no error
	}
	report, err := b.Inspect(ctx, out, timeout)
	return o.printRestored(ctx, report, regulator.RestoredApps(out), err)
}

// printRestored prints the health of what recovered. An interrupt is no error: it was recovered.
func (o *applyOptions) printRestored(ctx context.Context, report *restored.Report, apps []string, err error) (*restored.Report, error) {
	switch {
	case ctx.Err() != nil && len(apps) > 0:
		o.Say("interrupted: whether what recovered is Healthy is unknown; see kubectl sysop regulate status")
		return nil, nil //nolint:nilnil // as above
	case report != nil && err == nil:
		fmt.Fprintln(o.Env.ErrOut, command.Safe(report.Text(fmt.Sprintf("what recovered (%s)", strings.Join(apps, ", ")))))
	}
	return report, err
}

// PrintOutput shows what a command of an app wrote, each line with the app before it.
func (o *applyOptions) PrintOutput(app, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(o.Env.ErrOut, "%s: %s\n", command.Safe(app), command.Safe(strings.TrimRight(line, "\r\n")))
	}
}

// printResult shows what was done, and waits for what was recovered, unless timeout is noLook.
// It is an error if anything failed.
func (o *applyOptions) printResult(ctx context.Context, b *regulator.Session, d *regulator.Result, timeout time.Duration) (err error) {
	out := d.Outcome
	if out == nil {
		return nil
	}
	looked := timeout == noLook
	if !o.ForPeople() && !looked { // a document has all of it
		looked = true
		if d.Restored, err = o.inspect(ctx, b, out, timeout); err != nil {
			return err
		}
	}
	if err := o.Write(regulation.Done(out, d.Plan, d.Restored, regulationOptions(b))); err != nil {
		return err
	}
	o.Say(summary.Unwritten(d)...)
	if o.DryRun == "server" {
		o.Say("dry run: the API server accepted it, and stored nothing")
	}
	if !looked {
		if d.Restored, err = o.inspect(ctx, b, out, timeout); err != nil {
			return err
		}
	}
	if n := len(out.Failed); n > 0 {
		return hint.With(fmt.Errorf("%d of %d could not be done: %s", n, n+len(out.Done), out.Failed[0].Result), "kubectl sysop regulate status shows what is held")
	}
	return nil
}
