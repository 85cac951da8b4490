package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wish is a world, and what is wanted of it: random, but the same for the same seed.
type wish struct {
	own        string
	namespaces []string
	defs       map[string]int // version wanted
	releases   map[string]int // version wanted; 0 to be removed
	charts     map[string]*chart.Chart
	hooked     map[string]bool
}

func thing(kind, ns, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	maps.Copy(o.Object, fields)
	o.SetNamespace(ns)
	o.SetName(name)
	return o
}

func definition(name string, version int) *unstructured.Unstructured {
	o := thing("CustomResourceDefinition", "", name+".example.com", map[string]any{"spec": map[string]any{
		"group": "example.com", "names": map[string]any{"kind": name},
		"versions": []any{map[string]any{"name": "v1", "served": true, "schema": fmt.Sprint(version)}},
	}})
	o.SetAPIVersion("apiextensions.k8s.io/v1")
	return o
}

func bodies(name string, version int) []*unstructured.Unstructured {
	same := thing("ConfigMap", "apps", name, map[string]any{"data": map[string]any{"version": fmt.Sprint(version)}})
	only := thing("ConfigMap", "apps", fmt.Sprint(name, "-", version), nil)
	stays := thing("PersistentVolumeClaim", "apps", name, map[string]any{"spec": map[string]any{"size": "1"}})
	annotate(stays, helm.PolicyAnnotation, "keep")
	return []*unstructured.Unstructured{same, only, stays}
}

// newWish makes a world with things of others in it, and wishes for it.
func newWish(seed uint64) (*fakeCluster, *wish) {
	random := rand.New(rand.NewPCG(seed, 8))
	w := &wish{own: "shop", namespaces: []string{"shop", "apps"}, defs: map[string]int{}, releases: map[string]int{}, charts: map[string]*chart.Chart{}, hooked: map[string]bool{}}
	f := newFake(w.own)
	f.charts, f.hooks = map[*chart.Chart][]*unstructured.Unstructured{}, map[*chart.Chart][]*unstructured.Unstructured{}
	for _, ns := range []string{"shop", "apps", "others"} {
		if ns == "others" || random.IntN(2) == 0 {
			f.put(thing("Namespace", "", ns, nil), "kubectl")
			f.put(thing("ConfigMap", ns, "foreign", map[string]any{"data": map[string]any{"of": "others"}}), "kubectl")
		}
	}
	_, there := f.objects[namespaceRef("apps")]
	for _, name := range []string{"Kept", "Made", "Left"} {
		if random.IntN(3) > 0 {
			w.defs[name] = 2
		}
		if random.IntN(2) == 0 {
			f.put(definition(name, 1+random.IntN(2)), "kubectl")
		}
	}
	h := fakeHelm{f}
	for _, name := range []string{"a", "b", "c"} {
		for v := 1; v <= 3; v++ {
			c := &chart.Chart{Digest: fmt.Sprint(name, v)}
			w.charts[c.Digest] = c
			f.charts[c] = bodies(name, v)
			if w.hooked[name] = random.IntN(2) == 0; w.hooked[name] {
				f.hooks[c] = []*unstructured.Unstructured{thing("Job", "apps", name+"-hook", nil)}
			}
		}
		w.releases[name] = random.IntN(4)
		if there && random.IntN(2) == 0 {
			c := &chart.Chart{}
			f.charts[c] = bodies(name, 1)
			n := helm.ReleaseName{Name: name, Namespace: "apps"}
			if err := h.Install(context.Background(), helm.ReleaseSpec{Release: n, Chart: c, Marks: helm.RecordLabels{Run: "former"}}); err != nil {
				panic(err)
			}
		}
	}
	f.writes = 0
	return f, w
}

