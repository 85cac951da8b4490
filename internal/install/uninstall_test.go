package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// shopInstalled is a cluster with the shop on it.
func shopInstalled(t *testing.T) (State, PlanOptions) {
	t.Helper()
	p := NewPlan(Install, shopSystem, shopParts(t), emptyState(), planOptions)
	s := doPlan(t, emptyState(), p)
	o := planOptions
	o.Before = statesOf(s, p)
	return s, o
}

func TestUninstallSystem(t *testing.T) {
	s, o := shopInstalled(t)
	p := NewPlan(Uninstall, shopSystem, shopParts(t), s, o)
	wantSteps(t, p, "remove/shop/web", "remove/shop/db", "remove/pg-system/pg", "remove/cert-system/cert")
	wantNote(t, p, "1 CRDs of pg stay")
	if data := p.Steps[1].Irreversible; !strings.Contains(data, "Cluster.pg.example.com/shop/db") {
		t.Errorf("irreversible: %q", data)
	}
	s = doPlan(t, s, p)
	wantSteps(t, NewPlan(Uninstall, shopSystem, shopParts(t), s, o))

	s, o = shopInstalled(t)
	o.DeleteDefinitions = true
	wantSteps(t, NewPlan(Uninstall, shopSystem, shopParts(t), s, o),
		"remove/shop/web", "remove/shop/db", "remove/pg-system/pg", "delete-definitions/pg", "remove/cert-system/cert", "delete-definitions/cert")
}

func TestUninstallWithData(t *testing.T) {
	in := Installation{Name: "pg", Namespace: "pg-system"}
	parts := func() []*Part { return []*Part{operatorPart(t, "pg", "Cluster", "pg.example.com")} }
	s := doPlan(t, emptyState(), NewPlan(Install, in, parts(), emptyState(), planOptions))
	mine := planCustom(t, "Cluster", "pg.example.com", "a", "one")
	mine.SetFinalizers([]string{"pg.example.com/x"})
	mine.SetUID("1")
	s.with(mine)
	owned := planObject(t, "{apiVersion: pg.example.com/v1, kind: Cluster, metadata: {name: two, namespace: a, ownerReferences: [{apiVersion: pg.example.com/v1, kind: Cluster, name: one, uid: '1', controller: true}]}}")
	s.with(owned)

	p := NewPlan(Uninstall, in, parts(), s, planOptions)
	wantRefusal(t, p, "dependants", "custom resources of pg", "Cluster.pg.example.com/a/one", "--orphan")

	o := planOptions
	o.Orphan = true
	p = NewPlan(Uninstall, in, parts(), s, o)
	wantSteps(t, p, "remove/pg-system/pg")
	wantNote(t, p, "2 custom resources of pg stay")
	wantNote(t, p, "1 of them have finalizers that nothing removes once pg is gone")

	o = planOptions
	o.DeleteDefinitions = true
	p = NewPlan(Uninstall, in, parts(), s, o)
	wantRefusal(t, p, "data", "2 custom resources of pg", "Cluster.pg.example.com/a/one", "--delete-data")

	o.DeleteData = true
	p = NewPlan(Uninstall, in, parts(), s, o)
	wantSteps(t, p, "objects/pg", "remove/pg-system/pg", "delete-definitions/pg")
	if want := []object.Ref{object.RefOf(mine)}; !slices.Equal(p.Steps[0].Objects, want) {
		t.Errorf("deletes %v, want %v: what they own goes with them", p.Steps[0].Objects, want)
	}
	if p.Steps[0].Irreversible == "" || p.Steps[2].Irreversible == "" {
		t.Error("it is not said what cannot be undone")
	}

	theirs := planCustom(t, "Cluster", "pg.example.com", "b", "theirs")
	theirs.SetAnnotations(map[string]string{graph.HelmName: "app", graph.HelmNamespace: "b"})
	s.with(theirs)
	wantRefusal(t, NewPlan(Uninstall, in, parts(), s, o), "dependants", "Cluster.pg.example.com/b/theirs needs pg, and is managed by the Helm release app in b")
}

func TestUninstallWhatIsNotOurs(t *testing.T) {
	in := Installation{Name: "pg", Namespace: "pg-system"}
	parts := []*Part{operatorPart(t, "pg", "Cluster", "pg.example.com")}
	s := doPlan(t, emptyState(), NewPlan(Install, in, parts, emptyState(), planOptions))
	s.Releases[0].Labels = nil
	wantRefusal(t, NewPlan(Uninstall, in, parts, s, planOptions), "release", "kubectl sysop did not install it")

	s = doPlan(t, emptyState(), NewPlan(Install, in, parts, emptyState(), planOptions))
	o := planOptions
	o.DeleteDefinitions = true
	delete(s.Custom, "clusters.pg.example.com")
	wantRefusal(t, NewPlan(Uninstall, in, parts, s, o), "data", "cannot tell whether clusters.pg.example.com has custom resources")

	// Definitions among the objects of a release would take all data along.
	s.Custom["clusters.pg.example.com"] = CustomResources{}
	record := *s.Releases[0].Records[1]
	record.Objects = append(slices.Clone(record.Objects), planDefinition(t, "Cluster", "pg.example.com"))
	s.Releases[0].Records[1] = &record
	wantRefusal(t, NewPlan(Uninstall, in, parts, s, planOptions), "data", "Helm would delete it with all that is in it")
}

func TestRollback(t *testing.T) {
	s, o := shopInstalled(t)
	first := o.Before
	parts := shopParts(t)
	parts[0].Values = map[string]any{"size": int64(2)}
	extra := planPart("cache", "shop", "0.1.0", chart.Rendered{})
	extra.App = true
	parts = append(parts, extra)

	extra.Rendered.Objects = append(extra.Rendered.Objects, planDeployment(t, "shop", "cache", "cache:1"))
	up := NewPlan(Upgrade, shopSystem, parts, s, o)
	s = doPlan(t, s, up)
	o.Before = statesOf(s, up)

	o.To = first
	back := NewPlan(Rollback, shopSystem, nil, s, o)
	wantSteps(t, back, "release/shop/web", "await/web", "remove/shop/cache")
	if step := back.Steps[0]; step.Kind != RollbackRelease || step.Was != 2 || step.To != 1 {
		t.Errorf("%+v", step)
	}
	s = doPlan(t, s, back)
	wantSteps(t, NewPlan(Rollback, shopSystem, nil, s, o))

	o.To = []ReleaseState{{Part: "web", App: true, Release: "web", Namespace: "shop", Version: "0.0.9", Revision: 9}}
	wantRefusal(t, NewPlan(Rollback, shopSystem, nil, s, o), "release", "revision 9 of release web in shop is no longer stored")
	o.To = []ReleaseState{{Part: "gone", Release: "gone", Namespace: "shop", Version: "1.0.0", Revision: 1}}
	wantRefusal(t, NewPlan(Rollback, shopSystem, nil, s, o), "release", "gone in shop no longer exists")
	o.To = nil
	wantRefusal(t, NewPlan(Rollback, shopSystem, nil, s, o), "release", "nothing to roll back to")
}
