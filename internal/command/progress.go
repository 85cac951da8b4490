package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// progressModes are the values of --progress.
var progressModes = []string{"auto", "plain", "json", "none"}

// ProgressPrinter is a receiver of the events of runs: it prints them on standard error.
type ProgressPrinter struct {
	mode string
	out  io.Writer
	// Signals says that auto prints the results of signals, too.
	Signals bool
}

func NewProgressPrinter(env Env) ProgressPrinter {
	return ProgressPrinter{mode: "auto", out: env.ErrOut, Signals: env.Talk}
}

func (p *ProgressPrinter) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.mode, "progress", p.mode, "what stderr has of the progress: auto, plain (lines, also where no terminal is), json (a line of JSON for each event) or none")
	Offer(cmd, "progress", progressModes...)
}

func (p *ProgressPrinter) Validate() (err error) {
	p.mode, err = OneOf("--progress", p.mode, progressModes)
	return err
}

// Print prints an event.
func (p *ProgressPrinter) Print(e journal.Event) {
	switch {
	case p.mode == "none":
	case p.mode == "json":
		_ = render.JSONLine(p.out, e) // every event has a form in JSON, and a run does not end because stderr is closed
	case e.Signal == "" || p.Signals || p.mode == "plain":
		if line := summary.Progress(e); line != "" {
			fmt.Fprintln(p.out, Safe(line))
		}
	}
}
