package install

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// madeOf plans over what the journal says now.
func madeOf(t *testing.T, f *fakeCluster, p *Plan) {
	t.Helper()
	j, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.MadeOf(j)
}

// upgradeOfA is a plan that upgrades release a from a revision.
func upgradeOfA(f *fakeCluster, was, version int) *Plan {
	c := &chart.Chart{}
	f.charts[c] = bodies("a", version)
	part := &Part{Name: "a", Release: "a", Namespace: "apps", Chart: c, Rendered: &chart.Rendered{Objects: bodies("a", version)}}
	return &Plan{Installation: shopHere, Action: Upgrade, Fingerprint: part.Rendered.Objects[1].GetName(), Parts: []*Part{part}, Steps: []Step{
		{ID: "release/apps/a", Kind: UpgradeRelease, Part: "a", Release: "a", Namespace: "apps", Was: was},
	}}
}

// wantOutdated fails unless a plan is refused for a reason, and nothing is written.
func wantOutdated(t *testing.T, what string, f *fakeCluster, p *Plan, words ...string) {
	t.Helper()
	f.writes = 0
	rep, err := f.runner().Do(t.Context(), p, Options{})
	outdated := new(OutdatedError)
	if !errors.As(err, &outdated) || f.writes > 0 || rep.Run != "" || rep.Result != "" {
		t.Errorf("%s: %+v %v after %d writes", what, rep, err, f.writes)
		return
	}
	for _, w := range append(words, "nothing was written", "run the command again") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: no %q in %v", what, w, err)
		}
	}
}

// Of two runs that were planned at once, the second one is refused: its plan is of a state that
// is no more.
func TestDoRefusesAnOutdatedPlan(t *testing.T) {
	f, p, _ := oneInstall()
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	second, third, away := upgradeOfA(f, 1, 2), upgradeOfA(f, 1, 3), &Plan{Installation: shopHere, Action: Uninstall, Fingerprint: "u", Steps: []Step{
		{ID: "objects/a", Kind: DeleteObjects, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "apps", Name: "none"}}},
	}}
	for _, plan := range []*Plan{second, third, away} {
		madeOf(t, f, plan)
	}
	if _, err := f.runner().Do(t.Context(), second, Options{}); err != nil {
		t.Fatal(err)
	}
	wantOutdated(t, "planned at once", f, third, "an upgrade by alice has ended since (revision 2, done)", "release apps/a was deployed at revision 1 when it was planned, and is at revision 2 now")
	wantOutdated(t, "without a release", f, away, "an upgrade by alice has ended since")
	if is := f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]; len(is) != 2 {
		t.Errorf("it was upgraded: %+v", is)
	}

	// What nobody wrote since is done.
	fourth := upgradeOfA(f, 2, 4)
	madeOf(t, f, fourth)
	if rep, err := f.runner().Do(t.Context(), fourth, Options{}); err != nil || rep.Result != ResultDone {
		t.Errorf("%+v %v", rep, err)
	}
}

// Helm takes no lock and writes no journal: the release says what it did.
func TestDoRefusesAMovedRelease(t *testing.T) {
	f, p, _ := oneInstall()
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	plan := upgradeOfA(f, 1, 2)
	madeOf(t, f, plan)
	c := &chart.Chart{}
	f.charts[c] = bodies("a", 9)
	if err := (fakeHelm{f}).Upgrade(t.Context(), helm.ReleaseSpec{Release: helm.ReleaseName{Name: "a", Namespace: "apps"}, Chart: c}); err != nil {
		t.Fatal(err)
	}
	wantOutdated(t, "upgraded by helm", f, plan, "is at revision 2 now")
	if err := (fakeHelm{f}).Uninstall(t.Context(), helm.ReleaseName{Name: "a", Namespace: "apps"}, helm.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	wantOutdated(t, "uninstalled by helm", f, plan, "is no longer deployed")

	// A first install into a namespace that is made for it is refused, and the namespace taken back.
	f, p, _ = oneInstall()
	f.own, p.Installation.Namespace = "shop", "shop"
	p.Steps[0].Namespace = "shop"
	f.put(newNamespace("apps", "", nil), "kubectl")
	f.charts[c] = []*unstructured.Unstructured{bodies("a", 9)[0]}
	if err := (fakeHelm{f}).Install(t.Context(), helm.ReleaseSpec{Release: helm.ReleaseName{Name: "a", Namespace: "apps"}, Chart: c}); err != nil {
		t.Fatal(err)
	}
	madeOf(t, f, p)
	_, err := f.runner().Do(t.Context(), p, Options{})
	if !errors.As(err, new(*OutdatedError)) || f.objects[namespaceRef("shop")] != nil {
		t.Errorf("installed by helm: %v, objects %v", err, f.sorted())
	}
}

// A run that was killed is gone on with by a plan over its journal, and by none that was made
// before it was begun.
func TestDoGoesOnWithAPlanOfItsJournal(t *testing.T) {
	f, p, _ := oneInstall()
	early := *p
	madeOf(t, f, &early)
	r := f.runner()
	r.Gate = notHealthy(f, func() {})
	if rep, err := r.Do(t.Context(), p, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	wantOutdated(t, "planned before", f, &early, "an install by alice started since and has not ended")
	if what, _, err := f.runner().Recover(t.Context(), shopHere, "x", Options{}); err != nil || what != RecoveredResumed {
		t.Fatalf("%s %v", what, err)
	}
	rest := *p
	rest.Steps = p.Steps[3:]
	madeOf(t, f, &rest)
	if rep, err := f.runner().Do(t.Context(), &rest, Options{}); err != nil || rep.Result != ResultDone {
		t.Errorf("%+v %v", rep, err)
	}
}

// An older record that still says that it is deployed counts for nothing once a release is
// uninstalled with its history kept.
func TestDoInstallsOverAKeptHistory(t *testing.T) {
	f, p, _ := oneInstall()
	f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}] = []helm.Record{
		{Release: helm.ReleaseName{Name: "a", Namespace: "apps"}, Revision: 1, Status: helm.Deployed},
		{Release: helm.ReleaseName{Name: "a", Namespace: "apps"}, Revision: 2, Status: helm.Uninstalled},
	}
	madeOf(t, f, p)
	_, err := f.runner().Do(t.Context(), p, Options{})
	if outdated := (*OutdatedError)(nil); errors.As(err, &outdated) {
		t.Error(err)
	}
}
