package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// killed is what a write panics with that the process does not survive.
type killed struct{}

// fakeCluster is a cluster, Helm on it, and the journal: every write of them is one that a
// process may be killed before or after, or that may fail.
type fakeCluster struct {
	objects map[object.Ref]*unstructured.Unstructured
	records map[helm.ReleaseName][]helm.Record
	bodies  map[string][]*unstructured.Unstructured // of a record: name and revision
	journal []byte
	version int
	kept    map[string]*unstructured.Unstructured
	charts  map[*chart.Chart][]*unstructured.Unstructured
	hooks   map[*chart.Chart][]*unstructured.Unstructured
	own     string // namespace of the journal
	idle    bool   // no controller looks at StatefulSets
	clock   int

	writes int
	// at is the number of the write that something happens at: "before" and "after" kill,
	// "fail" has it fail, "cancel" ends the context.
	at     int
	what   string
	cancel func()
}

func newFake(own string) *fakeCluster {
	return &fakeCluster{
		objects: map[object.Ref]*unstructured.Unstructured{}, records: map[helm.ReleaseName][]helm.Record{}, bodies: map[string][]*unstructured.Unstructured{},
		kept: map[string]*unstructured.Unstructured{}, own: own,
	}
}

// write does a write, or what is to happen at it.
func (f *fakeCluster) write(do func() error) error {
	f.writes++
	if f.writes != f.at {
		return do()
	}
	switch f.what {
	case "before":
		panic(killed{})
	case "fail":
		return errors.New("the disk is full")
	case "cancel":
		f.cancel()
	}
	err := do()
	if f.what == "after" {
		panic(killed{})
	}
	return err
}

func (f *fakeCluster) tick() string { f.clock++; return fmt.Sprint(f.clock) }

func notFound(ref object.Ref) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name)
}

func conflict(ref object.Ref) error {
	return apierrors.NewConflict(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name, errors.New("it was changed"))
}

func (f *fakeCluster) Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o, ok := f.objects[ref]
	if !ok {
		return nil, notFound(ref)
	}
	return o.DeepCopy(), nil
}

func (f *fakeCluster) List(ctx context.Context, kind schema.GroupKind, namespace string) (out []unstructured.Unstructured, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, ref := range f.sorted() {
		if ref.GroupKind() == kind && (namespace == "" || ref.Namespace == namespace) {
			out = append(out, *f.objects[ref].DeepCopy())
		}
	}
	return out, nil
}

func (f *fakeCluster) sorted() []object.Ref {
	return slices.SortedFunc(maps.Keys(f.objects), object.Compare)
}

// put stores an object as an API server does.
func (f *fakeCluster) put(o *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	o = o.DeepCopy()
	ref := object.RefOf(o)
	o.SetResourceVersion(f.tick())
	was, ok := f.objects[ref]
	if !ok {
		o.SetUID(types.UID("uid-" + f.tick()))
		o.SetGeneration(1)
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager}})
	} else {
		o.SetUID(was.GetUID())
		o.SetGeneration(was.GetGeneration())
		if fmt.Sprint(was.Object["spec"]) != fmt.Sprint(o.Object["spec"]) {
			o.SetGeneration(was.GetGeneration() + 1)
		}
		if len(o.GetManagedFields()) == 0 {
			o.SetManagedFields(was.GetManagedFields())
		}
	}
	if ref.Kind == "CustomResourceDefinition" {
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	}
	if ref.GroupKind() == statefulSetKind && !f.idle { // its controller has seen it
		_ = unstructured.SetNestedField(o.Object, o.GetGeneration(), "status", "observedGeneration")
	}
	f.objects[ref] = o
	return o.DeepCopy()
}

func (f *fakeCluster) Create(ctx context.Context, o *unstructured.Unstructured) (out *unstructured.Unstructured, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, f.write(func() error {
		ref := object.RefOf(o)
		if _, ok := f.objects[ref]; ok {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: ref.Kind}, ref.Name)
		}
		out = f.put(o, FieldManager)
		return nil
	})
}

