package command

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Warn tells of something that may make the answer wrong or incomplete.
func (c *Common) Warn(text string) { c.Say("warning: " + text) }

// Note tells of something that explains the answer.
func (c *Common) Note(text string) { c.Say("note: " + text) }

// Progress tells what is being done; it is for people alone.
func (c *Common) Progress(text string) {
	if c.Env.Talk {
		c.Say(text)
	}
}

// Timings prints what each stage took.
func (c *Common) Timings(text string) { fmt.Fprint(c.Env.ErrOut, text) }

// Gaps says what could not be read.
func (c *Common) Gaps(gaps []object.Gap) { c.Say(summary.Gaps(gaps, c.AllGaps)...) }

// Say prints lines on standard error.
func (c *Common) Say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.Env.ErrOut, Safe(line))
	}
}

// Safe makes text of the cluster harmless for a terminal.
func Safe(s string) string { return render.Escape(s) }

// Notes prints what was noted when catalogues were read.
func (c *Common) Notes(all []string) {
	for _, n := range all {
		c.Note(n)
	}
}
