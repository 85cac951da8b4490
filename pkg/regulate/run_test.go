package regulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// bench is a system with its API server, and who acts on it.
type bench struct {
	api     *fakeAPI
	store   *fakeStore
	sys     *system.System
	targets map[string][][]object.Ref // by app, of each action
	after   map[string][][]object.Ref
	mgrs    map[string][]Manager
	now     time.Time
	clock   sync.Mutex
	runner  func(r *Runner)
	// ended are the events of what ended.
	ended  []journal.Event
	latest time.Time // of the last event: no undo starts before it
}

func testKinds() *object.Kinds {
	return object.NewKinds([]object.Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true},
		{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Namespaced: true},
		{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
		{Group: "shop.test", Version: "v1", Kind: "Basket", Plural: "baskets", Namespaced: true, Custom: true},
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization", Plural: "kustomizations", Namespaced: true, Custom: true},
	})
}

func newBench() *bench {
	api := newFake()
	return &bench{
		api: api, store: &fakeStore{api: api}, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		sys:     &system.System{Name: "shop", Namespace: "shop"},
		targets: map[string][][]object.Ref{}, after: map[string][][]object.Ref{}, mgrs: map[string][]Manager{},
	}
}

func (b *bench) app(name string, actions []system.Action, targets ...[]object.Ref) {
	b.sys.Apps = append(b.sys.Apps, system.App{Name: name, On: map[string][]system.Action{system.Stop: actions}})
	b.targets[name] = targets
}

// tick is the clock of runs, a second later each time; it is asked by many at a time.
func (b *bench) tick() time.Time {
	b.clock.Lock()
	defer b.clock.Unlock()
	b.now = b.now.Add(time.Second)
	return b.now
}

func (b *bench) run(ctx context.Context) *Runner {
	r := &Runner{
		Client: b.api, Store: b.store, Kinds: testKinds(), System: b.sys, Parallel: 1,
		Signals: signals.NewSet([]signals.Signal{{Kind: "Kustomization.kustomize.toolkit.fluxcd.io", Preset: signals.PresetPause, Mode: signals.PauseReconcile, Patch: map[string]any{"spec": map[string]any{"suspend": true}}}}, nil),
		Now:     b.tick,
	}
	r.Events = func(e journal.Event) {
		if e.Kind == journal.EventUndoing && e.At.Before(b.latest) {
			panic(fmt.Sprintf("%s is undone at %s, before %s", e.App, e.At, b.latest))
		}
		b.latest = e.At
		if e.Kind != journal.EventStarted && e.Kind != journal.EventUndoing {
			b.ended = append(b.ended, e)
		}
	}
	if b.runner != nil {
		b.runner(r)
	}
	return r
}

// resolved are the actions of an app as a plan has them.
func (b *bench) resolved(app, signal string) []Resolved {
	a, _ := b.sys.App(app)
	targets := b.targets[app]
	if signal == system.Recover {
		targets = b.after[app]
	}
	var out []Resolved
	for i, act := range a.On[signal] {
		r := Resolved{Index: i, Name: act.Name()}
		if i < len(targets) {
			r.Targets = targets[i]
		}
		out = append(out, r)
	}
	return out
}

