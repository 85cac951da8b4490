package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var shopHere = Installation{Name: "shop", Namespace: "apps"}

// oneInstall is a cluster, and a plan that installs release a into a new namespace.
func oneInstall() (*fakeCluster, *Plan, *Part) {
	f := newFake("apps")
	f.charts, f.hooks = map[*chart.Chart][]*unstructured.Unstructured{}, map[*chart.Chart][]*unstructured.Unstructured{}
	c := &chart.Chart{}
	f.charts[c] = bodies("a", 1)
	part := &Part{Name: "a", Release: "a", Namespace: "apps", Chart: c, Rendered: &chart.Rendered{Objects: bodies("a", 1)}}
	return f, &Plan{Installation: shopHere, Action: Install, Fingerprint: "x", Parts: []*Part{part}, Steps: []Step{
		{ID: "namespace/apps", Kind: MakeNamespace, Namespace: "apps"},
		{ID: "definitions/a", Kind: ApplyDefinitions, Part: "a", Definitions: []*unstructured.Unstructured{definition("Made", 1)}},
		{ID: "release/apps/a", Kind: InstallRelease, Part: "a", Release: "a", Namespace: "apps"},
		{ID: "await/a", Kind: Await, Part: "a"},
	}}, part
}

func notHealthy(f *fakeCluster, also func()) func(context.Context, []object.Ref, time.Duration) error {
	return func(context.Context, []object.Ref, time.Duration) error {
		also()
		return errors.New("not healthy")
	}
}

func TestRunnerLeavesWhatOthersMade(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		f.put(thing("ConfigMap", "apps", "theirs", nil), "kubectl-create")
		o := thing("Made", "apps", "theirs", nil)
		o.SetAPIVersion("example.com/v1")
		f.put(o, "kubectl-create")
	})
	rep, err := r.Do(t.Context(), p, Options{})
	if err == nil || rep.Result != ResultPartlyUndone || len(rep.Left()) != 2 {
		t.Fatalf("%+v %v", rep, err)
	}
	for _, s := range rep.Left() {
		if !strings.Contains(s.Note, "theirs") {
			t.Errorf("%s is left: %s", s.ID, s.Note)
		}
	}
	j, err := f.Load(t.Context())
	if err != nil || j.Run != nil || len(j.Runs) != 1 || len(j.Runs[0].Left) != 2 || len(f.records) > 0 {
		t.Errorf("%+v %v", j, err)
	}
}

// What the programs of a run wrote is deleted with its namespace.
func TestRunnerTakesWhatItsProgramsWrote(t *testing.T) {
	f, p, part := oneInstall()
	part.Rendered.Objects = append(part.Rendered.Objects, thing("Deployment", "apps", "cert-manager-webhook", map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "main", "image": "quay.io/jetstack/cert-manager-webhook:v1"}},
	}}}}))
	r := f.runner()
	r.Gate = notHealthy(f, func() { f.put(thing("Secret", "apps", "webhook-ca", nil), "webhook") })
	if rep, err := r.Do(t.Context(), p, Options{}); err == nil || rep.Result != ResultUndone || len(f.objects) > 0 {
		t.Errorf("%+v %v %v", rep, err, f.sorted())
	}
}

// A release that somebody went on with is not taken back.
func TestRunnerLeavesAReleaseOfOthers(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		n := helm.ReleaseName{Name: "a", Namespace: "apps"}
		run := f.records[n][0].Marks
		c := &chart.Chart{}
		f.charts[c] = bodies("a", 2)
		if err := (fakeHelm{f}).Upgrade(t.Context(), helm.ReleaseSpec{Release: n, Chart: c, Marks: run}); err != nil { // helm takes labels along
			t.Error(err)
		}
	})
	rep, err := r.Do(t.Context(), p, Options{})
	if err == nil || rep.Result != ResultPartlyUndone || !strings.Contains(rep.Left()[0].Note+rep.Left()[1].Note, "revision 2") || len(f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]) != 2 {
		t.Errorf("%+v %v", rep, err)
	}
}

// What a release took over is given back.
func TestRunnerGivesBackWhatItTook(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	f.put(thing("ConfigMap", "apps", "a", map[string]any{"data": map[string]any{"of": "others"}}), "kubectl")
	before := f.image()
	r := f.runner()
	r.Gate = notHealthy(f, func() {})
	p.Steps = p.Steps[1:]
	if rep, err := r.Do(t.Context(), p, Options{TakeOwnership: true}); err == nil || rep.Result != ResultUndone {
		t.Errorf("%+v %v", rep, err)
	}
	sameImage(t, "given back", f, before)
}

