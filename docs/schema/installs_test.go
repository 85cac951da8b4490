package schema_test

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// samples are documents of installs in which every field is set that can be, with each word
// that a field may have.
func samples() map[string][]view.Output {
	of := install.Installation{Name: "shop", Namespace: "shop", System: true}
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	release := install.ReleaseState{Part: "web", App: true, Release: "shop-web", Namespace: "shop", Version: "1.0.0", Revision: 2}
	planned := &install.Plan{Installation: of, Unchanged: []string{"db"}, Notes: []string{"a note"}, Fingerprint: "f"}
	planned.Parts = []*install.Part{{Name: "web", App: true, Version: "1.0.0", Release: "shop-web", Namespace: "shop", Needs: []string{"db"}, Why: []string{"system shop"}}}
	planned.To = 3
	for _, what := range []string{diff.Added, diff.Changed, diff.Removed} {
		planned.Changes = append(planned.Changes, install.ObjectChange{Part: "web", Object: ref, Change: what, Hook: what == diff.Added})
	}
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop", Name: "web"}
	rule := permission.Rule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"one"}, NonResourceURLs: []string{"/healthz"}}
	planned.Grants = []permission.Grant{
		{Part: "web", Role: role, Binding: object.Ref{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Namespace: "shop", Name: "web"}, Namespace: "shop", Subjects: []string{"User ada"}, Rule: rule, Known: true, New: true},
		{Part: "web", Role: role, Known: true, Aggregated: true},
	}
	report := install.Report{Run: "r", Why: "so", Releases: []install.ReleaseState{release}}
	for _, k := range []install.StepKind{
		install.MakeNamespace, install.ApplyDefinitions, install.InstallRelease, install.UpgradeRelease, install.RollbackRelease,
		install.RemoveRelease, install.Await, install.DeleteObjects, install.DeleteDefinitions,
	} {
		planned.Steps = append(planned.Steps, install.Step{
			ID: "step/" + string(k), Kind: k, Part: "web", Release: "shop-web", Namespace: "shop", From: "1.0.0", Version: "1.1.0", Objects: []object.Ref{ref}, Irreversible: "so",
		})
		for _, phase := range []install.Phase{install.Started, install.Done, install.Undone, install.NotUndone} {
			report.Steps = append(report.Steps, install.StepState{ID: "step/" + string(k), Kind: k, Part: "web", Phase: phase, Note: "so"})
		}
	}
	for _, topic := range []string{"ownership", "definitions", "rights", "kubernetes", "namespace", "dependants", "data", "release", "connection", "images", "start"} {
		planned.Refusals = append(planned.Refusals, install.Refusal{Topic: topic, Part: "web", Object: ref, Message: "no", Hint: "yes"}, install.Refusal{Topic: topic, Message: "no"})
	}
	journal := &install.Journal{Installation: of, Run: &install.Run{ID: "o", Action: install.Upgrade, By: "ada", Started: time.Unix(9, 0)}}
	out := map[string][]view.Output{}
	for _, action := range []install.Action{install.Install, install.Upgrade, install.Rollback, install.Uninstall} {
		planned := *planned
		planned.Action, report.Action = action, action
		for _, dry := range []string{"none", "client", "server"} {
			out["install-plan"] = append(out["install-plan"], view.InstallPlanned(view.InstallPlan{Plan: &planned, DryRun: dry, Fetched: map[string]string{"web": "a chart"}}))
		}
		for _, result := range []string{"", install.ResultDone, install.ResultUndone, install.ResultPartlyUndone, install.ResultUnfinished} {
			report.Result = result
			out["install-done"] = append(out["install-done"], view.InstallDone(of, report))
		}
		for _, result := range []string{install.ResultDone, install.ResultUndone, install.ResultPartlyUndone} {
			journal.Runs = append(journal.Runs, install.RunRecord{
				Revision: len(journal.Runs) + 1, ID: "r", Action: action, By: "ada", Started: time.Unix(1, 0), Ended: time.Unix(2, 0), Result: result, Why: "so", Left: []string{"web: so"}, Lost: []string{"so"}, Stayed: []string{"so"}, To: 1, Releases: []install.ReleaseState{release},
			})
		}
	}
	undoing := *journal
	undoing.Run = &install.Run{ID: "o", Action: install.Upgrade, Undoing: true, Why: "so", By: "ada", Started: time.Unix(9, 0)}
	out["install-history"] = []view.Output{view.InstallHistory(journal, install.Running, time.Unix(99, 0)), view.InstallHistory(&undoing, install.Interrupted, time.Unix(99, 0)), view.InstallHistory(&install.Journal{Installation: of}, "", time.Unix(99, 0))}
	out["install-diff"] = []view.Output{
		view.InstallDiff(of, nil),
		view.InstallDiff(of, []diff.Difference{
			{Object: ref, What: diff.Added},
			{Object: ref, What: diff.Removed},
			{Object: ref, What: diff.Changed, Fields: []diff.Field{{Path: "spec.replicas", Was: "1", Is: "2"}, {Path: "spec.paused", Is: "true"}}},
		}),
	}
	return out
}

// What is written about installs is as its schema says.
func TestInstallsAreAsTheSchemasSay(t *testing.T) {
	for name, answers := range samples() {
		schema := compile(t, name)
		for _, a := range answers {
			text := document(t, a)
			if err := schema.Validate(instance(t, text)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			for what, spoil := range map[string]func(map[string]any){
				"another kind": func(d map[string]any) { d["kind"] = "Path" }, "an unknown field": func(d map[string]any) { d["more"] = true },
				"no namespace": func(d map[string]any) { delete(d, "namespace") },
			} {
				doc := instance(t, text).(map[string]any)
				spoil(doc)
				if schema.Validate(doc) == nil {
					t.Errorf("%s: %s is not refused", name, what)
				}
			}
		}
	}
}