// plan is what there is to do so that the apps are held, and no others.
func (b *bench) plan(j *Journal, held ...string) *Plan {
	p := &Plan{}
	for i := range b.sys.Apps {
		app := b.sys.Apps[i].Name
		want := slices.Contains(held, app)
		h, is := j.HoldOf(app, system.Stop)
		s := Step{App: app, Signal: system.Stop, Why: "because"}
		switch {
		case is && h.Phase == Recovering:
			s.Verb, s.Hold, s.Actions = Resume, h.ID, b.resolved(app, system.Recover)
		case is && !want:
			s.Verb, s.Hold, s.Actions = RecoverApp, h.ID, b.resolved(app, system.Recover)
		case is && h.Phase == Stopping:
			s.Verb, s.Hold = Resume, h.ID
		case !is && want:
			s.Verb, s.Actions, s.Managers, s.Causes = Send, b.resolved(app, system.Stop), b.mgrs[app], []Cause{{RequestedBy: "ann"}}
		default:
			continue
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// once is one run; it ends early when the process is killed in it.
func (b *bench) once(t *testing.T, held ...string) (*Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.api.dead, b.api.kill = false, cancel
	j, err := b.store.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return b.run(ctx).Do(ctx, b.plan(j, held...), j)
}

// until runs until the apps are held, and no others, and everything that was begun is ended.
func (b *bench) until(t *testing.T, held ...string) {
	t.Helper()
	var last error
	for range 20 {
		j := b.journal(t)
		if len(b.plan(j, held...).Steps) == 0 {
			return
		}
		_, last = b.once(t, held...)
	}
	t.Fatalf("it does not come to an end with %v held: %v", held, last)
}

func (b *bench) journal(t *testing.T) *Journal {
	t.Helper()
	j, err := b.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// states are those of all operations of open holds: web/preset Deployment.apps/shop/web Done.
func (b *bench) states(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, h := range b.journal(t).Holds {
		for _, o := range h.Operations {
			out = append(out, fmt.Sprintf("%s/%s %s %s", h.App, o.Action, o.Target, o.State))
		}
	}
	return out
}

func (b *bench) sameAs(t *testing.T, want map[string]string) {
	t.Helper()
	got := b.api.image(t)
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			t.Errorf("%s is not as it was:\n%s\nwas\n%s", k, got[k], want[k])
		}
	}
	if len(got) != len(want) {
		t.Errorf("objects %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func ref(group, kind, name string) object.Ref {
	return object.Ref{Group: group, Kind: kind, Namespace: "shop", Name: name}
}

// shop is an app of each action that writes fields, with objects that differ in what is
// there before: mappings that are not, fields that are, owners that apply and that update.
func shop(t testing.TB) *bench {
	b := newBench()
	b.api.add(t, "helm", false, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3, template: {spec: {containers: [{name: web, image: web:1}, {name: side, image: side:1}]}}}}`)
	b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop, annotations: {a/b: c}}, spec: {replicas: 2, paused: false}}`)
	b.api.add(t, "kubectl", true, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: clean, namespace: shop}, spec: {suspend: false, jobTemplate: {spec: {}}}}`)
	b.api.add(t, "kubectl-client-side-apply", false, `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, labels: {tier: front}}, spec: {selector: {app: web}}}`)
	b.api.add(t, "operator", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {big: 9007199254740993, half: 1.0, list: [{name: a, live: true}, {name: b, live: true}]}}`)
	b.api.add(t, "another", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {half: 1.0}}`)
	b.api.add(t, "operator", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: two, namespace: shop}, spec: {size: {count: 4}}}`)
	b.api.add(t, "kubectl", false, `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop, namespace: shop}, spec: {path: ./}}`)
	web, db, basket := ref("apps", "Deployment", "web"), ref("apps", "StatefulSet", "db"), ref("shop.test", "Basket", "one")
	b.app("web", []system.Action{
		{Preset: signals.PresetPause},
		{Annotate: map[string]*string{"example.com/hold": new("true"), "a/b": nil, "none": nil}},
		{Scale: &system.Scale{Replicas: 0}},
		{Label: map[string]*string{"tier": new("held")}},
		{SuspendCronJobs: true},
		{CordonTraffic: true},
		{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": map[string]any{"big": 9007199254740995, "half": 2, "deep": map[string]any{"er": map[string]any{"live": true}}}}}},
		{Patch: &system.Patch{Type: system.JSON, Body: []any{map[string]any{"op": "replace", "path": "/spec/list/1/live", "value": false}}}},
		{Patch: &system.Patch{Type: system.Strategic, Body: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "side", "image": "side:2"}}}}}}}},
	}, []object.Ref{web}, []object.Ref{web, db, basket}, []object.Ref{web, db, ref("shop.test", "Basket", "two")}, []object.Ref{ref("", "Service", "web")},
		[]object.Ref{ref("batch", "CronJob", "clean")}, []object.Ref{ref("", "Service", "web")}, []object.Ref{basket}, []object.Ref{basket}, []object.Ref{web})
	b.mgrs["web"] = []Manager{{Ref: ref("kustomize.toolkit.fluxcd.io", "Kustomization", "shop"), Tool: "flux", Reverts: true}}
	return b
}

