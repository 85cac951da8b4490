package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
)

// InstallDoneDocument is what became of a run (docs/schema/install-done.json).
type InstallDoneDocument struct {
	Head         `json:",inline"`
	Installation string                   `json:"installation"`
	Namespace    string                   `json:"namespace"`
	Action       string                   `json:"action"`
	Run          string                   `json:"run,omitempty"`
	Result       string                   `json:"result"`
	Reason       string                   `json:"reason,omitempty"`
	Steps        []InstallResultDocument  `json:"steps"`
	Releases     []InstallReleaseDocument `json:"releases,omitempty"`
	// Restored is how the releases are that were brought back, where the run was undone.
	Restored *InstallRestoredDocument `json:"restored,omitempty"`
}

// InstallRestoredDocument is how releases are that undoing a run brought back.
type InstallRestoredDocument struct {
	Releases        []string `json:"releases"`
	restored.Report `json:",inline"`
}

func installRestoredDocument(r *install.Restored) *InstallRestoredDocument {
	if r == nil {
		return nil
	}
	d := &InstallRestoredDocument{Report: r.Report}
	for _, n := range r.Releases {
		d.Releases = append(d.Releases, n.String())
	}
	return d
}

// InstallResultDocument is what became of a step: install.StepState is what undo needs of it.
type InstallResultDocument struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Part  string `json:"part,omitempty"`
	Phase string `json:"phase"`
	Note  string `json:"note,omitempty"`
}

// InstallReleaseDocument is a release as a run left it; a journal also stores an empty version.
type InstallReleaseDocument struct {
	Part      string `json:"part"`
	App       bool   `json:"app,omitempty"`
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	Version   string `json:"version,omitempty"`
	Revision  int    `json:"revision"`
}

// InstallNothing is the result of a run for which nothing was to be done.
const InstallNothing = "nothing"

