package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func setClaim(name string) object.Ref {
	return object.Ref{Kind: "PersistentVolumeClaim", Namespace: "apps", Name: name}
}

// claimingSet is a StatefulSet db that has its claims deleted with it.
func claimingSet() *unstructured.Unstructured {
	set := thing("StatefulSet", "apps", "db", map[string]any{"spec": map[string]any{
		"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": "Delete", "whenScaled": "Retain"},
		"volumeClaimTemplates":                 []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
	}})
	set.SetAPIVersion("apps/v1")
	return set
}

// claim is what the controller of StatefulSets does: it makes claims that are not there, and has
// them owned by their set.
func (f *fakeCluster) claim(names ...string) {
	set := f.objects[object.RefOf(claimingSet())]
	for _, n := range names {
		is, there := f.objects[setClaim(n)]
		if !there {
			is = thing("PersistentVolumeClaim", "apps", n, nil)
		}
		is = is.DeepCopy()
		is.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: set.GetUID()}})
		f.put(is, "kube-controller-manager")
	}
}

// recorded has the records of release a say what they are of, as Helm's do.
func (f *fakeCluster) recorded() {
	for name, list := range f.records {
		for i := range list {
			var all []string
			for _, o := range f.bodies[key(name, list[i].Revision)] {
				text, _ := o.MarshalJSON()
				all = append(all, string(text))
			}
			list[i].Manifest = strings.Join(all, "\n---\n")
		}
	}
}

// oneSet is a cluster with a claim of a former life, and a plan that installs release a with the
// StatefulSet of that claim.
func oneSet() (*fakeCluster, *Plan) {
	f, p, part := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	f.put(thing("PersistentVolumeClaim", "apps", "data-db-0", map[string]any{"data": "of years"}), "kubectl")
	part.Rendered.Objects = append(part.Rendered.Objects, claimingSet())
	f.charts[part.Chart] = part.Rendered.Objects
	p.Steps = p.Steps[2:]
	return f, p
}

func notes(r *Runner) *[]string {
	var out []string
	r.Events = func(e journal.Event) {
		if e.Kind == journal.EventNoted {
			out = append(out, e.Message)
		}
	}
	return &out
}

// A claim that was there before an install that is undone stays, although the StatefulSet of the
// install has claims deleted with it; one that the install made goes, and both are told.
func TestUndoKeepsClaimsOfBefore(t *testing.T) {
	f, p := oneSet()
	r := f.runner()
	told := notes(r)
	r.Gate = notHealthy(f, func() { f.claim("data-db-0", "data-db-1"); f.recorded() })
	rep, err := r.Do(t.Context(), p, Options{})
	if err == nil || rep.Result != ResultUndone {
		t.Fatalf("%+v %v", rep, err)
	}
	is := f.objects[setClaim("data-db-0")]
	if is == nil || is.Object["data"] != "of years" || len(is.GetOwnerReferences()) > 0 {
		t.Errorf("the claim that was there before: %v", is)
	}
	if f.objects[setClaim("data-db-1")] != nil || f.objects[object.RefOf(claimingSet())] != nil {
		t.Errorf("it is not undone: %v", f.sorted())
	}
	text := strings.Join(*told, "\n")
	if !strings.Contains(text, "PersistentVolumeClaim/apps/data-db-0 existed before this run") || !strings.Contains(text, "PersistentVolumeClaim/apps/data-db-0 stays") || strings.Contains(text, "data-db-1 stays") {
		t.Errorf("it tells:\n%s", text)
	}
	j, _ := f.Load(t.Context())
	if got := j.Runs[0].Stayed; !slices.Equal(got, []string{"PersistentVolumeClaim/apps/data-db-0"}) {
		t.Errorf("stayed: %q", got)
	}
}

// What the garbage collector takes is not said to stay, also while it is still there.
func TestUndoTellsWhatGoes(t *testing.T) {
	f, p := oneSet()
	r := f.runner()
	told := notes(r)
	r.Gate = notHealthy(f, func() { f.claim("data-db-0", "data-db-1"); f.recorded() })
	r.Engine = slowCollector{fakeHelm{f}}
	if rep, err := r.Do(t.Context(), p, Options{}); err == nil || rep.Result != ResultUndone {
		t.Fatalf("%+v %v", rep, err)
	}
	text := strings.Join(*told, "\n")
	if !strings.Contains(text, "PersistentVolumeClaim/apps/data-db-1 is deleted with the StatefulSet") || strings.Contains(text, "data-db-1 stays") || !strings.Contains(text, "data-db-0 stays") {
		t.Errorf("it tells:\n%s", text)
	}
}

