package install

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// away is what is left to do of an uninstallation of the release of oneInstall.
func away(f *fakeCluster, of Installation) *Plan {
	p := &Plan{Installation: of, Action: Uninstall, Fingerprint: "u"}
	name := helm.ReleaseName{Name: "a", Namespace: "apps"}
	if list := f.records[name]; len(list) > 0 && list[len(list)-1].Status != helm.Uninstalled {
		p.Steps = append(p.Steps, Step{ID: "remove/apps/a", Kind: RemoveRelease, Part: "a", Release: "a", Namespace: "apps", Was: 1})
	}
	if made := object.RefOf(definition("Made", 1)); f.objects[made] != nil {
		p.Steps = append(p.Steps, Step{ID: "delete-definitions/a", Kind: DeleteDefinitions, Part: "a", Objects: []object.Ref{made}})
	}
	return p
}

// An uninstallation that was killed at any write continues with the same arguments: nothing of what
// went comes back meanwhile, and in the end all is gone, its records as well.
func TestUninstallContinues(t *testing.T) {
	for _, what := range []string{"before", "after"} {
		continued := 0
		for at := 1; ; at++ {
			f, p, _ := oneInstall()
			f.put(newNamespace("apps", "", nil), "kubectl")
			if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
				t.Fatal(err)
			}
			if died, _ := atWrite(t, f, away(f, p.Installation), what, at); !died {
				break
			}
			f.at = 0
			there := f.sorted()
			plan, err := f.runner().PlanRecovery(t.Context(), p.Installation, "u", Options{})
			if err != nil {
				t.Fatalf("%s %d: %v", what, at, err)
			}
			for _, act := range plan.Acts {
				if act.Verb != RecoverUninstall {
					t.Errorf("%s %d: it would %s %s", what, at, act.Verb, act.Release)
				}
			}
			did, _, err := f.runner().Recover(t.Context(), p.Installation, "u", Options{})
			if err != nil {
				t.Fatalf("%s %d: %v", what, at, err)
			}
			if did == RecoveredResumed {
				continued++
			}
			for _, ref := range f.sorted() {
				if !slices.Contains(there, ref) {
					t.Errorf("%s %d: %v was brought back", what, at, ref)
				}
			}
			if did == RecoveredUndone {
				t.Errorf("%s %d: it was undone", what, at)
			}
			rest := away(f, p.Installation)
			if rep, err := f.runner().Do(t.Context(), rest, Options{}); err != nil || rep.Result != ResultDone {
				t.Fatalf("%s %d: %+v, %v", what, at, rep, err)
			}
			j, err := f.Load(t.Context())
			if err != nil || j.Run != nil || len(f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]) > 0 || f.objects[object.RefOf(definition("Made", 1))] != nil {
				t.Errorf("%s %d: records %v, objects %v, %v", what, at, f.records, f.sorted(), err)
			}
			if last := j.Runs[len(j.Runs)-1]; last.Action != Uninstall || last.Result != ResultDone {
				t.Errorf("%s %d: %+v", what, at, last)
			}
		}
		if continued < 5 {
			t.Errorf("%s: it continued %d times", what, continued)
		}
	}
}

// Other arguments undo it first.
func TestUninstallOfOtherArguments(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	before := len(f.objects)
	if died, _ := atWrite(t, f, away(f, p.Installation), "after", 4); !died {
		t.Fatal("it was not killed")
	}
	f.at = 0
	if len(f.objects) == before {
		t.Fatal("nothing went before it was killed")
	}
	if did, _, err := f.runner().Recover(t.Context(), p.Installation, "other", Options{}); err != nil || did != RecoveredUndone || len(f.objects) != before {
		t.Errorf("%s, %v, objects %v", did, err, f.sorted())
	}
}

// What hangs is said, and the run stays open: the same command tries again.
func TestUninstallContinuesLater(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	died, _ := atWrite(t, f, away(f, p.Installation), "after", 3) // The record says that it is uninstalling.
	f.at, f.what = 0, ""
	if list := f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]; !died || list[0].Status != helm.Uninstalling {
		t.Fatalf("killed %v: %+v", died, list)
	}
	r := f.runner()
	r.Engine = helmFails{fakeHelm{f}, func(helm.RevertOptions) error { return errors.New("the disk is full") }}
	_, _, err := r.Recover(t.Context(), p.Installation, "u", Options{StatusTimeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "remove/apps/a") || !strings.Contains(err.Error(), "run the same command again") {
		t.Fatalf("%v", err)
	}
	if did, _, err := f.runner().Recover(t.Context(), p.Installation, "u", Options{}); err != nil || did != RecoveredResumed {
		t.Errorf("%s, %v", did, err)
	}
}