// plan says what is to be done for a wish, over what is there.
func (w *wish) plan(f *fakeCluster) *Plan {
	p := &Plan{Installation: Installation{Name: "shop", Namespace: w.own}, Action: Install, Fingerprint: "wish"}
	for _, ns := range w.namespaces {
		if _, ok := f.objects[namespaceRef(ns)]; !ok {
			p.Steps = append(p.Steps, Step{ID: "namespace/" + ns, Kind: MakeNamespace, Namespace: ns})
		}
	}
	var defs []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(w.defs)) {
		d := definition(name, w.defs[name])
		if is, ok := f.objects[object.RefOf(d)]; !ok || fmt.Sprint(is.Object["spec"]) != fmt.Sprint(d.Object["spec"]) {
			defs = append(defs, d)
		}
	}
	if len(defs) > 0 {
		p.Steps = append(p.Steps, Step{ID: "definitions", Kind: ApplyDefinitions, Definitions: defs})
	}
	for _, name := range slices.Sorted(maps.Keys(w.releases)) {
		n := helm.ReleaseName{Name: name, Namespace: "apps"}
		want := w.releases[name]
		s := Step{ID: "release/" + n.String(), Part: name, Release: name, Namespace: "apps"}
		is, ok := deployed(f.records[n])
		s.Was = is.Revision
		switch {
		case !ok && want == 0:
			continue
		case want == 0:
			s.Kind = RemoveRelease
		case !ok:
			s.Kind = InstallRelease
		case slices.Contains(is.Objects, object.RefOf(bodies(name, want)[1])):
			continue
		default:
			s.Kind = UpgradeRelease
		}
		if want > 0 {
			part := &Part{Name: name, App: true, Release: name, Namespace: "apps", Chart: w.charts[fmt.Sprint(name, want)]}
			part.Rendered = &chart.Rendered{Objects: bodies(name, want)}
			for _, o := range f.hooks[part.Chart] {
				part.Rendered.Hooks = append(part.Rendered.Hooks, chart.Hook{Object: o, Events: []string{"pre-install", "pre-upgrade"}})
			}
			p.Parts = append(p.Parts, part)
		}
		p.Steps = append(p.Steps, s, Step{ID: "await/" + name, Kind: Await, Part: name})
	}
	return p
}

// image is what the cluster is like, but for what each write changes.
func (f *fakeCluster) image() map[string]string {
	out := map[string]string{}
	for ref, o := range f.objects {
		c := content(o)
		unstructured.RemoveNestedField(c, "metadata", "annotations", RunAnnotation)
		unstructured.RemoveNestedField(c, "metadata", "annotations", InstallLabel)
		if o.GetAnnotations()[BeforeAnnotation] != "" { // with another id in each run
			_ = unstructured.SetNestedField(c, "by a run", "metadata", "annotations", BeforeAnnotation)
		}
		if a, _, _ := unstructured.NestedMap(c, "metadata", "annotations"); len(a) == 0 {
			unstructured.RemoveNestedField(c, "metadata", "annotations")
		}
		out[ref.String()] = fmt.Sprint(c)
	}
	for n, list := range f.records {
		if len(list) == 0 {
			continue
		}
		last := list[len(list)-1]
		out["release "+n.String()] = fmt.Sprint(last.Status, last.Objects, last.Kept)
	}
	return out
}

// others are the versions of what nobody may touch.
func (f *fakeCluster) others() map[object.Ref]string {
	out := map[object.Ref]string{}
	for ref, o := range f.objects {
		if ref.Name == "foreign" || ref.Name == "others" {
			out[ref] = o.GetResourceVersion()
		}
	}
	return out
}

// survives does something that a process may be killed in.
func survives(do func() error) (dead bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			dead = true
		}
	}()
	return false, do()
}

func sameImage(t *testing.T, label string, f *fakeCluster, want map[string]string) {
	t.Helper()
	got := f.image()
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%s: %s is\n %s, want\n %s", label, k, got[k], want[k])
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %s is there: %s", label, k, got[k])
		}
	}
	if len(f.kept) > 0 {
		t.Errorf("%s: kept for nothing: %v", label, slices.Sorted(maps.Keys(f.kept)))
	}
	if j, err := f.Load(context.Background()); err != nil || j.Run != nil {
		t.Errorf("%s: the journal: %+v %v", label, j.Run, err)
	}
}

