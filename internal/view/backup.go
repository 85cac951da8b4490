package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// backupRow is a part of a backup, or of a restore.
type backupRow struct {
	object, result                   object.Ref
	method, way, size, status, cause string
	price                            string
	tone                             Tone
}

// Backup returns the answer of backup plan and backup show.
func Backup(p *backup.Plan) Output {
	done := false
	var rows []backupRow
	for i := range p.Parts {
		part := &p.Parts[i]
		done = done || part.Status != ""
		row := backupRow{object: part.Object, result: part.Backup, method: string(part.Method), way: part.Provider, size: part.Size, price: part.Price, status: string(part.Status), cause: part.Reason}
		if part.Status != "" {
			row.cause = firstText(part.Message, part.Handle)
			row.tone = statusTone(part.Status)
		}
		rows = append(rows, row)
	}
	for _, u := range p.Unsaved {
		rows = append(rows, backupRow{object: u.Object, method: "none", cause: u.Reason, tone: Bad})
	}
	c := ColumnsOf[backupRow]{
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r backupRow) string { return r.object.String() })},
		{Column: Column{Name: "METHOD"}, Value: func(r backupRow) Cell { return Cell{r.method, onlyBad(r.tone)} }},
		{Column: Column{Name: "BY", DropOrder: 2, Truncate: End, MinWidth: 10}, Value: AsText(func(r backupRow) string { return r.way })},
		{Column: Column{Name: "SIZE", DropOrder: 3, Right: true}, Value: AsText(func(r backupRow) string { return r.size })},
		{Column: Column{Name: p.Currency + "/MONTH", DropOrder: 4, Right: true}, Value: AsText(func(r backupRow) string { return r.price })},
		{Column: Column{Name: "STATUS"}, Value: func(r backupRow) Cell { return Cell{r.status, r.tone} }},
		{Column: Column{Name: "REASON", DropOrder: 1, Truncate: End, MinWidth: 20}, Value: AsFaint(func(r backupRow) string { return r.cause })},
	}
	if done {
		c[len(c)-1].Name = "HANDLE"
	}
	a := Output{Table: c.omit(!done, "STATUS").omit(p.Price == "", p.Currency+"/MONTH").Table(rows), Document: p}
	a.Wide = a.Table
	for _, r := range rows {
		a.Names = append(a.Names, r.object.String())
	}
	return a
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func onlyBad(t Tone) Tone {
	if t == Bad {
		return Bad
	}
	return Plain
}

func statusTone(s health.Status) Tone {
	switch s {
	case health.Healthy:
		return Good
	case health.Progressing, health.Suspended, health.Unknown:
		return Warn
	}
	return Bad
}

// BackupsDocument is the backups of a namespace (docs/schema/backups.json).
type BackupsDocument struct {
	Head    `json:",inline"`
	Backups []*backup.Plan `json:"backups"`
	// Schedules are the CronJobs that back up.
	Schedules []backup.Schedule `json:"schedules,omitempty"`
}

// Backups returns the answer of backup list; now is the time from which ages are counted.
func Backups(all []*backup.Plan, now time.Time, schedules ...backup.Schedule) Output {
	c := ColumnsOf[*backup.Plan]{
		{Column: Column{Name: "NAMESPACE", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(p *backup.Plan) string { return p.Namespace })},
		{Column: Column{Name: "NAME", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(p *backup.Plan) string { return p.Name })},
		{Column: Column{Name: "OF", DropOrder: 2}, Value: AsText(func(p *backup.Plan) string { return p.Source })},
		{Column: Column{Name: "SAVED", Right: true}, Value: func(p *backup.Plan) Cell {
			tone := Good
			if !p.Complete() {
				tone = Bad
			}
			return Cell{fmt.Sprintf("%d of %d", p.Ready(), len(p.Parts)), tone}
		}},
		{Column: Column{Name: "UNSAVED", Right: true, DropOrder: 3}, Value: AsText(func(p *backup.Plan) string { return fmt.Sprint(len(p.Unsaved)) })},
		{Column: Column{Name: "SIZE", Right: true, DropOrder: 4}, Value: AsText(func(p *backup.Plan) string { return p.Size })},
		{Column: Column{Name: "VERIFIED", DropOrder: 2}, Value: func(p *backup.Plan) Cell { return verifiedCell(p, now) }},
		{Column: Column{Name: "AGE", Right: true, DropOrder: 1}, Value: AsText(func(p *backup.Plan) string { return Age(now, p.Time) })},
	}
	doc := BackupsDocument{Head: HeadOf("Backups"), Backups: []*backup.Plan{}, Schedules: schedules}
	a := Output{Table: c.Table(all)}
	for _, p := range all {
		doc.Backups = append(doc.Backups, p)
		a.Names = append(a.Names, p.Name)
	}
	a.Document = doc
	return a
}

