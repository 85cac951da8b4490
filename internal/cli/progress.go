package cli

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

// progressPrinter is a receiver of the events of runs: it prints them on standard error.
type progressPrinter struct {
	mode string
	out  io.Writer
	// signals says that auto prints the results of signals, too.
	signals bool
}

func newProgressPrinter(env Env) progressPrinter {
	return progressPrinter{mode: "auto", out: env.ErrOut, signals: env.Talk}
}

func (p *progressPrinter) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.mode, "progress", p.mode, "what stderr has of the progress: auto, plain (lines, also where no terminal is), json (a line of JSON for each event) or none")
	offer(cmd, "progress", progressModes...)
}

func (p *progressPrinter) check() (err error) {
	p.mode, err = oneOf("--progress", p.mode, progressModes)
	return err
}

// print prints an event.
func (p *progressPrinter) print(e journal.Event) {
	switch {
	case p.mode == "none":
	case p.mode == "json":
		_ = render.JSONLine(p.out, e) // every event has a form in JSON, and a run does not end because stderr is closed
	case e.Signal == "" || p.signals || p.mode == "plain":
		if line := summary.Progress(e); line != "" {
			fmt.Fprintln(p.out, safe(line))
		}
	}
}