func (f *fakeCluster) Apply(ctx context.Context, o *unstructured.Unstructured, _ bool) (out *unstructured.Unstructured, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, f.write(func() error {
		if is, ok := f.objects[object.RefOf(o)]; ok && o.GetResourceVersion() != is.GetResourceVersion() {
			return conflict(object.RefOf(o))
		}
		out = f.put(o, FieldManager)
		return nil
	})
}

func (f *fakeCluster) Replace(ctx context.Context, o *unstructured.Unstructured) (out *unstructured.Unstructured, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, f.write(func() error {
		is, ok := f.objects[object.RefOf(o)]
		if !ok {
			return notFound(object.RefOf(o))
		}
		if is.GetResourceVersion() != o.GetResourceVersion() {
			return conflict(object.RefOf(o))
		}
		out = f.put(o, FieldManager)
		return nil
	})
}

func (f *fakeCluster) Delete(ctx context.Context, ref object.Ref, p Precondition) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f.write(func() error {
		is, ok := f.objects[ref]
		switch {
		case !ok:
			return notFound(ref)
		case p.UID != "" && p.UID != string(is.GetUID()), p.ResourceVersion != "" && p.ResourceVersion != is.GetResourceVersion():
			return conflict(ref)
		}
		f.drop(ref)
		return nil
	})
}

// drop deletes an object, and what goes with it.
func (f *fakeCluster) drop(ref object.Ref) {
	is := f.objects[ref]
	delete(f.objects, ref)
	switch ref.Kind {
	case "Namespace":
		for _, other := range f.sorted() {
			if other.Namespace == ref.Name {
				delete(f.objects, other)
			}
		}
		maps.DeleteFunc(f.records, func(n helm.ReleaseName, _ []helm.Record) bool { return n.Namespace == ref.Name })
		if ref.Name == f.own {
			f.journal, f.kept = nil, map[string]*unstructured.Unstructured{}
		}
	case "StatefulSet": // the garbage collector takes what it owns
		for _, other := range f.sorted() {
			if slices.ContainsFunc(f.objects[other].GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == is.GetUID() }) {
				delete(f.objects, other)
			}
		}
	case "CustomResourceDefinition":
		for _, other := range f.sorted() {
			if other.GroupKind() == definedKind(is) {
				delete(f.objects, other)
			}
		}
	}
}

func (f *fakeCluster) Refresh() {}

func (f *fakeCluster) Serves(_ context.Context, gvk schema.GroupVersionKind) (bool, error) {
	for _, o := range f.objects {
		if o.GetKind() == "CustomResourceDefinition" && definedKind(o) == gvk.GroupKind() {
			return slices.Contains(servedVersions(o), gvk.Version), nil
		}
	}
	return false, nil
}

func (f *fakeCluster) Contents(_ context.Context, namespace string) (out []unstructured.Unstructured, err error) {
	for _, ref := range f.sorted() {
		if ref.Namespace == namespace {
			out = append(out, *f.objects[ref].DeepCopy())
		}
	}
	return out, nil
}

// The journal.

func (f *fakeCluster) Load(ctx context.Context) (*Journal, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	j := &Journal{Installation: Installation{Name: "shop", Namespace: f.own}}
	if f.journal == nil {
		return j, nil
	}
	err := json.Unmarshal(f.journal, j)
	j.SetVersion(fmt.Sprint(f.version))
	return j, err
}

func (f *fakeCluster) Save(ctx context.Context, j *Journal) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f.write(func() error {
		if _, ok := f.objects[namespaceRef(f.own)]; !ok {
			return notFound(namespaceRef(f.own))
		}
		if is := fmt.Sprint(f.version); f.journal == nil != (j.Version() == "") || j.Version() != "" && j.Version() != is {
			return &journal.ConflictError{Object: "journal"}
		}
		f.version++
		j.SetVersion(fmt.Sprint(f.version))
		var err error
		f.journal, err = json.Marshal(j)
		return err
	})
}