func TestRunnerKeepsWhatFailed(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	r.Gate = notHealthy(f, func() {})
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	rep, err := r.Do(t.Context(), p, Options{KeepFailed: true, Stamp: at})
	if err == nil || rep.Result != ResultKeptFailed || len(f.records) != 1 {
		t.Fatalf("%+v %v", rep, err)
	}
	if j, err := r.Store.Load(t.Context()); err != nil || !j.Run.Stamp.Equal(at) {
		t.Errorf("the run is %+v, %v", j.Run, err)
	}
	if _, err := r.Do(t.Context(), p, Options{}); !errors.As(err, new(*UnfinishedError)) {
		t.Errorf("another run: %v", err)
	}
	if what, _, err := r.Recover(t.Context(), shopHere, "", Options{}); err != nil || what != RecoveredUndone || len(f.objects) > 0 {
		t.Errorf("%s %v %v", what, err, f.sorted())
	}
	r.Gate = func(context.Context, []object.Ref, time.Duration) error { return nil }
	if rep, err := r.Do(t.Context(), p, Options{Stamp: at}); err != nil {
		t.Fatalf("%+v %v", rep, err)
	}
	if j, err := r.Store.Load(t.Context()); err != nil || len(j.Runs) != 1 || !j.Runs[0].Stamp.Equal(at) {
		t.Errorf("the journal is %+v, %v", j, err)
	}
}

// lossy is a lock that is lost in its first turn, when its cluster says so.
type lossy struct {
	turns int
	lose  func()
}

func (l *lossy) Do(ctx context.Context, act func(context.Context) error) error {
	l.turns++
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	lost := &journal.LostError{Lease: "lease", Why: errors.New("lost to another holder")}
	if l.turns == 1 {
		l.lose = func() { end(lost) }
	}
	err := act(ctx)
	if errors.Is(context.Cause(ctx), lost) {
		return lost
	}
	return err
}

func TestRunnerLosesItsLock(t *testing.T) {
	for _, taken := range []bool{false, true} {
		f, p, _ := oneInstall()
		r := f.runner()
		lock := &lossy{}
		r.Lock = func(func(string, time.Time)) (journal.Lock, error) { return lock, nil }
		r.Gate = notHealthy(f, func() {
			lock.lose()
			if taken { // by one that undid it, and began another
				j, err := f.Load(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				j.Run.ID = "theirs"
				if err := f.Save(context.Background(), j); err != nil {
					t.Error(err)
				}
			}
		})
		rep, err := r.Do(t.Context(), p, Options{})
		failed := new(FailedError)
		want := map[bool]string{false: ResultUndone, true: ResultUnfinished}[taken]
		if !errors.As(err, &failed) || !errors.As(err, new(*journal.LostError)) || failed.Result != want || rep.Result != want || lock.turns != 2 {
			t.Errorf("taken %v: %+v %v after %d turns", taken, rep, err, lock.turns)
		}
		if there := len(f.records) > 0; there != taken {
			t.Errorf("taken %v: records %v", taken, f.records)
		}
	}
}

// withNamespace is a lock that is lost when the namespace goes that it is in.
type withNamespace struct{ f *fakeCluster }

func (l withNamespace) Do(ctx context.Context, act func(context.Context) error) error {
	err := act(ctx)
	if _, there := l.f.objects[namespaceRef(l.f.own)]; !there {
		return errors.Join(&journal.LostError{Lease: "lease", Why: errors.New("it is gone")}, err)
	}
	return err
}

// A run whose journal is refused is not done, although its lock is lost with the namespace that
// it made and took back.
func TestRunnerSaysWhyItsJournalIsRefused(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	r.Lock = func(func(string, time.Time)) (journal.Lock, error) { return withNamespace{f}, nil }
	f.own = shopHere.Namespace
	f.at, f.what = 2, "fail" // The first write makes the namespace.
	_, err := r.Do(t.Context(), p, Options{})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || errors.As(err, new(*journal.LostError)) {
		t.Errorf("it ends with %v", err)
	}
	if len(f.objects) > 0 {
		t.Errorf("left: %v", f.sorted())
	}
}

// The stream says which step failed, before it is undone: it is the warning of the run.
func TestRunnerSaysWhichStepFailed(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	var kinds []string
	r.Events = func(e journal.Event) {
		if e.Kind == journal.EventFailed || e.Kind == journal.EventUndoing {
			kinds = append(kinds, fmt.Sprintf("%s %s: %s", e.Kind, e.Step, e.Message))
		}
	}
	r.Gate = func(context.Context, []object.Ref, time.Duration) error { return errors.New("it crashes") }
	if _, err := r.Do(t.Context(), p, Options{}); err == nil {
		t.Fatal("no error")
	}
	if len(kinds) != 2 || !strings.HasPrefix(kinds[0], "Failed ") || !strings.HasSuffix(kinds[0], ": it crashes") || strings.HasPrefix(kinds[0], "Failed :") || !strings.HasPrefix(kinds[1], "Undoing ") {
		t.Errorf("%q", kinds)
	}
}

// The second interrupt ends the undoing too, and says how it goes on.
func TestRunnerStopsUndoing(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	ctx, interrupt := context.WithCancel(t.Context())
	stop, again := context.WithCancel(context.Background())
	r.Events = func(e journal.Event) {
		if e.Kind == journal.EventUndoing {
			again()
		}
	}
	r.Gate = func(context.Context, []object.Ref, time.Duration) error { interrupt(); <-ctx.Done(); return ctx.Err() }
	rep, err := r.Do(ctx, p, Options{Stop: stop})
	if err == nil || rep.Result != ResultUnfinished || !strings.Contains(err.Error(), "run the same command again") {
		t.Fatalf("%+v %v", rep, err)
	}
	if what, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{}); err != nil || what != RecoveredUndone || len(f.objects) > 0 {
		t.Errorf("%s %v %v", what, err, f.sorted())
	}
}

