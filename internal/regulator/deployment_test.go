package regulator

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"sigs.k8s.io/yaml"
)

var updateManifests = flag.Bool("update-manifests", false, "write testdata/manifests.yaml anew")

func TestManifests(t *testing.T) {
	web, db := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}, object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "data", Name: "db"}
	flux := object.Ref{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: "shop"}
	s := &system.System{Name: "shop", Namespace: "prod", Apps: []system.App{
		{Name: "web", GitOps: system.Suspend, On: map[string][]system.Action{
			"Stop": {
				{Scale: &system.Scale{}},
				{HTTP: &system.HTTP{URL: "https://x", SecretName: "hook", SecretKey: "k"}, Inverse: &system.Action{HTTP: &system.HTTP{URL: "https://x", SecretName: "unhook", SecretKey: "k"}}},
			},
			"Recover": {{Job: &system.Job{Template: map[string]any{"metadata": map[string]any{"namespace": "jobs"}}}}},
		}},
		{Name: "db", On: map[string][]system.Action{"readonly": {{Patch: &system.Patch{Type: "merge"}}}}},
		{Name: "zone", On: map[string][]system.Action{"Stop": {{Patch: &system.Patch{Type: "merge", Subresource: "status"}}}}},
	}}
	w := &regulate.SystemState{Apps: []regulate.AppState{
		{Name: "web", Managers: map[object.Ref][]regulate.Manager{web: {{Ref: flux, Tool: regulate.ByFlux, Reverts: true}}}, Actions: map[string][]regulate.Resolved{
			"Stop":    {{Index: 0, Name: "scale", Targets: []object.Ref{web}}, {Index: 1, Name: "http"}},
			"Recover": {{Index: 0, Name: "job"}},
		}},
		{Name: "db", Actions: map[string][]regulate.Resolved{
			"Stop":     {{Name: "preset", Default: true, Targets: []object.Ref{db}, Signals: map[object.Ref]signals.Signal{db: {Scale: true}}}},
			"readonly": {{Name: "patch", Targets: []object.Ref{db}}},
		}},
		{Name: "zone", Actions: map[string][]regulate.Resolved{"Stop": {{Name: "patch", Targets: []object.Ref{{Group: "example.com", Kind: "Zone", Name: "eu"}}}}}},
	}}
	kinds := object.NewKinds([]object.Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true, Listable: true},
		{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Listable: true},
		{Group: "example.com", Version: "v1", Kind: "Zone", Plural: "zones", Listable: true},
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization", Plural: "kustomizations", Namespaced: true, Listable: true},
	})
	in := WatchDeployment{System: s, World: w, Kinds: kinds, Namespace: "prod", Image: "registry.example.com/kubectl-sysop:v1", Version: "v1", Replicas: 2, Reads: []incluster.Resource{
		{Group: "apps", Resource: "deployments", Namespace: "prod"},
		{Group: "apps", Resource: "statefulsets", Namespace: "data"},
		{Resource: "pods", Namespace: "prod"},
		{Resource: "secrets", Namespace: "prod"},
		{Resource: "secrets"},
		{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		{Group: "apps", Resource: "deployments", Namespace: "prod"},
	}}
	var b strings.Builder
	for _, m := range DeploymentManifests(in) {
		text, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		for line := range strings.Lines(m.Comment) {
			b.WriteString("# " + strings.TrimSuffix(line, "\n") + "\n")
		}
		b.Write(text)
	}
	name := filepath.Join("testdata", "manifests.yaml")
	if *updateManifests {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil { //nolint:gosec // testdata
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v: it is not as in %s:\n%s", err, name, b.String())
	}
}
