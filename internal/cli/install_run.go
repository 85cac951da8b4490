package cli

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// tellEvent writes progress on standard error.
func (o *installOptions) tellEvent(e install.Progress) {
	text := ""
	switch e.Kind {
	case install.StepStarted:
		text = fmt.Sprintf("%s: %s", view.StepWords(e.StepKind), e.Step)
	case install.StepUndone:
		text = "  undone: " + e.Step
	case install.StepNotUndone:
		text = fmt.Sprintf("  left: %s: %s", e.Step, e.Message)
	case install.Waiting:
		text = "  waiting " + e.Message
	case install.Undoing:
		text = "undoing: " + e.Message
	case install.Noted:
		text = "note: " + e.Message
	default:
		return
	}
	fmt.Fprintln(o.env.ErrOut, safe(text))
}
