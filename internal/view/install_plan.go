package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// InstallPlan is what a run is to do.
type InstallPlan struct {
	*install.Plan
	// DryRun is none, client or server.
	DryRun string
	// Fetched says where the parts came from, by name of the part: an address, and by what
	// it was verified.
	Fetched map[string]string
}

// InstallPlanDocument is what a run is to do (docs/schema/install-plan.json).
type InstallPlanDocument struct {
	Head         `json:",inline"`
	Installation string                `json:"installation"`
	Namespace    string                `json:"namespace"`
	System       bool                  `json:"system,omitempty"`
	Action       string                `json:"action"`
	DryRun       string                `json:"dryRun"`
	Parts        []InstallPartDocument `json:"parts"`
	Steps        []install.Step        `json:"steps"`
	// Changes are the objects that it makes, changes or deletes, Counts these by kind.
	Changes []install.ObjectChange `json:"changes"`
	Counts  []InstallCountDocument `json:"counts"`
	// Grants are all rules of RBAC that it grants, those that are new in front.
	Grants []permission.Grant `json:"grants"`
	// To is the revision of the history that a rollback goes back to.
	To          int               `json:"to,omitempty"`
	Unchanged   []string          `json:"unchanged,omitempty"`
	Refusals    []install.Refusal `json:"refusals,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
	Fingerprint string            `json:"fingerprint"`
}

// InstallPartDocument is what is installed together, as one release: install.Part has the chart,
// the document what it renders.
type InstallPartDocument struct {
	Name      string       `json:"name"`
	App       bool         `json:"app,omitempty"`
	Version   string       `json:"version,omitempty"`
	Release   string       `json:"release"`
	Namespace string       `json:"namespace"`
	Source    string       `json:"source,omitempty"`
	Needs     []string     `json:"needs,omitempty"`
	Reasons   []string     `json:"reasons,omitempty"`
	Objects   []object.Ref `json:"objects"`
	Images    []string     `json:"images,omitempty"`
}

// InstallCountDocument is how many objects of a kind are added, changed or removed.
type InstallCountDocument struct {
	Kind    string `json:"kind"`
	Added   int    `json:"added,omitempty"`
	Changed int    `json:"changed,omitempty"`
	Removed int    `json:"removed,omitempty"`
}

// InstallPlanned returns the answer of what a run is to do. Names are what it makes,
// changes or deletes.
func InstallPlanned(p InstallPlan) Output {
	a := Output{Document: installPlanDocument(p)}
	t := &Table{Columns: []Column{{Name: "STEP"}, {Name: "WHAT", Truncate: Middle, MinWidth: LeastName}, {Name: "VERSION"}, {Name: "WHY", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}}}
	seen := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		version := cmp.Or(s.Version, s.From)
		if s.From != "" && s.Version != "" && s.From != s.Version {
			version = s.From + " → " + s.Version
		}
		tone := Plain
		if s.Kind == install.DeleteObjects || s.Kind == install.DeleteDefinitions || s.Kind == install.RemoveRelease {
			tone = Bad
		}
		reason := ""
		if part := partOf(p.Plan, s.Part); part != nil && !seen[part.Name] && s.Kind != install.MakeNamespace {
			reason, seen[part.Name] = strings.Join(part.Why, "; "), true
		}
		if s.Irreversible != "" {
			reason = s.Irreversible
		}
		t.Rows = append(t.Rows, []Cell{{StepWords(s.Kind), tone}, {stepWhat(s), Plain}, {version, Plain}, {reason, Faint}})
		if s.Kind != install.Await {
			a.Names = append(a.Names, s.ID)
		}
	}
	a.Table, a.Wide = t, t
	return a
}

// NothingToDo says that a plan has no steps.
func NothingToDo(p *install.Plan) string {
	switch p.Action {
	case install.Rollback:
		return p.Installation.Name + " is already in that state: nothing to do"
	case install.Uninstall:
		return p.Installation.Name + ": nothing is left to remove"
	}
	return p.Installation.Name + " is up to date: nothing to do"
}

// DryRunAccepted is the result of a dry run on the API server that nothing refuses.
func DryRunAccepted(p *install.Plan) string {
	if len(p.Steps) == 0 {
		return NothingToDo(p)
	}
	return "the API server accepts all of it: nothing was stored"
}

// changeWords are what becomes of objects, for people.
var changeWords = map[string]string{diff.Added: "new", diff.Changed: "changed", diff.Removed: "deleted"}

// LossLines name what is deleted with its data, and for a dry run the installation that confirms it.
func LossLines(losses []object.Ref, confirm string) []string {
	var out []string
	for _, ref := range losses {
		out = append(out, "deleted with its data: "+ref.String())
	}
	if len(losses) > 0 && confirm != "" {
		out = append(out, "note: confirm it with --delete-data="+confirm)
	}
	return out
}

// ChangeLines say which objects a plan makes, changes and deletes, by kind; of many of a kind
// the first few: the document has them all.
func ChangeLines(p *install.Plan) []string {
	const most = 5
	var out []string
	for _, change := range []string{diff.Added, diff.Changed, diff.Removed} {
		names := map[string][]string{}
		for _, c := range p.Changes {
			if c.Change == change {
				kind := strings.TrimSuffix(c.Object.Kind+"."+c.Object.Group, ".")
				name := strings.TrimPrefix(c.Object.Namespace+"/"+c.Object.Name, "/")
				if c.Hook {
					name += " (hook)"
				}
				names[kind] = append(names[kind], name)
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(names)) {
			these := names[kind]
			text := strings.Join(these, ", ")
			if len(these) > most {
				text = fmt.Sprintf("%s and %d more", strings.Join(these[:most], ", "), len(these)-most)
			}
			out = append(out, fmt.Sprintf("%s: %d %s: %s", changeWords[change], len(these), kind, text))
		}
	}
	return out
}

// GrantLines say every rule that a plan grants: those that an installation did not grant
// before apart, and those of a first one with the rest.
func GrantLines(p *install.Plan) (fresh, rest []string) {
	for _, g := range p.Grants {
		if g.New && p.Action != install.Install {
			fresh = append(fresh, fmt.Sprintf("new permission: %s: %s", g.Part, g))
		} else {
			rest = append(rest, fmt.Sprintf("grants: %s: %s", g.Part, g))
		}
	}
	return fresh, rest
}

func partOf(p *install.Plan, name string) *install.Part {
	for _, part := range p.Parts {
		if part.Name == name {
			return part
		}
	}
	return nil
}

// StepWords says what a step does.
func StepWords(k install.StepKind) string {
	words := map[install.StepKind]string{
		install.ApplyDefinitions: "apply CRDs", install.InstallRelease: "install release", install.UpgradeRelease: "upgrade release",
		install.RollbackRelease: "roll back release", install.RemoveRelease: "remove release", install.Await: "wait for health",
		install.DeleteObjects: "delete objects", install.DeleteDefinitions: "delete CRDs", install.MakeNamespace: "create namespace",
	}
	if w, ok := words[k]; ok {
		return w
	}
	return string(k)
}

func stepWhat(s *install.Step) string {
	switch s.Kind {
	case install.MakeNamespace:
		return s.Namespace
	case install.ApplyDefinitions, install.DeleteDefinitions, install.DeleteObjects:
		if len(s.Objects) == 1 {
			return s.Objects[0].String()
		}
		return fmt.Sprintf("%s: %d objects", s.Part, len(s.Objects))
	case install.Await:
		return s.Part
	case install.RollbackRelease:
		return fmt.Sprintf("%s/%s to revision %d", s.Namespace, s.Release, s.To)
	}
	return s.Namespace + "/" + s.Release
}

func installPlanDocument(p InstallPlan) InstallPlanDocument {
	doc := InstallPlanDocument{
		Head: HeadOf("InstallPlan"), Installation: p.Installation.Name, Namespace: p.Installation.Namespace, System: p.Installation.System,
		Action: string(p.Action), DryRun: p.DryRun,
		Steps: p.Steps, Changes: p.Changes, Counts: countChanges(p.Changes), Grants: p.Grants, To: p.To, Refusals: p.Refusals,
		Unchanged: p.Unchanged, Notes: p.Notes, Fingerprint: p.Fingerprint,
	}
	for _, part := range p.Parts {
		d := InstallPartDocument{
			Name: part.Name, App: part.App, Version: part.Version, Release: part.Release, Namespace: part.Namespace, Source: p.Fetched[part.Name],
			Needs: part.Needs, Reasons: part.Why,
		}
		if r := part.Rendered; r != nil {
			d.Images = r.Images
			for _, o := range r.Objects {
				gvk := o.GroupVersionKind()
				d.Objects = append(d.Objects, object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()})
			}
		}
		doc.Parts = append(doc.Parts, d)
	}
	return doc
}

// countChanges counts changes by kind.
func countChanges(all []install.ObjectChange) []InstallCountDocument {
	byKind := map[string]*InstallCountDocument{}
	for _, c := range all {
		kind := strings.TrimSuffix(c.Object.Kind+"."+c.Object.Group, ".")
		if byKind[kind] == nil {
			byKind[kind] = &InstallCountDocument{Kind: kind}
		}
		switch c.Change {
		case diff.Added:
			byKind[kind].Added++
		case diff.Changed:
			byKind[kind].Changed++
		case diff.Removed:
			byKind[kind].Removed++
		}
	}
	var counts []InstallCountDocument
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		counts = append(counts, *byKind[kind])
	}
	return counts
}