// slowCollector is Helm on a cluster whose garbage collector has not come by yet.
type slowCollector struct{ fakeHelm }

func (h slowCollector) Uninstall(ctx context.Context, n helm.ReleaseName, o helm.RevertOptions) error {
	claims := map[object.Ref]*unstructured.Unstructured{}
	for ref, u := range h.f.objects {
		if ref.GroupKind() == claimKind {
			claims[ref] = u
		}
	}
	err := h.fakeHelm.Uninstall(ctx, n, o)
	maps.Copy(h.f.objects, claims)
	return err
}

// A StatefulSet whose controller does not answer is left, and with it the claims.
func TestUndoLeavesASetThatCannotLetGo(t *testing.T) {
	f, p := oneSet()
	r := f.runner()
	r.Gate = notHealthy(f, func() { f.claim("data-db-0"); f.recorded(); f.idle = true })
	rep, err := r.Do(t.Context(), p, Options{StatusTimeout: 20 * time.Millisecond})
	if err == nil || rep.Result != ResultPartlyUndone || f.objects[setClaim("data-db-0")] == nil || f.objects[object.RefOf(claimingSet())] == nil {
		t.Fatalf("%+v %v %v", rep, err, f.sorted())
	}
	for _, want := range []string{"StatefulSet.apps/apps/db is not deleted", "data-db-0", "has not observed yet"} {
		if note := rep.Left()[0].Note; !strings.Contains(note, want) {
			t.Errorf("no %q in %s", want, note)
		}
	}
}

// An upgrade that brings such a StatefulSet is undone in the same way; and a journal that does not
// say which claims were there does not have them deleted: they are older than the set.
func TestUndoOfAnUpgradeKeepsClaims(t *testing.T) {
	for _, forged := range []bool{false, true} {
		f, p, _ := oneInstall()
		if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
			t.Fatal(err)
		}
		old := thing("PersistentVolumeClaim", "apps", "data-db-0", nil)
		old.SetCreationTimestamp(metav1.NewTime(time.Unix(1_600_000_000, 0)))
		f.put(old, "kubectl")
		up := upgradeOfA(f, 1, 2)
		part := up.Parts[0]
		set := claimingSet()
		set.SetCreationTimestamp(metav1.NewTime(time.Unix(1_700_000_000, 0)))
		part.Rendered.Objects = append(part.Rendered.Objects, set)
		f.charts[part.Chart] = part.Rendered.Objects
		up.Steps = append(up.Steps, Step{ID: "await/a", Kind: Await, Part: "a"})
		r := f.runner()
		r.Gate = notHealthy(f, func() { f.claim("data-db-0"); f.recorded() })
		if rep, err := r.Do(t.Context(), up, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
			t.Fatalf("%+v %v", rep, err)
		}
		if forged {
			j, err := f.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range j.Run.Steps {
				j.Run.Steps[i].Claims = nil
			}
			plant(t, f, j)
		}
		if what, rep, err := f.runner().Recover(t.Context(), shopHere, "", Options{}); err != nil || what != RecoveredUndone {
			t.Fatalf("%s %+v %v", what, rep, err)
		}
		if f.objects[setClaim("data-db-0")] == nil || f.objects[object.RefOf(set)] != nil {
			t.Errorf("forged %t: %v", forged, f.sorted())
		}
	}
}

