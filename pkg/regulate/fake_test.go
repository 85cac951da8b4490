package regulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// fakeAPI is an API server in memory: resourceVersions are preconditions, managedFields are
// kept by the code that an API server keeps them with, and anything may fail.
type fakeAPI struct {
	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured
	version int
	// requests counts what writes, in the order of arrival; fault says what becomes of each.
	requests int
	fault    func(n int, what string) fate
	dead     bool   // the process that talks to it was killed
	kill     func() // kills it
	defaults func(o map[string]any)
	scaled   func(n int64) int64 // what becomes of a number, to the server
	// past is what the objects were like, one after another, besides what the server writes.
	past           map[string][]string
	inFlight, most int
	slow           time.Duration
}

// fate is what becomes of a write.
type fate struct {
	before, after error // before it has an effect, and after
	kill          bool  // after it
}

func newFake() *fakeAPI {
	return &fakeAPI{objects: map[string]*unstructured.Unstructured{}, past: map[string][]string{}}
}

var errKilled = errors.New("killed")

// arrive counts a write, and says what becomes of it.
func (f *fakeAPI) arrive(ctx context.Context, what string) (fate, error) {
	if f.dead || ctx.Err() != nil {
		return fate{}, cmpErr(ctx.Err(), errKilled)
	}
	f.requests++
	if f.fault == nil {
		return fate{}, nil
	}
	ft := f.fault(f.requests, what)
	return ft, ft.before
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (f *fakeAPI) leave(ft fate) error {
	if ft.kill {
		f.dead = true
		f.kill()
		return errKilled
	}
	return ft.after
}

func (f *fakeAPI) busy() func() {
	f.mu.Lock()
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	f.mu.Unlock()
	if f.slow > 0 {
		time.Sleep(f.slow)
	}
	return func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
	}
}

func notFound(t Target) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: t.Resource}, t.Name)
}

func (f *fakeAPI) Get(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead || ctx.Err() != nil {
		return nil, cmpErr(ctx.Err(), errKilled)
	}
	o, ok := f.objects[t.bare().String()]
	if !ok {
		return nil, notFound(t)
	}
	if t.Subresource == scaleSubresource {
		return scaleOf(o, true)
	}
	return o.DeepCopy(), nil
}

var replicasOf = managedfields.ResourcePathMappings{
	"apps/v1":          fieldpath.MakePathOrDie("spec", "replicas"),
	"shop.test/v1":     fieldpath.MakePathOrDie("spec", "size", "count"),
	"sysop.test/v1":    fieldpath.MakePathOrDie("spec", "replicas"),
	"operator.test/v1": nil,
}

func replicasAt(o *unstructured.Unstructured) []string {
	at, _ := names(replicasOf[o.GetAPIVersion()])
	return at
}

func scaleOf(o *unstructured.Unstructured, mustBe bool) (*unstructured.Unstructured, error) {
	n, ok := patch.Lookup(o.Object, replicasAt(o))
	if !ok && mustBe {
		return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", "."+strings.Join(replicasAt(o), ".")))
	}
	if !ok {
		n = int64(-2147483648)
	}
	spec := map[string]any{}
	if !patch.Equal(n, 0) { // omitempty
		spec["replicas"] = n
	}
	s := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": spec,
		"metadata": map[string]any{"name": o.GetName(), "namespace": o.GetNamespace(), "uid": string(o.GetUID()), "resourceVersion": o.GetResourceVersion()},
	}}
	gv, _ := schema.ParseGroupVersion(o.GetAPIVersion())
	entries, err := managedfields.NewScaleHandler(o.GetManagedFields(), gv, replicasOf).ToSubresource()
	if err != nil {
		return nil, err
	}
	s.SetManagedFields(entries)
	return s, nil
}

