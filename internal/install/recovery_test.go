package install

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var adminBinding = object.Ref{Group: permission.RolesGroup, Kind: "ClusterRoleBinding", Name: "admins"}

func rbac(kind, name, text string) *unstructured.Unstructured {
	o := thing(kind, "", name, map[string]any{"rules": text})
	o.SetAPIVersion(permission.RolesGroup + "/v1")
	return o
}

// plantedJournal is a cluster with the journal of a run that somebody wrote by hand.
func plantedJournal(t *testing.T, of Installation, steps ...StepState) *fakeCluster {
	t.Helper()
	f := newFake("apps")
	for _, ns := range []string{"apps", "victim"} {
		f.put(thing("Namespace", "", ns, nil), "kubectl")
	}
	f.put(rbac("ClusterRoleBinding", "admins", "true"), "kubectl")
	f.put(rbac("ClusterRole", "view", "get"), "kubectl")
	f.put(thing("Secret", "victim", "password", map[string]any{"data": "true"}), "kubectl")
	f.put(definition("Kettle", 1), "kubectl")
	f.charts = map[*chart.Chart][]*unstructured.Unstructured{}
	for _, n := range []helm.ReleaseName{{Name: "own", Namespace: "apps"}, {Name: "real", Namespace: "victim"}} {
		c := &chart.Chart{}
		f.charts[c] = []*unstructured.Unstructured{thing("ConfigMap", n.Namespace, n.Name, nil)}
		marks := helm.RecordLabels{Run: "former"}
		if n.Name == "real" {
			marks.Run = realRun
		}
		if err := (fakeHelm{f}).Install(t.Context(), helm.ReleaseSpec{Release: n, Chart: c, Marks: marks}); err != nil {
			t.Fatal(err)
		}
	}
	plant(t, f, &Journal{Installation: of, Run: &Run{ID: newRunID(of), Action: Install, Fingerprint: "x", Steps: steps}})
	return f
}

// realRun is the id of a run of another installation.
var realRun = newRunID(Installation{Name: "real", Namespace: "victim"})

func plant(t *testing.T, f *fakeCluster, j *Journal) {
	t.Helper()
	var err error
	if f.journal, err = json.Marshal(j); err != nil {
		t.Fatal(err)
	}
	f.version++
	f.writes = 0
}

// forged keeps something for an object that it never was.
func (f *fakeCluster) forged(o *unstructured.Unstructured) BeforeImage {
	f.kept["forged"] = o
	return BeforeImage{Object: object.RefOf(o), StoredIn: "forged"}
}

// What a journal says that no record of Helm, and no mark on the object itself, bears out is
// neither made nor changed nor deleted: it is refused, and nothing is written.
func TestForgedJournals(t *testing.T) {
	release := func(kind StepKind, name, ns string, was int) StepState {
		return StepState{ID: "release/" + name, Kind: kind, Release: name, Namespace: ns, Was: was, Phase: Done}
	}
	for what, forge := range map[string]func(f *fakeCluster, r *Run){
		"made a binding, by a release that is not there": func(_ *fakeCluster, r *Run) {
			s := release(InstallRelease, "none", "apps", 0)
			s.Made = []object.Ref{adminBinding}
			r.Steps = []StepState{s}
		},
		"made a binding, by a release of its own": func(_ *fakeCluster, r *Run) {
			s := release(UpgradeRelease, "own", "apps", 1)
			s.Made = []object.Ref{adminBinding}
			r.Steps = []StepState{s}
		},
		"changed a ClusterRole": func(f *fakeCluster, r *Run) {
			s := release(UpgradeRelease, "own", "apps", 1)
			s.Changed = []BeforeImage{f.forged(rbac("ClusterRole", "view", "everything"))}
			r.Steps = []StepState{s}
		},
		"changed a binding that is not there": func(f *fakeCluster, r *Run) {
			s := release(UpgradeRelease, "own", "apps", 1)
			s.Changed = []BeforeImage{f.forged(rbac("ClusterRoleBinding", "tenant", "cluster-admin"))}
			r.Steps = []StepState{s}
		},
		"changed a Secret of others": func(f *fakeCluster, r *Run) {
			s := release(UpgradeRelease, "own", "apps", 1)
			s.Changed = []BeforeImage{f.forged(thing("Secret", "victim", "password", map[string]any{"data": "forged"}))}
			r.Steps = []StepState{s}
		},
		"the id of another run": func(_ *fakeCluster, r *Run) {
			r.ID = realRun
			r.Steps = []StepState{release(InstallRelease, "real", "victim", 0)}
		},
		"an id of an older version": func(_ *fakeCluster, r *Run) { r.ID = "former" },
		"a namespace by another name": func(_ *fakeCluster, r *Run) {
			r.Steps = []StepState{{ID: "namespace/x", Kind: MakeNamespace, Namespace: "x", Phase: Done, Made: []object.Ref{namespaceRef("victim")}}}
		},
		"a definition that is none": func(f *fakeCluster, r *Run) {
			r.Steps = []StepState{{ID: "definitions/x", Kind: ApplyDefinitions, Phase: Done, Changed: []BeforeImage{f.forged(rbac("ClusterRole", "view", "everything"))}}}
		},
		"made by a wait": func(_ *fakeCluster, r *Run) {
			r.Steps = []StepState{{ID: "await/x", Kind: Await, Phase: Done, Made: []object.Ref{adminBinding}}}
		},
	} {
		for _, undoing := range []bool{false, true} {
			f := plantedJournal(t, shopHere)
			j, err := f.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			j.Run.Undoing = undoing
			forge(f, j.Run)
			plant(t, f, j)
			before := f.image()
			tampered := new(TamperedError)
			if _, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{}); !errors.As(err, &tampered) {
				t.Errorf("%s: planned: %v", what, err)
			}
			for _, fingerprint := range []string{"", "x"} {
				_, _, err = f.runner().Recover(t.Context(), shopHere, fingerprint, Options{})
				if !errors.As(err, &tampered) || f.writes > 0 || !maps.Equal(f.image(), before) {
					t.Errorf("%s: recovered: %v after %d writes", what, err, f.writes)
				}
				if err != nil && (!strings.Contains(err.Error(), "nothing was written") || !strings.Contains(err.Error(), "sysop-install-shop")) {
					t.Errorf("%s: it says %v", what, err)
				}
			}
			p := &Plan{Installation: shopHere, Action: Install, Fingerprint: "x"}
			if _, err = f.runner().Do(t.Context(), p, Options{}); !errors.As(err, &tampered) || f.writes > 0 {
				t.Errorf("%s: gone on with: %v after %d writes", what, err, f.writes)
			}
		}
	}
}

