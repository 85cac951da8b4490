package regulate

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var rightKinds = object.NewKinds([]object.Resource{
	{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true, Listable: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Listable: true},
	{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Namespaced: true, Listable: true},
	{Group: "example.com", Version: "v1", Kind: "Zone", Plural: "zones", Listable: true},
	{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization", Plural: "kustomizations", Namespaced: true, Listable: true},
})

var (
	webRef  = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}
	dbRef   = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "data", Name: "db"}
	zoneRef = object.Ref{Group: "example.com", Kind: "Zone", Name: "eu"}
	fluxRef = object.Ref{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: "shop"}
)

// rightsSystem is a system whose apps do something of every sort.
func rightsSystem() (*system.System, *SystemState) {
	s := &system.System{Name: "shop", Namespace: "prod", Apps: []system.App{
		{Name: "web", GitOps: system.Suspend, On: map[string][]system.Action{
			"Stop": {
				{Scale: &system.Scale{}},
				{HTTP: &system.HTTP{URL: "https://x", SecretName: "hook", SecretKey: "k"}, Inverse: &system.Action{HTTP: &system.HTTP{URL: "https://x", SecretName: "unhook", SecretKey: "k"}}},
			},
			"Recover": {{Job: &system.Job{Template: map[string]any{"metadata": map[string]any{"namespace": "jobs"}}}}},
		}},
		{Name: "db", On: map[string][]system.Action{"readonly": {{Patch: &system.Patch{Type: "merge"}}}}},
		{Name: "zone", On: map[string][]system.Action{"Stop": {{Patch: &system.Patch{Type: "merge", Subresource: "status"}}, {Exec: &system.Exec{Command: []string{"x"}}}}}},
	}}
	w := &SystemState{Apps: []AppState{
		{Name: "web", Managers: map[object.Ref][]Manager{webRef: {{Ref: fluxRef, Tool: "flux", Reverts: true}, {Ref: dbRef, Tool: "helm"}}}, Actions: map[string][]Resolved{
			"Stop":    {{Index: 0, Name: "scale", Targets: []object.Ref{webRef}}, {Index: 1, Name: "http"}},
			"Recover": {{Index: 0, Name: "job"}},
		}},
		{Name: "db", Actions: map[string][]Resolved{"Stop": {{Name: "preset", Default: true, Targets: []object.Ref{dbRef}, Signals: map[object.Ref]signals.Signal{dbRef: {Scale: true}}}}, "readonly": {{Name: "patch", Targets: []object.Ref{dbRef}}}}},
		{Name: "zone", Actions: map[string][]Resolved{"Stop": {{Index: 0, Name: "patch", Targets: []object.Ref{zoneRef}}, {Index: 1, Name: "exec"}}}},
	}}
	return s, w
}

func texts(rights []permission.Permission) []string {
	var out []string
	for _, r := range rights {
		out = append(out, r.String())
	}
	return out
}

func TestRights(t *testing.T) {
	s, w := rightsSystem()
	keeping := []string{
		"get configmaps sysop-shop-journal in prod", "update configmaps sysop-shop-journal in prod", "get secrets sysop-shop-journal-key in prod",
		"get leases.coordination.k8s.io sysop-shop in prod", "update leases.coordination.k8s.io sysop-shop in prod",
	}
	making := append([]string{"create configmaps in prod", "create secrets in prod", "create leases.coordination.k8s.io in prod"}, keeping...)
	web := []string{
		"get deployments.apps web in prod", "patch deployments.apps web in prod", "get deployments.apps/scale web in prod", "patch deployments.apps/scale web in prod",
		"create events.events.k8s.io in prod",
	}
	after := []string{"create jobs.batch in jobs", "delete jobs.batch in jobs", "get jobs.batch in jobs"}
	hooks := []string{"get secrets hook in prod", "get secrets unhook in prod"}
	flux := []string{"get kustomizations.kustomize.toolkit.fluxcd.io shop in flux-system", "patch kustomizations.kustomize.toolkit.fluxcd.io shop in flux-system", "create events.events.k8s.io in flux-system"}
	db := []string{"get statefulsets.apps db in data", "patch statefulsets.apps db in data", "get statefulsets.apps/scale db in data", "patch statefulsets.apps/scale db in data", "create events.events.k8s.io in data"}
	zone := []string{"get zones.example.com eu", "patch zones.example.com eu", "get zones.example.com/status eu", "patch zones.example.com/status eu", "create events.events.k8s.io in default"}
	there := &Journal{Holds: []*Hold{{ID: 4, App: "web", Signal: "Stop", Operations: []*Operation{
		{Action: "scale", Target: Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "prod", Name: "web", Subresource: "scale"}},
		{Action: "job", Target: Target{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Namespace: "prod", Name: "made"}},
		{Action: "http"},
	}}, {ID: 5, App: "db", Signal: "readonly", Operations: []*Operation{
		{Action: "patch", Target: Target{APIVersion: "apps/v1", Kind: "StatefulSet", Resource: "statefulsets", Namespace: "data", Name: "db"}},
	}}}}
	there.SetVersion("7")
	for _, c := range []struct {
		name  string
		steps []Step
		j     *Journal
		want  [][]string
	}{
		{"nothing to do", nil, &Journal{}, nil},
		{"a cause joins", []Step{{Verb: AddCause, App: "web", Hold: 4}}, there, [][]string{keeping}},
		{"the first hold", []Step{{Verb: Send, App: "web", Signal: "Stop", Actions: w.Apps[0].Actions["Stop"], Managers: []Manager{{Ref: fluxRef}}}}, &Journal{}, [][]string{making, web, hooks, flux, after}},
		{"by default", []Step{{Verb: Send, App: "db", Signal: "Stop", Actions: w.Apps[1].Actions["Stop"]}}, there, [][]string{keeping, db}},
		{"of the cluster", []Step{{Verb: Send, App: "zone", Signal: "Stop", Actions: w.Apps[2].Actions["Stop"]}}, there, [][]string{keeping, zone}},
		{"a template", []Step{{Verb: Send, App: "db", Signal: "readonly", Actions: w.Apps[1].Actions["readonly"]}}, there, [][]string{
			keeping, {"get statefulsets.apps db in data", "patch statefulsets.apps db in data", "create events.events.k8s.io in data", "list pods in data", "delete pods in data"},
		}},
		{"a template is let go", []Step{{Verb: RecoverApp, App: "db", Signal: "readonly", Hold: 5}}, there, [][]string{
			keeping, {"get statefulsets.apps db in data", "patch statefulsets.apps db in data", "create events.events.k8s.io in data", "list pods in data", "delete pods in data"},
		}},
		{"let go", []Step{{Verb: RecoverApp, App: "web", Signal: "Stop", Hold: 4}}, there, [][]string{
			keeping, web, after, hooks, {"create jobs.batch in prod", "delete jobs.batch in prod", "get jobs.batch in prod"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := texts(Permissions(&Plan{Steps: c.steps}, c.j, s, w, rightKinds, "prod"))
			want := slices.Concat(c.want...)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, slices.Compact(want)) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	t.Run("all of it", func(t *testing.T) {
		got := texts(AllRights(s, w, rightKinds, "prod"))
		want := slices.Concat(making, web, after, hooks, flux, db, zone)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
