package cli

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Warn tells of something that may make the answer wrong or incomplete.
func (c *common) Warn(text string) { c.say("warning: " + text) }

// Note tells of something that explains the answer.
func (c *common) Note(text string) { c.say("note: " + text) }

// Progress tells what is being done; it is for people alone.
func (c *common) Progress(text string) {
	if c.env.Talk {
		c.say(text)
	}
}

// Timings prints what each stage took.
func (c *common) Timings(text string) { fmt.Fprint(c.env.ErrOut, text) }

// Gaps says what could not be read.
func (c *common) Gaps(gaps []object.Gap) { c.say(summary.Gaps(gaps, c.allGaps)...) }

// say prints lines on standard error.
func (c *common) say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.env.ErrOut, safe(line))
	}
}

// safe makes text of the cluster harmless for a terminal.
func safe(s string) string { return render.Escape(s) }

// notes prints what was noted when catalogues were read.
func (c *common) notes(all []string) {
	for _, n := range all {
		c.Note(n)
	}
}