// What only looks like the run's is left, and said so; the rest goes on.
func TestForgedIsLeft(t *testing.T) {
	converting := definition("Kettle", 2)
	_ = unstructured.SetNestedField(converting.Object, "https://tenant.example.com", "spec", "conversion", "webhook")
	for what, step := range map[string]StepState{
		"a namespace":        {ID: "namespace/victim", Kind: MakeNamespace, Namespace: "victim", Phase: Done, Made: []object.Ref{namespaceRef("victim")}},
		"a definition":       {ID: "definitions/x", Kind: ApplyDefinitions, Phase: Done, Made: []object.Ref{object.RefOf(definition("Kettle", 1))}},
		"a conversion":       {ID: "definitions/x", Kind: ApplyDefinitions, Phase: Done, Changed: []BeforeImage{{Object: object.RefOf(converting), StoredIn: "forged"}}},
		"a removed release":  {ID: "release/real", Kind: RemoveRelease, Release: "real", Namespace: "victim", Was: 1, Phase: Done},
		"an upgraded one":    {ID: "release/real", Kind: UpgradeRelease, Release: "real", Namespace: "victim", Was: 1, Revision: 2, Phase: Done},
		"an installed one":   {ID: "release/real", Kind: InstallRelease, Release: "real", Namespace: "victim", Phase: Done},
		"another revision":   {ID: "release/real", Kind: UpgradeRelease, Release: "real", Namespace: "victim", Was: 0, Phase: Done},
		"deleted objects":    {ID: "objects/x", Kind: DeleteObjects, Phase: Done},
		"deleted definition": {ID: "delete/x", Kind: DeleteDefinitions, Phase: Done},
	} {
		f := plantedJournal(t, shopHere, step)
		f.forged(converting)
		j, err := f.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		j.Run.Writers = []string{"kubectl"}
		plant(t, f, j)
		delete(f.objects, object.Ref{Kind: "ConfigMap", Namespace: "victim", Name: "real"}) // its own admin did
		before := f.image()
		plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, a := range plan.Acts {
			if a.Verb != RecoverLeave {
				t.Errorf("%s: it would %s %s%s", what, a.Verb, a.Object, a.Release)
			}
		}
		if _, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{Seen: plan.Seen}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if !maps.Equal(f.image(), before) {
			t.Errorf("%s: it wrote:\n%v, was\n%v", what, f.image(), before)
		}
	}
}

// A run that was shown and is another one by now is not recovered.
func TestRecoverAnotherRun(t *testing.T) {
	f := plantedJournal(t, shopHere)
	plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j.Run.Steps = []StepState{{ID: "await/x", Kind: Await, Phase: Done}}
	plant(t, f, j)
	if _, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{Seen: plan.Seen}); !errors.Is(err, errOtherRun) || f.writes > 0 {
		t.Errorf("%v after %d writes", err, f.writes)
	}
}