// InstallDone returns the answer of what became of a run. Names are the releases as it left
// them.
func InstallDone(i install.Installation, r install.Report) Output {
	doc := InstallDoneDocument{
		Head: HeadOf("InstallDone"), Installation: i.Name, Namespace: i.Namespace, Action: string(r.Action), Run: r.Run,
		Result: cmp.Or(r.Result, InstallNothing), Reason: r.Why, Releases: releaseDocuments(r.Releases), Restored: installRestoredDocument(r.Restored),
	}
	for _, s := range r.Steps {
		doc.Steps = append(doc.Steps, InstallResultDocument{ID: s.ID, Kind: string(s.Kind), Part: s.Part, Phase: string(s.Phase), Note: s.Note})
	}
	tones := map[string]Tone{string(install.Done): Good, string(install.NotUndone): Bad, string(install.Started): Warn, string(install.Undone): Faint}
	t := ColumnsOf[InstallResultDocument]{
		{Column: Column{Name: "STEP"}, Value: AsText(func(s InstallResultDocument) string { return s.ID })},
		{Column: Column{Name: "RESULT"}, Value: func(s InstallResultDocument) Cell { return Cell{s.Phase, tones[s.Phase]} }},
		{Column: Column{Name: "NOTE", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, Value: AsFaint(func(s InstallResultDocument) string { return s.Note })},
	}.Table(doc.Steps)
	a := Output{Table: t, Wide: t, Document: doc}
	for _, rel := range r.Releases {
		a.Names = append(a.Names, "helm/"+rel.Release)
	}
	return a
}

func releaseDocuments(all []install.ReleaseState) []InstallReleaseDocument {
	var out []InstallReleaseDocument
	for _, r := range all {
		out = append(out, InstallReleaseDocument{Part: r.Part, App: r.App, Release: r.Release, Namespace: r.Namespace, Version: r.Version, Revision: r.Revision})
	}
	return out
}

// InstallHistoryDocument is what was done to an installation (docs/schema/install-history.json).
type InstallHistoryDocument struct {
	Head         `json:",inline"`
	Installation string               `json:"installation"`
	Namespace    string               `json:"namespace"`
	Current      *InstallRunDocument  `json:"current,omitempty"`
	Runs         []InstallRunDocument `json:"runs"`
}

// InstallRunDocument is a run. A journal stores it with other names.
type InstallRunDocument struct {
	Revision  int        `json:"revision,omitempty"`
	Run       string     `json:"run"`
	Action    string     `json:"action"`
	StartedBy string     `json:"startedBy"`
	Started   time.Time  `json:"started"`
	Ended     *time.Time `json:"ended,omitempty"`
	Result    string     `json:"result"`
	Reason    string     `json:"reason,omitempty"`
	// NotUndone says what could not be undone, and why.
	NotUndone []string `json:"notUndone,omitempty"`
	// LostData says what data went with it, RemainingClaims which claims a run that was undone
	// left.
	LostData        []string `json:"lostData,omitempty"`
	RemainingClaims []string `json:"remainingClaims,omitempty"`
	// To is the revision that a rollback went back to.
	To int `json:"to,omitempty"`
	// Process says of a run that is not ended whether it is running or interrupted.
	Process  string                   `json:"process,omitempty"`
	Releases []InstallReleaseDocument `json:"releases,omitempty"`
}

// InstallHistory returns the answer of history. Names are the revisions.
func InstallHistory(j *install.Journal, process install.Liveness, now time.Time) Output {
	doc := InstallHistoryDocument{Head: HeadOf("InstallHistory"), Installation: j.Installation.Name, Namespace: j.Installation.Namespace}
	var a Output
	for _, p := range j.Runs {
		ended := p.Ended
		d := InstallRunDocument{Revision: p.Revision, Run: p.ID, Action: string(p.Action), StartedBy: p.By, Started: p.Started, Ended: &ended, Result: p.Result, Reason: p.Why, NotUndone: p.Left, LostData: p.Lost, RemainingClaims: p.Stayed, To: p.To, Releases: releaseDocuments(p.Releases)}
		doc.Runs = append(doc.Runs, d)
		a.Names = append(a.Names, fmt.Sprint(p.Revision))
	}
	if r := j.Run; r != nil {
		result := install.ResultUnfinished
		if r.Undoing {
			result = "undoing"
		}
		doc.Current = &InstallRunDocument{Run: r.ID, Action: string(r.Action), StartedBy: r.By, Started: r.Started, Result: result, Reason: r.Why, To: r.To, Process: string(process)}
	}
	rows := doc.Runs
	if doc.Current != nil {
		rows = append(slices.Clip(rows), *doc.Current)
	}
	a.Table = runColumns(now).Table(rows)
	a.Wide, a.Document = a.Table, doc
	return a
}

func runColumns(now time.Time) ColumnsOf[InstallRunDocument] {
	tones := map[string]Tone{install.ResultDone: Good, install.ResultUndone: Faint, install.ResultPartlyUndone: Bad}
	return ColumnsOf[InstallRunDocument]{
		{Column: Column{Name: "REVISION"}, Value: AsText(func(d InstallRunDocument) string {
			if d.Ended == nil {
				return "-"
			}
			return fmt.Sprint(d.Revision)
		})},
		{Column: Column{Name: "ACTION"}, Value: AsText(func(d InstallRunDocument) string { return d.Action })},
		{Column: Column{Name: "RESULT"}, Value: func(d InstallRunDocument) Cell { return Cell{resultWords(d), tones[d.Result]} }},
		{Column: Column{Name: "RELEASES", Truncate: End, MinWidth: LeastName}, Value: AsText(func(d InstallRunDocument) string {
			var releases []string
			for _, r := range d.Releases {
				releases = append(releases, strings.TrimSpace(r.Part+" "+r.Version))
			}
			return strings.Join(releases, ", ")
		})},
		{Column: Column{Name: "BY", DropOrder: 2, Truncate: Middle, MinWidth: 8}, Value: AsFaint(func(d InstallRunDocument) string { return d.StartedBy })},
		{Column: Column{Name: "AGE"}, Value: AsText(func(d InstallRunDocument) string { return Age(now, d.Started) })},
	}
}

// resultWords are the result of a run for people: what stayed of one that was undone, what
// data is lost, and whether one that is not ended is running.
func resultWords(d InstallRunDocument) string {
	switch {
	case d.Process != "" && d.Process != string(install.LivenessUnknown) && d.Result == install.ResultUnfinished:
		return d.Process
	case d.Process != "" && d.Process != string(install.LivenessUnknown):
		return d.Result + ", " + d.Process
	case len(d.RemainingClaims) > 0:
		return d.Result + "; stayed: " + strings.Join(d.RemainingClaims, ", ")
	case len(d.LostData) > 0:
		return d.Result + "; " + strings.Join(d.LostData, "; ")
	}
	return d.Result
}