func TestStopAndRecover(t *testing.T) {
	b := shop(t)
	before := b.api.image(t)
	if _, err := b.once(t, "web"); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.states(t) {
		if !strings.HasSuffix(s, " Done") {
			t.Error(s)
		}
	}
	held := b.api.image(t)
	for k, want := range map[string][]string{
		"Deployment.apps/shop/web":                            {"paused: true", "replicas: 0", "example.com/hold: \"true\"", "image: side:2", "image: web:1"},
		"StatefulSet.apps/shop/db":                            {"replicas: 0", "example.com/hold: \"true\""},
		"CronJob.batch/shop/clean":                            {"suspend: true"},
		"Service/shop/web":                                    {"tier: held", CordonKey + ": \"true\"", "app: web"},
		"Basket.shop.test/shop/one":                           {"big: 9007199254740995", "half: 2", "er:\n      live: true", "live: false", "live: true"},
		"Basket.shop.test/shop/two":                           {"count: 0"},
		"Kustomization.kustomize.toolkit.fluxcd.io/shop/shop": {"suspend: true"},
	} {
		for _, w := range want {
			if !strings.Contains(held[k], w) {
				t.Errorf("%s has no %q:\n%s", k, w, held[k])
			}
		}
	}
	if strings.Contains(held["StatefulSet.apps/shop/db"], "a/b: c") {
		t.Error("the annotation of db is there still")
	}
	if out, err := b.once(t); err != nil || len(out.Failed) > 0 {
		t.Fatal(err, out)
	}
	b.sameAs(t, before)
	j := b.journal(t)
	if len(j.Holds) != 0 || len(j.History) != 2 || j.History[0].Result != "held: 14 Done" || j.History[1].Result != "recovered: 14 Undone" {
		t.Errorf("holds %v, history %+v", j.Holds, j.History)
	}
	// The managers come first and go last.
	if first, last := b.ended[0], b.ended[len(b.ended)-1]; first.Action != suspendAction || last.Action != suspendAction {
		t.Errorf("first %+v, last %+v", first, last)
	}
}

// Wherever the process is killed, on the way down or on the way back, the next run resumes,
// nothing is done twice, and in the end everything is as it was.
func TestKilledAnywhere(t *testing.T) {
	for _, parallel := range []int{1, 8} {
		for n := 1; ; n++ {
			b := shop(t)
			b.runner = func(r *Runner) { r.Parallel = parallel }
			before := b.api.image(t)
			killed := false
			b.api.fault = func(i int, _ string) fate {
				killed = killed || i == n
				return fate{kill: i == n}
			}
			b.until(t, "web")
			b.until(t)
			b.sameAs(t, before)
			// Of an object with one operation: as it was, held, as it was.
			for _, to := range []Target{{APIVersion: "batch/v1", Kind: "CronJob", Namespace: "shop", Name: "clean"}, {APIVersion: "shop.test/v1", Kind: "Basket", Namespace: "shop", Name: "two"}} {
				if got := b.api.timesSeen(to); got != 3 {
					t.Errorf("kill at write %d: %s was %d times another: %v", n, to, got, b.api.past[to.String()])
				}
			}
			if h := b.journal(t).History; len(h) != 2 {
				t.Errorf("kill at write %d: history %+v", n, h)
			}
			if t.Failed() {
				t.Fatalf("killed at write %d, parallel %d", n, parallel)
			}
			if !killed {
				t.Logf("parallel %d: killed at each of %d writes", parallel, n-1)
				break
			}
		}
	}
}

// Killed while it stops, and then nobody wants it held any more.
func TestKilledAndCalledOff(t *testing.T) {
	for n := 1; ; n++ {
		b := shop(t)
		before := b.api.image(t)
		killed := false
		b.api.fault = func(i int, _ string) fate {
			killed = killed || i == n
			return fate{kill: i == n}
		}
		if _, err := b.once(t, "web"); err == nil && !killed {
			break
		}
		b.until(t)
		b.sameAs(t, before)
		if t.Failed() {
			t.Fatalf("killed at write %d", n)
		}
	}
}

// Every write fails once, with an effect or without; and each is in conflict once.
func TestFaults(t *testing.T) {
	internal := apierrors.NewInternalError(fmt.Errorf("etcd"))
	conflict := apierrors.NewConflict(schema.GroupResource{}, "x", fmt.Errorf("modified"))
	for name, of := range map[string]fate{
		"before":   {before: internal},
		"after":    {after: internal},
		"conflict": {before: conflict},
		"broken":   {after: fmt.Errorf("connection reset")},
		"busy":     {before: apierrors.NewTooManyRequests("later", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := shop(t)
				before := b.api.image(t)
				times := map[string]int{}
				b.api.fault = func(_ int, what string) fate {
					times[what]++
					if what == "journal" || times[what]%2 == 0 {
						return fate{}
					}
					return of
				}
				for _, held := range [][]string{{"web"}, {}} {
					if _, err := b.once(t, held...); err != nil {
						t.Fatal(err)
					}
				}
				b.sameAs(t, before)
			})
		})
	}
}

