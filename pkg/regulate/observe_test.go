package regulate_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var updateWorlds = flag.Bool("update-worlds", false, "write the worlds of testdata/observe anew")

// seen is a cluster that was read for a system.
type seen struct {
	in regulate.Observation
}

// noon is when the clusters of these tests are looked at.
var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// look reads a manifest, and objects as YAML as a cluster in which every kind may be read
// but those that are named.
func look(t testing.TB, manifest, objects string, unread ...string) *seen {
	t.Helper()
	sys, problems := system.Parse("system.yaml", []byte(manifest))
	for _, p := range problems {
		t.Fatalf("%v", p)
	}
	snap, err := source.Open("-", strings.NewReader(objects), nil)
	if err != nil {
		t.Fatal(err)
	}
	return lookAt(t, sys, snap, unread...)
}

func lookAt(t testing.TB, sys *system.System, snap *source.Snapshot, unread ...string) *seen {
	t.Helper()
	ctx := context.Background()
	kinds, err := snap.Kinds(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds = kinds.With(builtInKinds...)
	definitions, err := snap.Definitions(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := slices.Concat(relation.BuiltIn(), catalog.Rules(kinds))
	for _, crd := range definitions {
		d, findings := annotations.Parse(crd, kinds)
		if len(findings) > 0 {
			t.Fatalf("findings: %v", findings)
		}
		rules = append(rules, d.Rules...)
	}
	set := relation.NewSet(rules...)
	b := graph.NewBuilder(set, kinds)
	verdicts := health.NewCollector(health.NewEvaluator(noon, catalog.Health(kinds)...))
	facts := regulate.NewCollector(sys, testSignals)
	inv := inventory.New(append(set.Annotations(), graph.HelmName, graph.HelmNamespace), b.Extract, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		verdicts.Add(o)
		facts.Add(o)
		return nil
	})
	if err := snap.Reading(readAs).Read(ctx, source.Query{All: true}, some{inv, unread}); err != nil {
		t.Fatal(err)
	}
	for _, r := range kinds.All() {
		if !slices.Contains(unread, r.Kind) {
			inv.Cover(r.GroupKind(), "")
		}
	}
	g := b.Build(inv)
	return &seen{regulate.Observation{
		System: sys, Graph: g, Kinds: kinds, Facts: facts, Signals: testSignals,
		Health: health.Assess(g, func(id graph.ID) (health.Health, bool) { return verdicts.Health(g.Ref(id)) }),
	}}
}

// some hands on the objects that may be read.
type some struct {
	*inventory.Inventory
	unread []string
}

func (s some) Add(o object.Object) {
	if !slices.Contains(s.unread, o.Kind) {
		s.Inventory.Add(o)
	}
}

func (some) Cover(schema.GroupKind, string) {}

// wholeTypes are the kinds that are read as Go types.
var wholeTypes = slices.Concat(health.Whole(), relation.Typed())

func readAs(r object.Resource) (source.Detail, string) {
	for _, gvk := range wholeTypes {
		if gvk.GroupKind() == r.GroupKind() {
			return source.Typed, gvk.Version
		}
	}
	return source.Fields, ""
}

var builtInKinds = []object.Resource{
	{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Singular: "deployment", ShortNames: []string{"deploy"}, Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Singular: "statefulset", ShortNames: []string{"sts"}, Namespaced: true},
	{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Singular: "cronjob", ShortNames: []string{"cj"}, Namespaced: true},
	{Version: "v1", Kind: "Service", Plural: "services", Singular: "service", ShortNames: []string{"svc"}, Namespaced: true},
	{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Singular: "configmap", ShortNames: []string{"cm"}, Namespaced: true},
	{Version: "v1", Kind: "Secret", Plural: "secrets", Singular: "secret", Namespaced: true},
	{Version: "v1", Kind: "Namespace", Plural: "namespaces", Singular: "namespace", ShortNames: []string{"ns"}},
}

// heldOperation are signals for tests, by kind and preset.
type heldOperation map[string]signals.Signal

func (k heldOperation) Of(gvk schema.GroupVersionKind, preset string) (signals.Signal, bool) {
	s, is := k[gvk.GroupKind().String()+" "+preset]
	return s, is
}

func spec(name string, value any) map[string]any {
	return map[string]any{"spec": map[string]any{name: value}}
}

var testSignals = heldOperation{
	"Deployment.apps pause":            {Preset: "pause", Patch: spec("paused", true), Effect: "no rollout"},
	"Deployment.apps stop":             {Preset: "stop", Patch: spec("replicas", int64(0)), Scale: true, Effect: "its pods go"},
	"StatefulSet.apps stop":            {Preset: "stop", Patch: spec("replicas", int64(0)), Scale: true, Stateful: true, Effect: "its pods go", Caveat: "an operator sets the number back"},
	"CronJob.batch pause":              {Preset: "pause", Patch: spec("suspend", true), Effect: "no new Jobs"},
	"Database.example.dev pause":       {Preset: "pause", Patch: spec("hold", true), Effect: "left alone"},
	"Database.example.dev stop":        {Preset: "stop", Patch: spec("stopped", true), Scale: true, Effect: "its pods go", Requires: "spec.storage"},
	"Fussy.example.dev pause":          {Preset: "pause", Patch: spec("hold", true), Caution: true, Effect: "no failover", Caveat: "nobody takes over meanwhile", Since: "2.4.0"},
	"Application.argoproj.io pause":    {Preset: "pause", Patch: spec("syncPolicy", nil), Effect: "no sync"},
	"Cluster.example.dev pause":        {Preset: "pause", Patch: map[string]any{"hold": true}, Each: "spec.parts", Effect: "left alone"},
	"Kustomization.kustomize.x/ pause": {},
}

// told writes a world for people, a line a fact.
func told(w *regulate.SystemState) string {
	var b strings.Builder
	for i := range w.Apps {
		tellApp(&b, &w.Apps[i])
	}
	return b.String()
}

func tellApp(b *strings.Builder, a *regulate.AppState) {
	fmt.Fprintf(b, "app %s\n", a.Name)
	for _, r := range a.Roots {
		fmt.Fprintf(b, "  root %s\n", r)
	}
	for _, text := range a.Absent {
		fmt.Fprintf(b, "  absent %s\n", text)
	}
	for _, text := range a.Unread {
		fmt.Fprintf(b, "  unread %s\n", text)
	}
	fmt.Fprintf(b, "  health %s", a.Health)
	if a.Message != "" {
		fmt.Fprintf(b, " by %s: %s", a.Cause, a.Message)
	}
	if !a.Since.IsZero() {
		fmt.Fprintf(b, ", since %s", a.Since.UTC().Format(time.RFC3339))
	}
	b.WriteString("\n")
	if a.Rollout != "" {
		fmt.Fprintf(b, "  rollout %s\n", a.Rollout)
	}
	for _, key := range slices.Sorted(maps.Keys(a.Fingerprint)) {
		fmt.Fprintf(b, "  version %s: %s\n", key, a.Fingerprint[key])
	}
	for _, n := range a.Needs {
		tellNeed(b, n)
	}
	for _, signal := range slices.Sorted(maps.Keys(a.Actions)) {
		for _, r := range a.Actions[signal] {
			tellAction(b, signal, r)
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(a.Managers), object.Compare) {
		for _, m := range a.Managers[ref] {
			fmt.Fprintf(b, "  manager of %s: %s %s reverts=%v\n", ref, m.Tool, m.Ref, m.Reverts)
		}
	}
}

func tellNeed(b *strings.Builder, n regulate.Need) {
	fmt.Fprintf(b, "  needs %s:", n.App)
	if n.Declared {
		fmt.Fprintf(b, " as declared %q", n.Reason)
	}
	if n.From != (object.Ref{}) {
		fmt.Fprintf(b, " %s -> %s by %s", n.From, n.To, n.Edge.Why())
		if n.Edge.Inferred {
			b.WriteString(" (inferred)")
		}
	}
	if len(n.Path) > 0 {
		fmt.Fprintf(b, " over %v", n.Path)
	}
	b.WriteString("\n")
}

func tellAction(b *strings.Builder, signal string, r regulate.Resolved) {
	fmt.Fprintf(b, "  on %s %d %s %v", signal, r.Index, r.Name, r.Targets)
	if r.Text != "" {
		fmt.Fprintf(b, ": %s", r.Text)
	}
	if r.Default {
		b.WriteString(" by default")
	}
	b.WriteString("\n")
	if r.Refused != "" {
		fmt.Fprintf(b, "    refused: %s\n", r.Refused)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "    note: %s\n", n)
	}
}

// Every file is a system, its cluster, and the world that it is; the comment says which
// kinds are not read, and whether guesses are left out.
func TestObserve(t *testing.T) {
	files, err := filepath.Glob("testdata/observe/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range ar.Files {
				parts[f.Name] = string(f.Data)
			}
			var unread []string
			noInferred := false
			for line := range strings.Lines(string(ar.Comment)) {
				if rest, is := strings.CutPrefix(line, "unread: "); is {
					unread = strings.Fields(rest)
				}
				noInferred = noInferred || strings.HasPrefix(line, "no inferred")
			}
			s := look(t, parts["system.yaml"], parts["objects.yaml"], unread...)
			s.in.NoInferred = noInferred
			got := told(regulate.Observe(s.in))
			if *updateWorlds {
				for i := range ar.Files {
					if ar.Files[i].Name == "world" {
						ar.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != parts["world"] {
				t.Errorf("got\n%swant\n%s", got, parts["world"])
			}
		})
	}
}