func (f *fakeCluster) Remove(_ context.Context, j *Journal) error {
	return f.write(func() error {
		f.journal = nil
		j.SetVersion("")
		return nil
	})
}

func (f *fakeCluster) SaveBefore(_ context.Context, run string, o *unstructured.Unstructured) (BeforeImage, error) {
	key := run + " " + object.RefOf(o).String()
	b := BeforeImage{Object: object.RefOf(o), StoredIn: key}
	err := f.write(func() error {
		if _, ok := f.kept[key]; !ok {
			f.kept[key] = o.DeepCopy()
			b.Sum = journal.Sum(o)
		}
		return nil
	})
	return b, err
}

func (f *fakeCluster) LoadBefore(_ context.Context, b BeforeImage) (*unstructured.Unstructured, error) {
	o, ok := f.kept[b.StoredIn]
	if !ok {
		return nil, fmt.Errorf("%s is not kept", b.StoredIn)
	}
	return o.DeepCopy(), nil
}

func (f *fakeCluster) Drop(_ context.Context, run string, _ []BeforeImage) error {
	return f.write(func() error {
		maps.DeleteFunc(f.kept, func(k string, _ *unstructured.Unstructured) bool { return strings.HasPrefix(k, run+" ") })
		return nil
	})
}

// Do is the lock.
func (f *fakeCluster) Do(ctx context.Context, act func(context.Context) error) error { return act(ctx) }

func (f *fakeCluster) runner() *Runner {
	return &Runner{
		Engine: fakeHelm{f}, Objects: f, Discovery: f, Store: f, By: "alice", Poll: time.Millisecond,
		Lock: func(func(string, time.Time)) (journal.Lock, error) { return f, nil },
		Gate: func(ctx context.Context, _ []object.Ref, _ time.Duration) error {
			return f.write(func() error { return ctx.Err() })
		},
	}
}

// fakeHelm does what Helm does, in as many writes.
type fakeHelm struct{ f *fakeCluster }

func key(n helm.ReleaseName, revision int) string { return fmt.Sprint(n, " ", revision) }

func (h fakeHelm) History(ctx context.Context, n helm.ReleaseName) ([]helm.Record, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Clone(h.f.records[n]), nil
}

func (h fakeHelm) last(n helm.ReleaseName) *helm.Record {
	list := h.f.records[n]
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

func (h fakeHelm) status(ctx context.Context, n helm.ReleaseName, revision int, status string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return h.f.write(func() error {
		for i := range h.f.records[n] {
			if h.f.records[n][i].Revision == revision {
				h.f.records[n][i].Status = status
			}
		}
		return nil
	})
}

func (h fakeHelm) begin(ctx context.Context, r helm.Record, bodies []*unstructured.Unstructured) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return h.f.write(func() error {
		for _, o := range bodies {
			if o.GetAnnotations()[helm.PolicyAnnotation] == "keep" {
				r.Kept = append(r.Kept, object.RefOf(o))
				continue
			}
			r.Objects = append(r.Objects, object.RefOf(o))
		}
		h.f.bodies[key(r.Release, r.Revision)] = bodies
		h.f.records[r.Release] = append(h.f.records[r.Release], r)
		return nil
	})
}

