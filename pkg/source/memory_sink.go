package source

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MemorySink is a sink that stores whole objects, for writing a snapshot. It passes on gaps. It
// does not pass on Cover and Absent, since it reads selected objects a second time.
type MemorySink struct {
	// Filter selects the objects to store; nil selects all.
	Filter func(object.Ref) bool

	sink    Sink
	mu      sync.Mutex
	objects map[object.Ref]map[string]any
	made    map[object.Ref]string
}

// NewMemorySink returns a MemorySink that passes gaps to a sink.
func NewMemorySink(s Sink, keep func(object.Ref) bool) *MemorySink {
	return &MemorySink{sink: s, Filter: keep, objects: map[object.Ref]map[string]any{}, made: map[object.Ref]string{}}
}

// Add stores an object.
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
	// Items of a list lack these fields.
	fields["apiVersion"], fields["kind"] = o.GroupKind().WithVersion(o.Version).GroupVersion().String(), o.Kind
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects[o.Ref] = fields
	if manager := creatorIn(fields); manager != "" {
		k.made[o.Ref] = manager
	}
}

// Tops returns the stored objects without an owner, in no order.
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

// Creators returns the creators of the Tops that were read Whole. (The others are created by their
// owner.)
func (k *MemorySink) Creators() map[object.Ref]string {
	out := map[object.Ref]string{}
	for _, ref := range k.Tops() {
		if manager := k.made[ref]; manager != "" {
			out[ref] = manager
		}
	}
	return out
}

// Reset drops the stored objects of a kind in a namespace, or in all.
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

// Absent does nothing: the object was deleted since it was selected.
func (k *MemorySink) Absent(object.Ref) {}

// Gap passes the gap on.
func (k *MemorySink) Gap(g object.Gap) { k.sink.Gap(g) }

// Objects returns the stored objects, CustomResourceDefinitions first, then in order.
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