// An API server that stays away ends the run; the next one goes on.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := shop(t)
		before := b.api.image(t)
		away := true
		b.api.fault = func(_ int, what string) fate {
			if away && strings.HasPrefix(what, "patch StatefulSet") {
				return fate{before: fmt.Errorf("connection refused")}
			}
			return fate{}
		}
		_, err := b.once(t, "web")
		if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "the next run resumes") {
			t.Fatal(err)
		}
		if h := b.journal(t).Holds; len(h) != 1 || h[0].Phase != Stopping {
			t.Fatalf("%+v", h)
		}
		away = false
		b.until(t, "web")
		b.until(t)
		b.sameAs(t, before)
	})
}

// What the API server refuses fails the hold, and what was done of it is taken back.
func TestRefusedHalfWay(t *testing.T) {
	for _, what := range []string{"Deployment.apps/shop/web", "StatefulSet.apps/shop/db", "CronJob.batch/shop/clean", "Basket.shop.test/shop/two", "Service/shop/web"} {
		b := shop(t)
		before := b.api.image(t)
		b.api.fault = func(_ int, at string) fate {
			if at == "patch "+what {
				return fate{before: apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "web", fmt.Errorf("no"))}
			}
			return fate{}
		}
		out, err := b.once(t, "web")
		if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, "forbidden") {
			t.Fatalf("%s: %v %+v", what, err, out.Failed)
		}
		b.sameAs(t, before)
		j := b.journal(t)
		if len(j.Holds) > 0 || j.AppRecords["web"].Refused.IsZero() || !strings.Contains(j.History[len(j.History)-1].Result, "failed: ") {
			t.Errorf("%s: %+v %+v", what, j.Holds, j.History)
		}
	}
}

// What somebody changed since is left alone and said, unless forced.
func TestChangedSince(t *testing.T) {
	for _, force := range []bool{false, true} {
		b := shop(t)
		before := b.api.image(t)
		b.until(t, "web")
		to := Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
		b.api.change(t, to, "ann", int64(7), "spec", "replicas")
		b.runner = func(r *Runner) { r.Force = force }
		out, err := b.once(t)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := patch.Lookup(b.api.objects[to.String()].Object, []string{"spec", "replicas"})
		if force {
			b.sameAs(t, before)
			continue
		}
		if got != int64(7) || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, "changed by someone else") {
			t.Errorf("replicas %v, %+v", got, out.Failed)
		}
		if _, paused := patch.Lookup(b.api.objects[to.String()].Object, []string{"spec", "paused"}); paused {
			t.Error("what nobody changed was left as well")
		}
	}
}

// What was so before is not ours, nor what is gone.
func TestAlreadyAndGone(t *testing.T) {
	b := newBench()
	b.api.add(t, "ann", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {paused: true}}`)
	gone := b.api.add(t, "ann", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: gone, namespace: shop}, spec: {replicas: 1}}`)
	b.app("web", []system.Action{{Preset: signals.PresetPause}}, []object.Ref{ref("apps", "Deployment", "web"), ref("apps", "Deployment", "gone")})
	before := b.api.image(t)
	b.until(t, "web")
	if got, want := b.states(t), []string{"web/preset Deployment.apps/shop/web Already", "web/preset Deployment.apps/shop/gone Done"}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
	delete(b.api.objects, gone.String())
	delete(before, gone.String())
	out, err := b.once(t)
	if err != nil || len(out.Done) != 1 || out.Done[0].Result != "it is gone" {
		t.Fatal(err, out)
	}
	b.sameAs(t, before)
}

// Holds that want the same fields end in any order, and everything is as it was.
func TestSharedTargets(t *testing.T) {
	build := func(t *testing.T) *bench {
		b := newBench()
		b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3, paused: false}}`)
		b.api.add(t, "operator", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {x: 1}}`)
		web, one := []object.Ref{ref("apps", "Deployment", "web")}, []object.Ref{ref("shop.test", "Basket", "one")}
		for i, app := range []string{"a", "b", "c"} {
			deep := map[string]any{app: true, "same": i / 2}
			b.app(app, []system.Action{
				{Preset: signals.PresetPause},
				{Scale: &system.Scale{Replicas: int32(2 - i)}},
				{Annotate: map[string]*string{"held": new("true"), app: new("x")}},
				{Patch: &system.Patch{Type: system.Merge, Body: map[string]any{"spec": map[string]any{"deep": deep, "x": 5 * (i % 2)}}}},
			}, web, web, web, one)
		}
		return b
	}
	apps := []string{"a", "b", "c"}
	orders := [][]string{{"a", "b", "c"}, {"a", "c", "b"}, {"b", "a", "c"}, {"b", "c", "a"}, {"c", "a", "b"}, {"c", "b", "a"}}
	for _, order := range orders {
		b := build(t)
		before := b.api.image(t)
		for i := range apps {
			b.until(t, apps[:i+1]...)
		}
		left := slices.Clone(apps)
		for _, app := range order {
			left = slices.DeleteFunc(left, func(s string) bool { return s == app })
			b.until(t, left...)
			if n, _ := patch.Lookup(b.api.objects["Deployment.apps/shop/web"].Object, []string{"spec", "paused"}); n != (len(left) > 0) {
				t.Errorf("%v: paused is %v with %v held", order, n, left)
			}
		}
		b.sameAs(t, before)
		if t.Failed() {
			t.Fatal(order)
		}
	}
}