func (f *fakeAPI) Patch(ctx context.Context, t Target, pt types.PatchType, body []byte, w WriteOptions) (*unstructured.Unstructured, error) {
	defer f.busy()()
	f.mu.Lock()
	defer f.mu.Unlock()
	ft, err := f.arrive(ctx, "patch "+t.String())
	if err != nil {
		return nil, err
	}
	live, ok := f.objects[t.bare().String()]
	if !ok {
		return nil, notFound(t)
	}
	seen := live
	if t.Subresource == scaleSubresource {
		if seen, err = scaleOf(live, false); err != nil {
			return nil, err
		}
	}
	now, err := applyPatch(seen, pt, body)
	if err != nil {
		return nil, apierrors.NewInvalid(t.gvk().GroupKind(), t.Name, nil)
	}
	if now.GetResourceVersion() != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: t.Resource}, t.Name, errors.New("the object has been modified"))
	}
	if n, _ := patch.Lookup(now.Object, []string{"spec", "replicas"}); t.Subresource == scaleSubresource && patch.Equal(n, 0) {
		patch.Remove(now.Object, []string{"spec", "replicas"}, 0)
	}
	if n, _ := patch.Lookup(now.Object, []string{"spec", "replicas"}); f.scaled != nil && t.Subresource == scaleSubresource {
		patch.Put(now.Object, []string{"spec", "replicas"}, f.scaled(n.(int64)))
	}
	if f.defaults != nil && t.Subresource == "" {
		f.defaults(now.Object)
	}
	now, err = managed(seen, now, w.manager(), t.Subresource)
	if err != nil {
		return nil, err
	}
	answer := now
	if t.Subresource == scaleSubresource {
		n, ok := patch.Lookup(now.Object, []string{"spec", "replicas"})
		if !ok {
			n = int64(0)
		}
		main := live.DeepCopy()
		patch.Put(main.Object, replicasAt(main), n)
		gv, _ := schema.ParseGroupVersion(main.GetAPIVersion())
		entries, err := managedfields.NewScaleHandler(main.GetManagedFields(), gv, replicasOf).ToParent(now.GetManagedFields())
		if err != nil {
			return nil, err
		}
		main.SetManagedFields(entries)
		now = main
	}
	if !w.DryRun {
		f.keep(t, now)
		if answer != now {
			answer.SetResourceVersion(now.GetResourceVersion())
		}
	}
	if err := f.leave(ft); err != nil {
		return nil, err
	}
	return answer.DeepCopy(), nil
}

func applyPatch(o *unstructured.Unstructured, pt types.PatchType, body []byte) (*unstructured.Unstructured, error) {
	if pt == types.JSONPatchType {
		return applyJSON(o, body)
	}
	var wanted map[string]any
	if err := utiljson.Unmarshal(body, &wanted); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: patch.Merge(patch.Copy(o.Object), wanted)}, nil
}

func applyJSON(o *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, error) {
	ops, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	doc, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	if doc, err = ops.Apply(doc); err != nil {
		return nil, err
	}
	var m map[string]any
	if err := utiljson.Unmarshal(doc, &m); err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: m}
	for _, k := range []string{"annotations", "labels"} {
		if v, ok := patch.Lookup(m, []string{"metadata", k}); ok && patch.Equal(v, map[string]any{}) {
			patch.Remove(m, []string{"metadata", k}, 0)
		}
	}
	return out, nil
}

// keep stores an object; one that is no other than before keeps its version.
func (f *fakeAPI) keep(t Target, o *unstructured.Unstructured) {
	key := t.bare().String()
	if was, ok := f.objects[key]; ok && patch.Equal(was.Object, o.Object) {
		return
	}
	f.version++
	o.SetResourceVersion(strconv.Itoa(f.version))
	f.objects[key] = o
	b, _ := json.Marshal(plain(o.Object, false))
	if p := f.past[key]; len(p) == 0 || p[len(p)-1] != string(b) {
		f.past[key] = append(p, string(b))
	}
}

func managed(live, now *unstructured.Unstructured, manager, subresource string) (*unstructured.Unstructured, error) {
	fm, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), plainly{}, plainly{}, plainly{},
		now.GroupVersionKind(), now.GroupVersionKind().GroupVersion(), subresource, nil)
	if err != nil {
		return nil, err
	}
	return asObject(fm.Update(live, now, manager))
}

func asObject(o runtime.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	return o.(*unstructured.Unstructured), nil
}

// plainly converts nothing, and fills in nothing.
type plainly struct{}

