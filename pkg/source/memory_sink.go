package source

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MemorySink is a sink that keeps objects whole, for writing them down. It hands on
// the gaps that it is told of; that something is complete, or absent, it keeps to
// itself, since what it reads are chosen objects, a second time.
type MemorySink struct {
	// Filter says which objects to keep; nil keeps all.
	Filter func(object.Ref) bool

	sink    Sink
	mu      sync.Mutex
	objects map[object.Ref]map[string]any
	made    map[object.Ref]string
}

// NewMemorySink returns a keeper that tells the sink of gaps.
func NewMemorySink(s Sink, keep func(object.Ref) bool) *MemorySink {
	return &MemorySink{sink: s, Filter: keep, objects: map[object.Ref]map[string]any{}, made: map[object.Ref]string{}}
}

// Add keeps an object.
func (k *MemorySink) Add(o object.Object) {
	if k.Filter != nil && !k.Filter(o.Ref) {
		return
	}
	fields := o.Fields()
	if fields == nil {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body); err != nil {
			k.Gap(object.Gap{Resource: o.String(), Namespace: o.Namespace, Reason: "Unreadable", Message: err.Error()})
			return
		}
	}
	// The items of a list do not carry these.
	fields["apiVersion"], fields["kind"] = o.GroupKind().WithVersion(o.Version).GroupVersion().String(), o.Kind
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects[o.Ref] = fields
	if who := creatorIn(fields); who != "" {
		k.made[o.Ref] = who
	}
}

// Tops returns the objects that were kept and have no owner, in no order.
func (k *MemorySink) Tops() []object.Ref {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []object.Ref
	for ref, fields := range k.objects {
		meta, _ := fields["metadata"].(map[string]any)
		if owners, _ := meta["ownerReferences"].([]any); len(owners) == 0 {
			out = append(out, ref)
		}
	}
	return out
}

// Creators returns who made the Tops, as far as they were read Whole. (Who made the
// others is their owner.)
func (k *MemorySink) Creators() map[object.Ref]string {
	out := map[object.Ref]string{}
	for _, ref := range k.Tops() {
		if who := k.made[ref]; who != "" {
			out[ref] = who
		}
	}
	return out
}

// Reset forgets what was kept of a kind in a namespace, or everywhere.
func (k *MemorySink) Reset(gk schema.GroupKind, namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for r := range k.objects {
		if r.GroupKind() == gk && (namespace == "" || r.Namespace == namespace) {
			delete(k.objects, r)
		}
	}
}

// Cover does nothing.
func (k *MemorySink) Cover(schema.GroupKind, string) {}

// Absent does nothing: the object went away since it was chosen.
func (k *MemorySink) Absent(object.Ref) {}

// Gap hands the gap on.
func (k *MemorySink) Gap(g object.Gap) { k.sink.Gap(g) }

// Objects returns what was kept, CustomResourceDefinitions first, then in order.
func (k *MemorySink) Objects() []map[string]any {
	k.mu.Lock()
	defer k.mu.Unlock()
	refs := make([]object.Ref, 0, len(k.objects))
	for r := range k.objects {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b object.Ref) int {
		if x, y := a.GroupKind() == crdKind, b.GroupKind() == crdKind; x != y {
			if x {
				return -1
			}
			return 1
		}
		return object.Compare(a, b)
	})
	out := make([]map[string]any, 0, len(refs))
	for _, r := range refs {
		out = append(out, k.objects[r])
	}
	return out
}
