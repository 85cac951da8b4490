package install

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// removed is a system whose release a was installed, and taken away by an upgrade.
func removed(t *testing.T) (*fakeCluster, *Plan) {
	t.Helper()
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	p.Installation.System = true
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	away := &Plan{Installation: p.Installation, Action: Upgrade, Fingerprint: "y", Steps: []Step{{ID: "remove/apps/a", Kind: RemoveRelease, Part: "a", Release: "a", Namespace: "apps", Was: 1}}}
	if _, err := f.runner().Do(t.Context(), away, Options{}); err != nil {
		t.Fatal(err)
	}
	return f, &Plan{Installation: p.Installation, Action: Rollback, Fingerprint: "z", To: 1, Parts: p.Parts, Steps: []Step{
		{ID: "release/apps/a", Kind: RollbackRelease, Part: "a", Release: "a", Namespace: "apps", To: 1, Removed: true}, {ID: "await/a", Kind: Await, Part: "a"},
	}}
}

// What an upgrade removed is made again of its records.
func TestRollbackMakesAgain(t *testing.T) {
	f, back := removed(t)
	name := helm.ReleaseName{Name: "a", Namespace: "apps"}
	if list := f.records[name]; len(list) != 1 || list[0].Status != helm.Uninstalled {
		t.Fatalf("records of what was removed: %+v", list)
	}
	if _, err := f.runner().Do(t.Context(), back, Options{}); err != nil {
		t.Fatal(err)
	}
	if list := f.records[name]; len(list) != 2 || list[1].Status != helm.Deployed || !has(f, bodies("a", 1)) {
		t.Errorf("%+v", list)
	}
	j, _ := f.Load(t.Context())
	if last := j.Runs[len(j.Runs)-1]; last.To != 1 || last.Action != Rollback {
		t.Errorf("%+v", last)
	}
}

// A rollback that fails, or is killed at any write, leaves it removed, and its records there.
func TestRollbackMakesAgainOrNot(t *testing.T) {
	for _, what := range []string{"gate", "before", "after"} {
		for at := 1; ; at++ {
			f, back := removed(t)
			before := len(f.objects)
			died, err := atWrite(t, f, back, what, at)
			if what != "gate" && !died {
				if at < 5 {
					t.Fatalf("%s: only %d writes", what, at)
				}
				break
			}
			if what == "gate" && err == nil {
				t.Fatal("it did not fail")
			}
			f.at = 0
			if _, _, err := f.runner().Recover(t.Context(), back.Installation, "", Options{}); err != nil {
				t.Fatalf("%s %d: %v", what, at, err)
			}
			j, _ := f.Load(t.Context())
			done := j.Runs[len(j.Runs)-1].Result == ResultDone && j.Runs[len(j.Runs)-1].Action == Rollback
			list := f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]
			if !done && (len(list) == 0 || list[len(list)-1].Status != helm.Uninstalled || len(f.objects) != before) {
				t.Errorf("%s %d: %+v, objects %v", what, at, list, f.sorted())
			}
			if what == "gate" {
				break
			}
		}
	}
}

// atWrite does a plan that is killed at a write, or whose gate never opens.
func atWrite(t *testing.T, f *fakeCluster, p *Plan, what string, at int) (died bool, err error) {
	t.Helper()
	r := f.runner()
	f.writes = 0
	if what == "gate" {
		r.Gate = notHealthy(f, func() {})
	} else {
		f.what, f.at = what, at
	}
	defer func() {
		if v := recover(); v != nil {
			if _, is := v.(killed); !is {
				panic(v)
			}
			died, err = true, errors.New("killed")
		}
	}()
	_, err = r.Do(t.Context(), p, Options{})
	return false, err
}

func has(f *fakeCluster, all []*unstructured.Unstructured) bool {
	return !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return f.objects[object.RefOf(o)] == nil })
}

// An uninstallation forgets also what former runs removed.
func TestUninstallForgetsFormer(t *testing.T) {
	f, _ := removed(t)
	p := &Plan{Installation: Installation{Name: "shop", Namespace: "apps", System: true}, Action: Uninstall, Fingerprint: "u", Steps: []Step{{ID: "delete", Kind: DeleteObjects, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "apps", Name: "none"}}}}}
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	if len(f.records) > 0 {
		t.Errorf("records are left: %v", f.records)
	}
}

// Records of another installation stay, whatever the history of the journal says.
func TestUninstallLeavesRecordsOfOthers(t *testing.T) {
	f, _ := removed(t)
	want := len(f.records)
	for _, list := range f.records {
		list[len(list)-1].Marks.SystemNamespace = "elsewhere"
	}
	p := &Plan{Installation: Installation{Name: "shop", Namespace: "apps", System: true}, Action: Uninstall, Fingerprint: "u", Steps: []Step{{ID: "delete", Kind: DeleteObjects, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "apps", Name: "none"}}}}}
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	if len(f.records) != want {
		t.Errorf("records are gone: %v are left of %d", f.records, want)
	}
}

// A first install that fails leaves a record, which says which claims stayed.
func TestFailedInstallLeavesARecord(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	set := thing("StatefulSet", "apps", "db", map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}}}})
	set.SetAPIVersion("apps/v1")
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		for i, n := range []string{"data-db-0", "data-db-1", "data-db-x", "other-0"} {
			_ = i
			f.put(thing("PersistentVolumeClaim", "apps", n, nil), "kube-controller-manager")
		}
		list := f.records[helm.ReleaseName{Name: "a", Namespace: "apps"}]
		text, _ := set.MarshalJSON()
		list[0].Manifest = string(text)
	})
	if rep, err := r.Do(t.Context(), p, Options{}); err == nil || rep.Result != ResultUndone {
		t.Fatalf("%+v %v", rep, err)
	}
	j, err := f.Load(t.Context())
	if err != nil || len(j.Runs) != 1 || j.Runs[0].Result != ResultUndone {
		t.Fatalf("%+v %v", j, err)
	}
	if got := strings.Join(j.Runs[0].Stayed, ", "); got != "PersistentVolumeClaim/apps/data-db-0, PersistentVolumeClaim/apps/data-db-1" {
		t.Errorf("stayed: %s", got)
	}
}
