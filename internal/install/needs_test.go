package install

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// A package that others need stays, although the system has it no more.
func TestNeededStays(t *testing.T) {
	s, o := shopInstalled(t)
	var rest []*Part
	for _, p := range shopParts(t) {
		if p.Name != "cert" && p.Name != "web" {
			rest = append(rest, p)
		}
	}
	o.Needed = map[string][]string{"cert": {"pg 1.0.0 in other"}}
	p := NewPlan(Upgrade, shopSystem, rest, s, o)
	wantNote(t, p, "cert is no longer in the System, and stays: it is needed by pg 1.0.0 in other")
	for _, step := range p.Steps {
		if step.Kind == RemoveRelease && step.Part == "cert" {
			t.Error("it goes, although it is needed")
		}
	}
}

// What is needed is in the journal while the run goes on and when it is done; after one that
// was undone it is what it was before.
func TestNeedsAreWrittenDown(t *testing.T) {
	f, p, _ := oneInstall()
	p.Needs = []Need{{Part: "a", Version: "1.0.0", Requires: []solve.Requirement{{Package: "b", Range: ">=1 <2"}}, Provides: []solve.API{{Kind: "Made.example.com"}}}}
	r := f.runner()
	during := 0
	r.Gate = notHealthy(f, func() {})
	gate := r.Gate
	r.Gate = f.runner().Gate
	r.Events = func(journal.Event) {
		if j, err := f.Load(t.Context()); err == nil && j.Run != nil {
			during = max(during, len(j.Needs()))
		}
	}
	if _, err := r.Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	wantNeeds := func(when string, version string) {
		t.Helper()
		j, err := f.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := j.Needs(); j.Run != nil || len(n) != 1 || n[0].Version != version || n[0].Requires[0].Range != ">=1 <2" {
			t.Errorf("%s: %+v", when, n)
		}
	}
	if during != 1 {
		t.Errorf("while it went on the journal had %d needs, want 1", during)
	}
	wantNeeds("done", "1.0.0")
	other := *p
	other.Fingerprint, other.Action = "y", Upgrade
	other.Needs = []Need{{Part: "a", Version: "2.0.0", Requires: p.Needs[0].Requires}}
	other.Steps = []Step{{ID: "release/apps/a", Kind: UpgradeRelease, Part: "a", Release: "a", Namespace: "apps", Was: 1}, {ID: "await/a", Kind: Await, Part: "a"}}
	r.Gate = gate
	if _, err := r.Do(t.Context(), &other, Options{}); err == nil {
		t.Fatal("it was to fail")
	}
	wantNeeds("undone", "1.0.0")
	j, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if left := j.NeedsWithout([]*Part{{Name: "a"}}); len(left) > 0 {
		t.Errorf("without it: %+v", left)
	}
}

// The journals of a release are those of its System, of its installation, and its own.
func TestInstallationsOfARelease(t *testing.T) {
	r := LiveRelease{Name: "kettle", Namespace: "kettle", Labels: map[string]string{
		helm.SystemLabel: "tea", helm.SystemNamespaceLabel: "home", helm.InstallationLabel: "teapot", helm.InstallationNamespaceLabel: "teapot", helm.PackageLabel: "kettle",
	}}
	got := r.Installations()
	want := []Installation{{Name: "tea", Namespace: "home", System: true}, {Name: "teapot", Namespace: "teapot"}, {Name: "kettle", Namespace: "kettle"}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// Where nobody may look who else needs a package, it stays as well, unless that is not heeded; what
// is no package goes in any case.
func TestMayBeNeededStays(t *testing.T) {
	s, o := shopInstalled(t)
	var rest []*Part
	for _, p := range shopParts(t) {
		if p.Name != "cert" && p.Name != "web" {
			rest = append(rest, p)
		}
	}
	o.NeedsHidden = "you may not look"
	removed := func(p *Plan) (out []string) {
		for _, step := range p.Steps {
			if step.Kind == RemoveRelease {
				out = append(out, step.Part)
			}
		}
		return out
	}
	p := NewPlan(Upgrade, shopSystem, rest, s, o)
	wantNote(t, p, "cert is no longer in the System, and stays: you may not look; --force removes it")
	if got := removed(p); !slices.Equal(got, []string{"web"}) {
		t.Errorf("an upgrade removes %q", got)
	}
	o.IgnoreHidden = true
	p = NewPlan(Upgrade, shopSystem, rest, s, o)
	wantNote(t, p, "cert is no longer in the System: you may not look")
	if got := removed(p); !slices.Equal(got, []string{"web", "cert"}) {
		t.Errorf("a forced upgrade removes %q", got)
	}

	// The same of what was installed since.
	o.IgnoreHidden = false
	for _, b := range o.Before {
		if b.Part != "cert" && b.Part != "web" {
			o.To = append(o.To, b)
		}
	}
	p = NewPlan(Rollback, shopSystem, nil, s, o)
	wantNote(t, p, "cert was installed since, and stays: you may not look; --force removes it")
	if got := removed(p); !slices.Equal(got, []string{"web"}) {
		t.Errorf("a rollback removes %q", got)
	}
}