// An undo that was killed after it told the StatefulSet to retain its claims, and before these were
// taken from it, left claims that are owned and would still go: the next undo keeps them, too.
func TestUndoAgainKeepsClaimsOfBefore(t *testing.T) {
	f, p := oneSet()
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		f.claim("data-db-0", "data-db-1")
		f.recorded()
		set := f.objects[object.RefOf(claimingSet())].DeepCopy()
		_ = unstructured.SetNestedMap(set.Object, map[string]any{"whenDeleted": "Retain", "whenScaled": "Retain"}, "spec", "persistentVolumeClaimRetentionPolicy")
		f.put(set, "kubectl-sysop")
	})
	if rep, err := r.Do(t.Context(), p, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.runner().RecoveryLosses(t.Context(), shopHere, plan, planKinds()); err != nil || !slices.Contains(got, setClaim("data-db-1")) || slices.Contains(got, setClaim("data-db-0")) {
		t.Errorf("undoing it loses %v %v", got, err)
	}
	if what, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{}); err != nil || what != RecoveredUndone {
		t.Fatalf("%s %v", what, err)
	}
	if is := f.objects[setClaim("data-db-0")]; is == nil || len(is.GetOwnerReferences()) > 0 {
		t.Errorf("the claim that was there before: %v", is)
	}
	if f.objects[object.RefOf(claimingSet())] != nil {
		t.Error("the StatefulSet is not undone")
	}
}

// Where the data is that ending a run deletes is known before it is asked for: claims that the run
// made, and custom resources that somebody has taken up. What was there before is not lost.
func TestRecoveryLosses(t *testing.T) {
	f, p := oneSet()
	part := p.Parts[0]
	kettle := func(name string) *unstructured.Unstructured {
		o := thing("Kettle", "apps", name, nil)
		o.SetAPIVersion("example.com/v1")
		return o
	}
	part.Rendered.Objects = append(part.Rendered.Objects, kettle("taken-up"), kettle("untouched"), thing("PersistentVolumeClaim", "apps", "scratch", nil))
	f.charts[part.Chart] = part.Rendered.Objects
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		f.claim("data-db-0", "data-db-1")
		f.recorded()
		o := f.objects[object.RefOf(kettle("taken-up"))]
		o.SetManagedFields(append(o.GetManagedFields(), metav1.ManagedFieldsEntry{Manager: "kettle-operator", Subresource: "status"}))
	})
	if rep, err := r.Do(t.Context(), p, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	kinds := planKinds(object.Resource{Group: "example.com", Version: "v1", Kind: "Kettle", Plural: "kettles", Namespaced: true, Custom: true})
	losses := func(fingerprint string) string {
		t.Helper()
		plan, err := f.runner().PlanRecovery(t.Context(), shopHere, fingerprint, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f.writes = 0
		got, err := f.runner().RecoveryLosses(t.Context(), shopHere, plan, kinds)
		if err != nil || f.writes > 0 {
			t.Errorf("%v after %d writes", err, f.writes)
		}
		return fmt.Sprint(got)
	}
	if got, want := losses(""), "[PersistentVolumeClaim/apps/a PersistentVolumeClaim/apps/data-db-1 PersistentVolumeClaim/apps/scratch Kettle.example.com/apps/taken-up]"; got != want {
		t.Errorf("undoing it loses %s, want %s", got, want)
	}
	if got := losses(p.Fingerprint); got != "[]" {
		t.Errorf("going on with it loses %s", got)
	}
	if what, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{}); err != nil || what != RecoveredUndone {
		t.Fatalf("%s %v", what, err)
	}
	for _, ref := range []object.Ref{setClaim("a"), setClaim("data-db-1"), setClaim("scratch"), object.RefOf(kettle("taken-up"))} {
		if f.objects[ref] != nil {
			t.Errorf("%s was said to be lost, and is there", ref)
		}
	}
	if f.objects[setClaim("data-db-0")] == nil {
		t.Error("the claim that was there before is gone")
	}
}

// What is in a namespace that goes with the run goes as well.
func TestRecoveryLosesWhatIsInItsNamespace(t *testing.T) {
	f, p, _ := oneInstall()
	r := f.runner()
	r.Gate = notHealthy(f, func() { f.put(thing("PersistentVolumeClaim", "apps", "grown", nil), "kube-controller-manager") })
	if rep, err := r.Do(t.Context(), p, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.runner().RecoveryLosses(t.Context(), shopHere, plan, planKinds())
	if want := "[PersistentVolumeClaim/apps/a PersistentVolumeClaim/apps/grown]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("it loses %v %v, want %s", got, err, want)
	}
}
