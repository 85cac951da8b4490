package summary

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Progress is an event of a run; it is empty for what the next line says anyway.
func Progress(e journal.Event) string {
	started := e.Kind == journal.EventStarted || e.Kind == journal.EventUndoing
	switch {
	case e.Kind == journal.EventWaiting:
		return "  waiting " + e.Message
	case e.Kind == journal.EventNoted:
		return "note: " + e.Message
	case e.Signal != "" && started:
		return ""
	case e.Signal != "":
		return fmt.Sprintf("%s %s: %s", e.Signal, strings.TrimSuffix(e.App+" "+e.Object.String(), " "), e.Message)
	case e.Kind == journal.EventUndoing:
		return "undoing: " + e.Message
	case e.Step == "":
		return "" // the end of a run is its result
	case e.Kind == journal.EventStarted:
		return fmt.Sprintf("%s: %s", view.StepWords(install.StepKind(e.Action)), e.Step)
	case e.Kind == journal.EventUndone:
		return "  undone: " + e.Step
	case e.Kind == journal.EventNotUndone:
		return fmt.Sprintf("  left: %s: %s", e.Step, e.Message)
	}
	return ""
}

// PastRun describes a run of the history.
func PastRun(p install.RunRecord) string {
	var releases []string
	for _, r := range p.Releases {
		releases = append(releases, strings.TrimSpace(r.Part+" "+r.Version))
	}
	return fmt.Sprintf("the %s by %s at %s (%s)", p.Action, p.By, p.Started.UTC().Format(time.RFC3339), strings.Join(releases, ", "))
}

// Recovery lists what ending the open run writes and deletes.
func Recovery(r *installer.Recovery) (lines []string) {
	run := r.Plan.Run
	outcome := map[install.Recovery]string{
		install.RecoveredResumed: "the steps that only started are undone or finished, then it continues", install.RecoveredDone: "all steps were done: it is closed",
		install.RecoveredUndone: "it is undone",
	}[r.Plan.What]
	if r.Changed {
		outcome = "it had other arguments or charts, so it is undone first"
	}
	if outcome == "" {
		return nil
	}
	article := "an"
	if run.Action == install.Rollback {
		article = "a"
	}
	lines = append(lines, fmt.Sprintf("%s %s of %s by %s did not finish: %s", article, run.Action, r.Installation.Name, run.By, outcome))
	for _, a := range r.Plan.Acts {
		lines = append(lines, "  "+recoveryAct(a))
		for _, ref := range a.Objects {
			if ref.Namespace != a.Release.Namespace {
				lines = append(lines, "    with "+ref.String())
			}
		}
	}
	return lines
}

func recoveryAct(a install.RecoveryAct) string {
	text := string(a.Verb) + " "
	if a.Release != (helm.ReleaseName{}) {
		text += fmt.Sprintf("release %s", a.Release)
		if a.Verb == install.RecoverRollback {
			text += fmt.Sprintf(" to revision %d", a.Revision)
		}
		if len(a.Objects) > 0 {
			text += " (" + object.Count(len(a.Objects), "object") + ")"
		}
	} else {
		text += a.Object.String()
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return text
}
