package summary

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Apps counts the apps of a System, and names the roots that do not exist or are unknown.
func Apps(w *regulate.SystemState) (lines []string) {
	trouble := 0
	for i := range w.Apps {
		a := &w.Apps[i]
		if a.Health.Worse(health.Suspended) {
			trouble++
		}
		for _, root := range a.Absent {
			lines = append(lines, fmt.Sprintf("warning: app %s: does not exist: %s", a.Name, root))
		}
		for _, root := range a.Unread {
			lines = append(lines, fmt.Sprintf("warning: app %s: unknown: %s", a.Name, root))
		}
	}
	return append(lines, fmt.Sprintf("%s, %d of them not Healthy", object.Count(len(w.Apps), "app"), trouble))
}

// Unwritten says of steps for which no object had to be written that they were done.
func Unwritten(d *regulator.Result) (lines []string) {
	if len(d.Outcome.Done)+len(d.Outcome.Failed) > 0 {
		return nil
	}
	for i := range d.Plan.Steps {
		result := "is held" // and was so before
		switch d.Plan.Steps[i].Verb {
		case regulate.AddCause:
			result = "is already held, and now also for this"
		case regulate.RemoveCause:
			result = "is still held for another cause"
		case regulate.RecoverApp:
			result = "recovered: nothing had been changed"
		}
		lines = append(lines, d.Plan.Steps[i].App+" "+result)
	}
	return lines
}

// Left says why neighbours are left held after a run, and what helps.
func Left(r *regulator.HeldRun) (lines []string) {
	if r.Left == "" {
		return nil
	}
	lines = append(lines, "STILL HELD: "+r.Left)
	for _, command := range r.Help {
		lines = append(lines, "hint: a StatefulSet waits for a pod of another revision (OrderedReady): "+command)
	}
	return append(lines, "hint: kubectl sysop regulate status shows them; kubectl sysop regulate recover APP recovers one")
}

// Watched says what is watched.
func Watched(s *system.System, namespace string) string {
	rules := "no rules: it holds no app"
	if n := len(s.Regulation.Rules); n > 0 {
		rules = object.Count(n, "rule")
	}
	return fmt.Sprintf("watching the System %s%s: %s (%s), %s; Ctrl-C ends it", s.Name, in(namespace), object.Count(len(s.Apps), "app"), strings.Join(s.AppNames(), ", "), rules)
}

// Standby says that another watch acts, and this one waits.
func Standby(holder string, since time.Time) string {
	at := ""
	if !since.IsZero() {
		at = " since " + since.Local().Format(time.TimeOnly)
	}
	return fmt.Sprintf("standing by: %s watches%s, and this one takes over when that ends", holder, at)
}

// Drift says that the manager of an app reverts what a run writes, and what helps.
func Drift(d *regulate.Drift, systemName string) []string {
	lines := []string{fmt.Sprintf("warning: %s of app %s: %s", d.Target, d.App, d.Text())}
	for _, c := range d.Choices(systemName) {
		lines = append(lines, fmt.Sprintf("  %s: %s", c.What, c.Command))
	}
	return lines
}