// bring makes the objects, and deletes those of before that are not among them.
func (h fakeHelm) bring(ctx context.Context, n helm.ReleaseName, was, is []*unstructured.Unstructured) error {
	wanted := map[object.Ref]bool{}
	for _, o := range is {
		wanted[object.RefOf(o)] = true
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o = o.DeepCopy()
		annotate(o, releaseNameAnnotation, n.Name)
		annotate(o, releaseNamespaceAnnotation, n.Namespace)
		if now, ok := h.f.objects[object.RefOf(o)]; ok && sameContent(now, o) {
			continue
		}
		if err := h.f.write(func() error { h.f.put(o, "helm"); return nil }); err != nil {
			return err
		}
	}
	for _, o := range was {
		is, ok := h.f.objects[object.RefOf(o)]
		if wanted[object.RefOf(o)] || !ok || is.GetAnnotations()[helm.PolicyAnnotation] == "keep" {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := h.f.write(func() error { h.f.drop(object.RefOf(o)); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (h fakeHelm) runHooks(ctx context.Context, c *chart.Chart) error {
	for _, o := range h.f.hooks[c] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := h.f.write(func() error { h.f.put(o, "helm"); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (h fakeHelm) change(ctx context.Context, c helm.ReleaseSpec, from *helm.Record, revision, rollbackOf int, bodies []*unstructured.Unstructured) error {
	r := helm.Record{Release: c.Release, Revision: revision, Status: "pending", Marks: c.Marks, RollbackOf: rollbackOf}
	for _, o := range h.f.hooks[c.Chart] {
		r.Hooks = append(r.Hooks, helm.HookObject{Object: object.RefOf(o)})
	}
	if err := h.begin(ctx, r, bodies); err != nil {
		return err
	}
	var was []*unstructured.Unstructured
	if from != nil {
		was = h.f.bodies[key(c.Release, from.Revision)]
	}
	err := h.runHooks(ctx, c.Chart)
	if err == nil {
		err = h.bring(ctx, c.Release, was, bodies)
	}
	if err != nil {
		return errors.Join(err, h.status(ctx, c.Release, revision, helm.Failed))
	}
	for _, v := range h.f.records[c.Release] {
		if v.Status == helm.Deployed {
			if err := h.status(ctx, c.Release, v.Revision, helm.Superseded); err != nil {
				return err
			}
		}
	}
	return h.status(ctx, c.Release, revision, helm.Deployed)
}

func (h fakeHelm) Install(ctx context.Context, c helm.ReleaseSpec) error {
	if h.last(c.Release) != nil {
		return errors.New("cannot reuse a name that is still in use")
	}
	return h.change(ctx, c, nil, 1, 0, h.f.charts[c.Chart])
}

func (h fakeHelm) Upgrade(ctx context.Context, c helm.ReleaseSpec) error {
	last := h.last(c.Release)
	if last == nil || last.Status != helm.Deployed {
		return errors.New("has no deployed releases")
	}
	return h.change(ctx, c, last, last.Revision+1, 0, h.f.charts[c.Chart])
}

func (h fakeHelm) Rollback(ctx context.Context, n helm.ReleaseName, to int, o helm.RevertOptions) error {
	last := h.last(n)
	if last == nil {
		return errors.New("release: not found")
	}
	return h.change(ctx, helm.ReleaseSpec{Release: n, Marks: o.Marks}, last, last.Revision+1, to, h.f.bodies[key(n, to)])
}

func (h fakeHelm) Uninstall(ctx context.Context, n helm.ReleaseName, o helm.RevertOptions) error {
	last := h.last(n)
	if last == nil {
		return errors.New("release: not found")
	}
	if last.Status == helm.Uninstalled {
		return errors.New("is already deleted")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := h.f.write(func() error { last.Status, last.Marks = helm.Uninstalling, o.Marks; return nil }); err != nil {
		return err
	}
	for _, ref := range last.Objects {
		if is, ok := h.f.objects[ref]; !ok || !ownedBy(is, n) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := h.f.write(func() error { h.f.drop(ref); return nil }); err != nil {
			return err
		}
	}
	if err := h.status(ctx, n, last.Revision, helm.Uninstalled); err != nil || o.KeepHistory {
		return err
	}
	return h.Forget(ctx, n)
}

func (h fakeHelm) Forget(_ context.Context, n helm.ReleaseName) error {
	for len(h.f.records[n]) > 0 {
		if err := h.f.write(func() error { h.f.records[n] = h.f.records[n][1:]; return nil }); err != nil {
			return err
		}
	}
	delete(h.f.records, n)
	return nil
}