// verifiedCell is the result of the last rehearsal.
func verifiedCell(p *backup.Plan, now time.Time) Cell {
	switch v := p.Verified; {
	case v == nil:
		return Cell{"never", Warn}
	case !v.Passed:
		return Cell{"failed " + Age(now, v.Time) + " ago", Bad}
	default:
		return Cell{"in " + v.RecoveryTime + ", " + Age(now, v.Time) + " ago", Good}
	}
}

// VerifiedText says when a backup was rehearsed, and what was measured.
func VerifiedText(p *backup.Plan) string {
	switch v := p.Verified; {
	case v == nil:
		return p.Name + " was never rehearsed: kubectl sysop backup verify " + p.Name + " -n " + p.Namespace
	case !v.Passed:
		return fmt.Sprintf("the rehearsal of %s at %s failed: %s", p.Name, v.Time.Format(time.RFC3339), v.Message)
	default:
		check := "it has no check"
		if v.Check != "" {
			check = "its check (" + v.Check + ") passed"
		}
		return fmt.Sprintf("%s was restored in %s at %s, to the state of %s; %s", p.Name, v.RecoveryTime, v.Time.Format(time.RFC3339), v.RecoveryPoint.Format(time.RFC3339), check)
	}
}

// BackupSummary is a plan in one line.
func BackupSummary(p *backup.Plan) string {
	words := []string{object.Count(len(p.Parts), "part")}
	if p.Size != "" {
		words = append(words, p.Size)
	}
	if p.Price != "" {
		words = append(words, "its snapshots at most "+p.Price+" "+p.Currency+" a month")
	}
	if n := len(p.Unsaved); n > 0 {
		words = append(words, fmt.Sprintf("%d cannot be saved", n))
	}
	words = append(words, "the manifests of "+object.Count(p.Apps, "app"))
	return strings.Join(words, ", ")
}

// Restore returns the answer of restore plan.
func Restore(r *backup.Restore) Output {
	type row struct{ object, app, way, from, tone string }
	var rows []row
	for _, p := range r.Parts {
		rows = append(rows, row{p.Object.String(), p.App, p.Method, p.Source, ""})
	}
	for _, u := range r.Unrestored {
		rows = append(rows, row{u.Object.String(), "", "not restored", u.Reason, "bad"})
	}
	c := ColumnsOf[row]{
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r row) string { return r.object })},
		{Column: Column{Name: "APP", DropOrder: 2}, Value: AsText(func(r row) string { return r.app })},
		{Column: Column{Name: "BY"}, Value: func(r row) Cell {
			if r.tone != "" {
				return Cell{r.way, Bad}
			}
			return Cell{Text: r.way}
		}},
		{Column: Column{Name: "FROM", DropOrder: 1, Truncate: Middle, MinWidth: 20}, Value: AsFaint(func(r row) string { return r.from })},
	}
	a := Output{Table: c.Table(rows), Document: r}
	for _, r := range rows {
		a.Names = append(a.Names, r.object)
	}
	return a
}