// A run that fails, is interrupted or is killed at any write leaves the cluster as it was, or
// as it was wanted, and never touches what is another's.
func TestRunnerAllOrNothing(t *testing.T) {
	for seed := range uint64(16) {
		f, w := newWish(seed)
		before, others := f.image(), f.others()
		p := w.plan(f)
		if rep, err := f.runner().Do(t.Context(), p, Options{}); err != nil || rep.Result != ResultDone {
			t.Fatalf("seed %d: %+v %v", seed, rep, err)
		}
		after, total := f.image(), f.writes
		sameImage(t, fmt.Sprintf("seed %d, done", seed), f, after)
		if len(w.plan(f).Steps) > 0 {
			t.Fatalf("seed %d: steps are left: %+v", seed, w.plan(f).Steps)
		}
		for at := 1; at <= total; at++ {
			for _, what := range []string{"before", "after", "fail", "cancel"} {
				label := fmt.Sprintf("seed %d, %s write %d of %d", seed, what, at, total)
				one(t, label, seed, at, what, before, after, others)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// one runs a plan at one of whose writes something happens, and then cleans up.
func one(t *testing.T, label string, seed uint64, at int, what string, before, after map[string]string, others map[object.Ref]string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(at)))
	f, w := newWish(seed)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.at, f.what, f.cancel = at, what, cancel
	p := w.plan(f)
	var rep Report
	dead, err := survives(func() (err error) { rep, err = f.runner().Do(ctx, p, Options{}); return err })
	if !dead {
		failed := new(FailedError)
		switch {
		case err == nil && rep.Result == ResultDone:
			sameImage(t, label+", done", f, after)
		case errors.As(err, &failed) && failed.Result == ResultUnfinished:
			dead = true // the journal says what is left to do
		case errors.As(err, &failed) && failed.Result != ResultUndone:
			t.Errorf("%s: %s %v", label, failed.Result, err)
		default:
			sameImage(t, fmt.Sprintf("%s: %v", label, err), f, before)
		}
	}
	if dead {
		goOn(t, label, random, f, w, before, after)
	}
	if got := f.others(); !maps.Equal(got, others) {
		t.Errorf("%s: others' objects were touched: %v, want %v", label, got, others)
	}
}

// goOn recovers a run that was killed, and is killed again a few times.
func goOn(t *testing.T, label string, random *rand.Rand, f *fakeCluster, w *wish, before, after map[string]string) {
	t.Helper()
	again := random.IntN(2) == 0
	committed := false
	for kills := random.IntN(3); ; kills-- {
		f.writes, f.at = 0, 0
		if kills > 0 {
			f.at, f.what = 1+random.IntN(12), []string{"before", "after"}[random.IntN(2)]
		}
		fingerprint := ""
		if again {
			fingerprint = "wish"
		}
		var what Recovery
		dead, err := survives(func() (err error) {
			what, _, err = f.runner().Recover(context.Background(), Installation{Name: "shop", Namespace: w.own}, fingerprint, Options{})
			return err
		})
		if dead {
			continue
		}
		committed = committed || what == RecoveredDone
		if err != nil || what == RecoveredPartly {
			j, _ := f.Load(context.Background())
			t.Errorf("%s: recovered %s: %v; past %+v", label, what, err, j.Runs)
			return
		}
		if !again {
			if want := before; !committed && what != RecoveredNothing || what == RecoveredUndone {
				sameImage(t, label+", recovered "+string(what), f, want)
			} else if got := f.image(); !maps.Equal(got, before) && !maps.Equal(got, after) {
				t.Errorf("%s: neither before nor after: %v", label, got)
			}
			return
		}
		dead, err = survives(func() (err error) { _, err = f.runner().Do(context.Background(), w.plan(f), Options{}); return err })
		if dead {
			continue
		}
		if err != nil {
			t.Errorf("%s: gone on: %v", label, err)
			return
		}
		sameImage(t, label+", gone on", f, after)
		return
	}
}