func (plainly) Convert(_, _, _ any) error { return nil }
func (plainly) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (plainly) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", errors.New("not asked for")
}
func (plainly) Default(runtime.Object) {}
func (plainly) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (f *fakeAPI) Create(ctx context.Context, t Target, o *unstructured.Unstructured, w WriteOptions) (*unstructured.Unstructured, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ft, err := f.arrive(ctx, "create "+t.String())
	if err != nil {
		return nil, err
	}
	if _, ok := f.objects[t.String()]; ok {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: t.Resource}, t.Name)
	}
	if !w.DryRun {
		o = o.DeepCopy()
		o.SetUID(types.UID("uid-" + t.Name + "-" + strconv.Itoa(f.version)))
		f.keep(t, o)
	}
	if err := f.leave(ft); err != nil {
		return nil, err
	}
	return o, nil
}

func (f *fakeAPI) Delete(ctx context.Context, t Target, w WriteOptions) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	ft, err := f.arrive(ctx, "delete "+t.String())
	if err != nil {
		return err
	}
	if _, ok := f.objects[t.String()]; !ok {
		return notFound(t)
	}
	if !w.DryRun {
		delete(f.objects, t.String())
	}
	return f.leave(ft)
}

// add makes objects out of YAML, each written by a manager (Update, or Apply).
func (f *fakeAPI) add(t testing.TB, manager string, apply bool, doc string) Target {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	v, err := patch.Normal(m)
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: v.(map[string]any)}
	to := Target{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	fm, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), plainly{}, plainly{}, plainly{},
		o.GroupVersionKind(), o.GroupVersionKind().GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	live, ok := f.objects[to.String()]
	if !ok {
		live = &unstructured.Unstructured{Object: map[string]any{"apiVersion": to.APIVersion, "kind": to.Kind}}
	}
	var done *unstructured.Unstructured
	if apply {
		done, err = asObject(fm.Apply(live, o, manager, false))
	} else {
		if ok {
			o.SetManagedFields(live.GetManagedFields())
		}
		done, err = asObject(fm.Update(live, o, manager))
	}
	if err != nil {
		t.Fatalf("%s of %s by %s: %v", map[bool]string{true: "apply", false: "update"}[apply], to, manager, err)
	}
	if !ok {
		done.SetUID(types.UID("uid-" + to.Name))
	} else {
		done.SetUID(live.GetUID())
	}
	f.keep(to, done)
	return to
}

// change is somebody else's update of one field.
func (f *fakeAPI) change(t testing.TB, to Target, manager string, value any, at ...string) {
	t.Helper()
	o := f.objects[to.bare().String()].DeepCopy()
	patch.Put(o.Object, at, value)
	done, err := managed(f.objects[to.bare().String()], o, manager, "")
	if err != nil {
		t.Fatal(err)
	}
	f.keep(to, done)
}

// image is all objects, but what each write changes.
func (f *fakeAPI) image(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for k, o := range f.objects {
		o = o.DeepCopy()
		unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
		b, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		out[k] = string(b)
	}
	return out
}

// fakeStore keeps a journal as JSON; its writes are writes of the API server.
type fakeStore struct {
	api     *fakeAPI
	doc     []byte
	version int
	saves   int
}

func (s *fakeStore) Load(context.Context) (*Journal, error) {
	j := &Journal{System: "shop", Namespace: "shop"}
	j.SetVersion(strconv.Itoa(s.version))
	if s.doc != nil {
		if err := json.Unmarshal(s.doc, j); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (s *fakeStore) Save(ctx context.Context, j *Journal) error {
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	ft, err := s.api.arrive(ctx, "journal")
	if err != nil {
		return err
	}
	if j.Version() != strconv.Itoa(s.version) {
		return errors.New("conflict")
	}
	if err := j.valid(); err != nil {
		return fmt.Errorf("a journal that could not be read: %w", err)
	}
	if s.doc, err = json.Marshal(j); err != nil {
		return err
	}
	s.version++
	s.saves++
	j.SetVersion(strconv.Itoa(s.version))
	return s.api.leave(ft)
}

// timesSeen says how often an object changed, to and fro.
func (f *fakeAPI) timesSeen(to Target) int { return len(f.past[to.bare().String()]) }