// What an uninstallation or a rollback is asked for does not depend on how far it is.
func TestFingerprintOfWhatGoes(t *testing.T) {
	part := func(version string) []*Part {
		return []*Part{{Name: "a", Release: "a", Namespace: "apps", Version: version}}
	}
	for _, action := range []Action{Uninstall, Rollback} {
		o := PlanOptions{Arguments: "1", To: []ReleaseState{{Part: "a", Release: "a", Namespace: "apps", Revision: 1}}}
		was := fingerprint(action, shopHere, part("1.0.0"), o)
		if got := fingerprint(action, shopHere, part(""), o); got != was {
			t.Errorf("%s: another fingerprint where the release is gone", action)
		}
		for _, other := range []PlanOptions{{Arguments: "2", To: o.To}, {Arguments: "1", To: o.To, DeleteData: true}, {Arguments: "1", To: o.To, DeleteDefinitions: true}, {Arguments: "1"}} {
			if fingerprint(action, shopHere, part("1.0.0"), other) == was {
				t.Errorf("%s: the same fingerprint with %+v", action, other)
			}
		}
	}
}

// A rollback that continues waits for what was rolled back before it was killed.
func TestRollbackContinuesToWait(t *testing.T) {
	s, o := shopInstalled(t)
	o.To = o.Before
	if p := NewPlan(Rollback, shopSystem, nil, s, o); len(p.Steps) != 0 {
		t.Fatalf("steps %q", stepIDs(p))
	}
	o.Waiting = []string{"db"}
	wantSteps(t, NewPlan(Rollback, shopSystem, nil, s, o), "await/db")
}

// A removal that continues has as much time as one that was not killed. While all of the release is
// there a hook that fails refuses it, as a backup before the deletion may; hooks that cannot run
// once half of it is gone do not stop it.
func TestRemovalFinishedAsBegun(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	if died, _ := atWrite(t, f, away(f, p.Installation), "after", 3); !died {
		t.Fatal("it was not killed")
	}
	f.at = 0
	var asked []helm.RevertOptions
	var told []string
	r := f.runner()
	r.Engine = helmFails{fakeHelm{f}, func(o helm.RevertOptions) error {
		if asked = append(asked, o); !o.NoHooks {
			return errors.New("pre-delete hooks failed")
		}
		return nil
	}}
	r.Events = func(e journal.Event) { told = append(told, e.Message) }
	if _, _, err := r.Recover(t.Context(), p.Installation, "u", Options{Timeout: 7 * time.Second}); err == nil || len(asked) != 1 || asked[0].NoHooks {
		t.Fatalf("%v, uninstalled with %+v, though nothing was gone", err, asked)
	}
	list := f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]
	delete(f.objects, list[len(list)-1].Objects[0])
	asked = nil
	did, _, err := r.Recover(t.Context(), p.Installation, "u", Options{Timeout: 7 * time.Second})
	if err != nil || did != RecoveredResumed {
		t.Fatalf("%s, %v", did, err)
	}
	if len(asked) != 2 || asked[0].NoHooks || !asked[1].NoHooks || !asked[0].KeepHistory || !asked[1].KeepHistory {
		t.Errorf("it was uninstalled with %+v, want once with the hooks and once without", asked)
	}
	for _, o := range asked {
		if o.Timeout != 7*time.Second || o.Marks.Run == "" {
			t.Errorf("uninstalled with %+v, want the timeout of the run, and its id", o)
		}
	}
	if !strings.Contains(strings.Join(told, "\n"), "without its hooks") {
		t.Errorf("it says %q", told)
	}
}

// Hooks of an undo have no more time than the run gives.
func TestUndoHooksInTime(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	r := f.runner()
	r.Gate = func(context.Context, []object.Ref, time.Duration) error { return errors.New("it is not Healthy") }
	var asked []helm.RevertOptions
	r.Engine = helmFails{fakeHelm{f}, func(o helm.RevertOptions) error {
		asked = append(asked, o)
		return errors.New("it is forbidden")
	}}
	_, err := r.Do(t.Context(), p, Options{StatusTimeout: 7 * time.Second})
	if failed := new(FailedError); !errors.As(err, &failed) || failed.Result != ResultPartlyUndone {
		t.Fatalf("%v", err)
	}
	if len(asked) != 2 {
		t.Errorf("uninstalled with %+v", asked)
	}
	for _, o := range asked {
		if o.Timeout != 7*time.Second {
			t.Errorf("a hook may take %s, want that of the run", o.Timeout)
		}
	}
	j, err := f.Load(t.Context())
	if err != nil || len(j.Runs) != 1 || len(j.Runs[0].Left) == 0 || strings.Count(j.Runs[0].Left[0], "it is forbidden") != 1 {
		t.Errorf("%+v, %v, want what is left, with the reason once", j.Runs, err)
	}
}

// helmFails is a Helm that may fail to uninstall.
type helmFails struct {
	fakeHelm
	why func(helm.RevertOptions) error
}

func (h helmFails) Uninstall(ctx context.Context, n helm.ReleaseName, o helm.RevertOptions) error {
	if err := h.why(o); err != nil {
		return err
	}
	return h.fakeHelm.Uninstall(ctx, n, o)
}
