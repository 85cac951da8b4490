package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// HeldNotes describes which apps are held while others change. Nothing is written.
func (o holder) HeldNotes(ctx context.Context, sys *system.System, apps []string) (notes []string) {
	_, b, err := o.regulating(ctx, sys)
	if err == nil {
		err = b.Observe(ctx)
	}
	if err != nil {
		return []string{fmt.Sprintf("which apps are held meanwhile is unknown: %v", err)}
	}
	for _, app := range apps {
		for _, signal := range upgradeSignals(sys, app) {
			hold, err := regulate.HoldForRun(b.State, sys, b.Journal, app, signal, "", "", "", o.env.Now())
			if err != nil {
				notes = append(notes, fmt.Sprintf("which apps are held while %s is changed is unknown: %v", app, err))
				continue
			}
			notes = append(notes, heldNotes(app, signal, hold)...)
		}
	}
	return notes
}

// heldNotes say who is held while an app is changed, and who cannot be.
func heldNotes(app, signal string, hold *regulate.Plan) (out []string) {
	var held []string
	for _, s := range hold.Steps {
		if s.Signal == signal && (s.Verb == regulate.Send || s.Verb == regulate.AddCause) {
			held = append(held, s.App)
		}
	}
	slices.Sort(held)
	if len(held) > 0 {
		out = append(out, fmt.Sprintf("held (%s) while %s is changed: %s", signal, app, strings.Join(slices.Compact(held), ", ")))
	}
	for _, r := range hold.Refused {
		out = append(out, fmt.Sprintf("%s cannot be held while %s is changed: %s", r.App, app, r.Message))
	}
	return out
}