// A server-side apply of who owned the fields meets no conflict afterwards.
func TestOwnersApplyAgain(t *testing.T) {
	b := shop(t)
	b.until(t, "web")
	b.until(t)
	b.api.add(t, "argocd", true, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop, annotations: {a/b: c2}}, spec: {replicas: 5, paused: true}}`)
	b.api.add(t, "kubectl", true, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: clean, namespace: shop}, spec: {suspend: true, jobTemplate: {spec: {}}}}`)
}

// What the API server fills in where a mapping was made goes with the mapping, also when the
// answer of the write was lost.
func TestFilledIn(t *testing.T) {
	for n := range 6 {
		b := shop(t)
		before := b.api.image(t)
		b.api.defaults = func(o map[string]any) {
			if _, ok := patch.Lookup(o, []string{"spec", "deep", "er", "live"}); ok {
				patch.Put(o, []string{"spec", "deep", "er", "more", "mode"}, "fast")
			}
		}
		seen := 0
		b.api.fault = func(_ int, what string) fate {
			if what != "patch Basket.shop.test/shop/one" {
				return fate{}
			}
			seen++
			return fate{kill: seen == n}
		}
		b.until(t, "web")
		if held := b.api.image(t)["Basket.shop.test/shop/one"]; !strings.Contains(held, "mode: fast") {
			t.Fatal(held)
		}
		b.until(t)
		b.sameAs(t, before)
	}
}

func TestParallelIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := many(t, 60)
		b.api.slow = 10 * time.Millisecond
		b.runner = func(r *Runner) { r.Parallel = 7 }
		before := b.api.image(t)
		began := time.Now()
		b.until(t, "web")
		if b.api.most != 7 {
			t.Errorf("%d writes at a time, want 7", b.api.most)
		}
		if took := time.Since(began); took != 90*time.Millisecond {
			t.Errorf("60 writes of 10 ms, 7 at a time, took %s", took)
		}
		if b.store.saves != 3 {
			t.Errorf("%d writes of the journal", b.store.saves)
		}
		b.until(t)
		b.sameAs(t, before)
	})
}

func many(t testing.TB, n int) *bench {
	b := newBench()
	var refs []object.Ref
	for i := range n {
		name := fmt.Sprintf("web-%03d", i)
		b.api.add(t, "argocd", true, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop}, spec: {replicas: 3, template: {spec: {containers: [{name: web, image: web:1}]}}}}`, name))
		refs = append(refs, ref("apps", "Deployment", name))
	}
	b.app("web", []system.Action{{Preset: signals.PresetPause}}, refs)
	return b
}

func BenchmarkStop200(b *testing.B) {
	for b.Loop() {
		w := many(b, 200)
		for _, held := range [][]string{{"web"}, {}} {
			w.api.kill = func() {}
			j, err := w.store.Load(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := w.run(b.Context()).Do(b.Context(), w.plan(j, held...), j); err != nil {
				b.Fatal(err)
			}
		}
		if len(w.api.objects) != 200 {
			b.Fatal("objects are gone")
		}
	}
}

// In a dry run nothing is kept, the journal neither.
func TestDryRun(t *testing.T) {
	b := shop(t)
	before := b.api.image(t)
	b.runner = func(r *Runner) { r.DryRun = true }
	out, err := b.once(t, "web")
	if err != nil || len(out.Done) != 14 || b.store.saves != 0 {
		t.Errorf("%v: %d done, %d saves", err, len(out.Done), b.store.saves)
	}
	b.sameAs(t, before)
}

// Numbers come back from a journal as they went in.
func TestChangeJSON(t *testing.T) {
	c := patch.Change{Path: "/a", ExistedBefore: true, Before: int64(9007199254740993), ExistsAfter: true, After: map[string]any{"n": int64(1), "f": 1.5}}
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var got patch.Change
	if err := json.Unmarshal(doc, &got); err != nil || got.Before != c.Before || !patch.Equal(got.After, c.After) {
		t.Errorf("%+v, %v", got, err)
	}
}
