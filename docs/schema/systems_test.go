package schema_test

import (
	"testing"
	"time"

	documents "github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// What is written about Systems in a cluster is as its schema says.
func TestSystemsOfAClusterAreAsTheSchemasSay(t *testing.T) {
	two, parent := 2, system.ParentRef("shop", "shop")
	change := view.SystemChange{System: "shop", Namespace: "shop", Action: "adopt", Set: system.SetID(parent), DryRun: "none"}
	for _, c := range []system.MemberAction{system.Create, system.Update, system.Delete, system.AddLabel, system.RemoveLabel, system.Nothing, system.NotAMember} {
		change.Steps = append(change.Steps, view.SystemStep{Object: parent, Change: string(c)}, view.SystemStep{Object: parent, Change: string(c), Why: "so"})
	}
	rows := []documents.AdoptedSystem{
		{Name: "shop", Namespace: "shop", Apps: &two, Rules: &two, Members: []object.Ref{parent}, Created: time.Unix(1, 0)},
		{Name: "broken", Namespace: "shop", Wrong: "no manifest"},
	}
	for name, a := range map[string]view.Output{"system-change": view.SystemChanges(change), "systems": view.Systems(rows, time.Unix(9, 0))} {
		text := document(t, a)
		if err := compile(t, name).Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