// takenOver is a run that was killed when it had taken over a ClusterRole and a ConfigMap of
// its own namespace, which are in the manifest of its release.
func takenOver(t *testing.T) *fakeCluster {
	t.Helper()
	f, p, part := oneInstall()
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	f.put(thing("ConfigMap", "apps", "a", map[string]any{"data": map[string]any{"of": "others"}}), "kubectl")
	f.put(rbac("ClusterRole", "view", "get"), "kubectl")
	part.Rendered.Objects = append(part.Rendered.Objects, rbac("ClusterRole", "view", "list"))
	f.charts[part.Chart] = part.Rendered.Objects
	p.Steps = p.Steps[1:]
	f.writes, f.at, f.what = 0, 0, ""
	rep, err := func() (Report, error) {
		r := f.runner()
		r.Gate = notHealthy(f, func() {})
		return r.Do(t.Context(), p, Options{TakeOwnership: true, KeepFailed: true})
	}()
	if err == nil || rep.Result != ResultKeptFailed {
		t.Fatalf("%+v %v", rep, err)
	}
	return f
}

// What is kept of rights is not written by a process that did not keep it itself: it is left,
// with the reason. What is of the namespace of the journal is given back.
func TestRecoverLeavesRights(t *testing.T) {
	f := takenOver(t)
	for key, o := range f.kept {
		if o.GetKind() == "ClusterRole" {
			f.kept[key] = rbac("ClusterRole", "view", "everything")
			f.kept[key].SetUID(f.objects[object.RefOf(o)].GetUID())
		}
	}
	plan, err := f.runner().PlanRecovery(t.Context(), shopHere, "", Options{})
	verbs := map[string]RecoveryVerb{}
	for _, a := range plan.Acts {
		verbs[a.Object.Kind+a.Release.Name] = a.Verb
	}
	if err != nil || verbs["a"] != RecoverUninstall || verbs["ClusterRole"] != RecoverLeave || verbs["ConfigMap"] != RecoverRestore || verbs["CustomResourceDefinition"] != RecoverDelete {
		t.Errorf("planned %v %v", verbs, err)
	}
	what, rep, err := f.runner().Recover(t.Context(), shopHere, "", Options{Seen: plan.Seen})
	if err != nil || what != RecoveredPartly || len(rep.Left()) != 1 || !strings.Contains(rep.Left()[0].Note, "it grants permissions") {
		t.Errorf("%s %+v %v", what, rep, err)
	}
	if len(f.kept) == 0 {
		t.Error("what it was like is not there to be looked at")
	}
	role := f.objects[object.Ref{Group: permission.RolesGroup, Kind: "ClusterRole", Name: "view"}]
	if role == nil || role.Object["rules"] == "everything" {
		t.Errorf("the role is %v", role)
	}
	plain := f.objects[object.Ref{Kind: "ConfigMap", Namespace: "apps", Name: "a"}]
	if of, _, _ := unstructured.NestedString(plain.Object, "data", "of"); of != "others" {
		t.Errorf("the ConfigMap is %v", plain)
	}
}

// What is kept of a definition is written back only where its sum is the one that the
// definition itself carries.
func TestRecoverDefinition(t *testing.T) {
	for _, forged := range []bool{false, true} {
		f, p, _ := oneInstall()
		f.put(thing("Namespace", "", "apps", nil), "kubectl")
		f.put(definition("Made", 0), "kubectl")
		before := f.image()
		p.Steps = p.Steps[1:2]
		p.Steps = append(p.Steps, Step{ID: "await/a", Kind: Await, Part: "a"})
		r := f.runner()
		r.Gate = notHealthy(f, func() {})
		if rep, err := r.Do(t.Context(), p, Options{KeepFailed: true}); err == nil || rep.Result != ResultKeptFailed {
			t.Fatalf("%+v %v", rep, err)
		}
		f.writes = 0
		if forged {
			for _, o := range f.kept {
				_ = unstructured.SetNestedField(o.Object, "https://tenant.example.com", "spec", "conversion", "webhook")
			}
		}
		what, _, err := f.runner().Recover(t.Context(), shopHere, "", Options{})
		if forged {
			if !errors.As(err, new(*TamperedError)) || f.writes > 0 {
				t.Errorf("forged: %s %v after %d writes", what, err, f.writes)
			}
			continue
		}
		if err != nil || what != RecoveredUndone {
			t.Errorf("%s %v", what, err)
		}
		sameImage(t, "restored", f, before)
	}
}

// What was kept and is changed while the run goes on is not written back either.
func TestUndoHoldsWhatWasKept(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(thing("Namespace", "", "apps", nil), "kubectl")
	f.put(thing("ConfigMap", "apps", "a", map[string]any{"data": map[string]any{"of": "others"}}), "kubectl")
	r := f.runner()
	r.Gate = notHealthy(f, func() {
		for _, o := range f.kept {
			_ = unstructured.SetNestedField(o.Object, "forged", "data", "of")
		}
	})
	p.Steps = p.Steps[1:]
	rep, err := r.Do(t.Context(), p, Options{TakeOwnership: true})
	if err == nil || rep.Result != ResultPartlyUndone || !strings.Contains(rep.Left()[0].Note, "was changed") {
		t.Errorf("%+v %v", rep, err)
	}
}