func TestRunnerRefuses(t *testing.T) {
	f, p, _ := oneInstall()
	p.Refusals = []Refusal{{Topic: "rights", Message: "may not create secrets"}}
	if _, err := f.runner().Do(t.Context(), p, Options{}); !errors.As(err, new(*RefusedError)) || f.writes > 0 {
		t.Errorf("%v after %d writes", err, f.writes)
	}
}

func TestRunnerDeletes(t *testing.T) {
	f, _, _ := oneInstall()
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	made := definition("Made", 1)
	f.put(made, "kubectl")
	one := thing("Made", "apps", "one", nil)
	one.SetAPIVersion("example.com/v1")
	f.put(one, "kubectl")
	del := Step{ID: "delete-definitions", Kind: DeleteDefinitions, Objects: []object.Ref{object.RefOf(made)}}
	p := &Plan{Installation: shopHere, Action: Uninstall, Fingerprint: "y", Steps: []Step{del}}
	if rep, err := f.runner().Do(t.Context(), p, Options{}); err == nil || !strings.Contains(err.Error(), "one") || f.objects[object.RefOf(made)] == nil {
		t.Errorf("with an object: %+v %v", rep, err)
	}
	f, _, _ = oneInstall()
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	f.put(made, "kubectl")
	f.put(one, "kubectl")
	p.Steps = []Step{{ID: "delete-objects", Kind: DeleteObjects, Objects: []object.Ref{object.RefOf(one)}}, del}
	if rep, err := f.runner().Do(t.Context(), p, Options{}); err != nil || rep.Result != ResultDone || f.objects[object.RefOf(made)] != nil {
		t.Errorf("objects first: %+v %v", rep, err)
	}
}

// An object whose finalizer nobody takes away is explained.
func TestHangingIsExplained(t *testing.T) {
	f, _, _ := oneInstall()
	o := thing("ConfigMap", "apps", "stuck", nil)
	o.SetFinalizers([]string{"example.com/cleanup", "foregroundDeletion"})
	now := metav1.Now()
	o.SetDeletionTimestamp(&now)
	f.put(o, "kubectl")
	x := &run{Runner: f.runner()}
	err := x.waitGone(t.Context(), []object.Ref{object.RefOf(o)}, 5*time.Millisecond)
	hanging := new(StuckError)
	if !errors.As(err, &hanging) || len(hanging.Objects[0].Finalizers) != 1 || !strings.Contains(err.Error(), "example.com/cleanup") || !strings.Contains(err.Error(), "ConfigMap") {
		t.Errorf("%v", err)
	}
}

func TestTarget(t *testing.T) {
	h := History{Past: []RunRecord{
		{Revision: 1, Action: Install, Result: ResultDone},
		{Revision: 2, Action: Upgrade, Result: ResultUndone},
		{Revision: 3, Action: Upgrade, Result: ResultDone},
		{Revision: 4, Action: Uninstall, Result: ResultDone},
	}}
	for revision, want := range map[int]int{0: -1, 1: 1, 3: 3, 2: -1, 4: -1, 9: -1} {
		p, err := h.Target(revision)
		if (err != nil) != (want < 0) || err == nil && p.Revision != want {
			t.Errorf("%d: %+v %v, want %d", revision, p, err, want)
		}
	}
	if _, err := (History{}).Target(0); !errors.Is(err, errNoFormer) {
		t.Errorf("of nothing: %v", err)
	}
}
