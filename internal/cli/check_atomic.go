package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// atomicOptions are what the question whether all of a batch will start takes.
type atomicOptions struct {
	*command.Common
	app.PreflightRequest
	on bool // --atomic
	// footprints is a file that says what custom resources run.
	footprints string
}

func (o *atomicOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "atomic", false, "check whether a whole batch would start: the manifests of -f, or a ROOT's stack from scratch")
	f.StringArrayVarP(&o.Files, "filename", "f", nil, `with --atomic, manifests: FILE, DIR or "-"; may be repeated`)
	f.BoolVarP(&o.Recursive, "recursive", "R", false, "with -f, read subdirectories as well")
	f.StringVar(&o.footprints, "footprint", "", "with --atomic, what custom resources run, from a YAML FILE")
	f.BoolVar(&o.Autoscaler, "assume-autoscaler", false, "with --atomic, assume that the cluster can add nodes: note it if there is no room")
	command.AliasFlag(cmd, "autoscaler", "assume-autoscaler")
}

// run evaluates the preflight and shows it. With failOn Error an impossible preflight fails; with
// Warning an unknown one fails too.
func (o *atomicOptions) run(ctx context.Context, args []string, failOn check.Severity) error {
	o.Args = args
	if err := o.validateFlags(); err != nil {
		return err
	}
	declared, err := app.ReadFootprints(ctx, o.footprints)
	if err != nil {
		return err
	}
	a, err := app.NewPreflight(ctx, &o.Input, o.PreflightRequest)
	if err != nil {
		return err
	}
	q, err := a.Evaluation(ctx, declared)
	if err != nil {
		return err
	}
	foreseeing := o.Clock.Stage("foresee")
	report := preflight.Evaluate(q)
	foreseeing()
	a.Session.ReportGaps(a.Graph)
	for _, d := range declared {
		if !d.Used {
			fmt.Fprintf(o.Env.ErrOut, "warning: %s: a footprint of %s, and no such object is in the batch\n", command.Safe(d.Origin), command.Safe(d.Called()))
		}
	}
	if err := o.show(report, o.shown(a, q)); err != nil {
		return err
	}
	a.Session.PrintTimings(a.Graph)
	if failOn != 0 && (report.Verdict == schedule.DoesNotFit || failOn == check.Warning && report.Verdict == schedule.Unknown) {
		return command.ErrNotFine
	}
	return nil
}

// show writes the answer; for people the verdict goes before it.
func (o *atomicOptions) show(report *preflight.Report, shown view.PreflightOptions) error {
	if o.ForPeople() {
		if _, err := fmt.Fprintln(o.Env.Out, command.Safe(view.PreflightVerdict(report, shown))); err != nil {
			return err
		}
	}
	return o.Write(view.Preflight(report, shown))
}

// shown says how the answer is laid out.
func (o *atomicOptions) shown(a *app.Preflight, q preflight.Request) view.PreflightOptions {
	return view.PreflightOptions{
		Namespace: a.Session.Namespace, Objects: len(q.Batch), Server: q.Admissions != nil, FromScratch: q.FromScratch,
		Gaps: a.Graph.Gaps(),
	}
}

// validateFlags checks what was asked, before anything is read.
func (o *atomicOptions) validateFlags() error {
	switch {
	case len(o.Files) > 0 && len(o.Args) > 0:
		return hint.With(errors.New("--atomic checks either the manifests of -f or the stack of a ROOT"), "leave out -f, or the ROOT")
	case len(o.Files) == 0 && len(o.Args) == 0:
		return hint.With(errors.New("--atomic: name the manifests with -f, or the ROOT of a stack"), "kubectl sysop check --atomic -f FILE")
	case o.Recursive && len(o.Files) == 0:
		return errors.New("-R needs -f with a directory")
	}
	return nil
}
