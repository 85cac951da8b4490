package preflight

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	namespaceKind = schema.GroupKind{Kind: "Namespace"}
	claimKind     = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	volumeKind    = schema.GroupKind{Kind: "PersistentVolume"}
	quotaKind     = schema.GroupKind{Kind: "ResourceQuota"}
	limitKind     = schema.GroupKind{Kind: "LimitRange"}
	configMapKind = schema.GroupKind{Kind: "ConfigMap"}
	secretKind    = schema.GroupKind{Kind: "Secret"}
	accountKind   = schema.GroupKind{Kind: "ServiceAccount"}
	classKind     = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	priorityKind  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	runtimeKind   = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
)

// pointer is a pointer to a type of k8s.io/api.
type pointer[T any] interface {
	*T
	metav1.Object
	runtime.Object
}

// content returns an object of the batch as the API server would keep it, where it said
// so, or as it was written. Its namespace is the one that was meant: a dry run may have
// been in another one.
func (f *evaluation) content(it *Item) map[string]any {
	if a := f.dryRuns[it.Ref]; a != nil && a.Admitted != nil {
		u := &unstructured.Unstructured{Object: a.Admitted.DeepCopy().Object}
		u.SetNamespace(it.Ref.Namespace)
		return u.Object
	}
	return it.Object.Object
}

// typed returns an object of the batch as its Go type; nil where it does not have that
// shape, which is reported once.
func typed[T any, P pointer[T]](f *evaluation, it *Item) P {
	out := P(new(T))
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(f.content(it), out); err != nil {
		if a := f.dryRuns[it.Ref]; a == nil || a.Reason == "" {
			f.add(Finding{
				Topic: Admitted, Verdict: verdictUnknown, Object: it.Ref, Origin: it.Origin, Reason: "Malformed",
				Message: "it does not have the fields of its kind: " + err.Error(), Remedy: "correct the named field",
			})
		}
		return nil
	}
	out.SetNamespace(it.Ref.Namespace)
	out.SetName(it.Ref.Name)
	return out
}

// ofKind returns the items of a kind, in the order of their references.
func (f *evaluation) ofKind(gk schema.GroupKind) []*Item {
	var out []*Item
	for _, it := range f.order {
		if it.Ref.GroupKind() == gk {
			out = append(out, it)
		}
	}
	return out
}

// together returns the objects of a kind as they would be with the batch: those of the
// cluster, and new ones of the batch. Of one that is in both it is the cluster's. They are
// shared, and must not be changed.
func together[T any, P pointer[T]](f *evaluation, gk schema.GroupKind) []P {
	if have, ok := f.sets[gk].([]P); ok {
		return have
	}
	out := slices.Clone(check.All[P](f.World.Facts, gk.Group, gk.Kind))
	for _, it := range f.ofKind(gk) {
		if _, ok := check.Of[P](f.World.Facts, it.Ref); ok {
			continue
		}
		if o := typed[T, P](f, it); o != nil {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b P) int { return object.Compare(refOf(gk, a), refOf(gk, b)) })
	f.sets[gk] = out
	return out
}

func refOf(gk schema.GroupKind, o metav1.Object) object.Ref {
	return object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// exists says whether an object is in the cluster; known is false where that is unknown.
func (f *evaluation) exists(ref object.Ref) (exists, known bool) {
	if id, ok := f.World.Graph.Find(ref); ok && f.World.Graph.State(id) == present {
		return true, true
	}
	return false, f.World.Read(ref.GroupKind(), ref.Namespace) || f.World.Kinds.NotServed(ref.GroupKind())
}

// inBatch says whether an object is in the batch.
func (f *evaluation) inBatch(ref object.Ref) bool { return f.items[ref] != nil }

// newNamespace says that a namespace is made by the batch.
func (f *evaluation) newNamespace(name string) bool {
	it := f.items[object.Ref{Kind: "Namespace", Name: name}]
	return it != nil && !it.Exists
}

// labelsOf returns the labels that a namespace would have; known is false where it was
// not read.
func (f *evaluation) labelsOf(namespace string) (labels map[string]string, known bool) {
	ref := object.Ref{Kind: "Namespace", Name: namespace}
	labels = map[string]string{"kubernetes.io/metadata.name": namespace}
	if ns, ok := check.Of[*corev1.Namespace](f.World.Facts, ref); ok {
		known = true
		maps.Copy(labels, ns.Labels)
	}
	if it := f.items[ref]; it != nil {
		known = known || !it.Exists
		maps.Copy(labels, it.Object.GetLabels())
	}
	return labels, known
}

// definitions are the CustomResourceDefinitions of the batch by what they define.
func (f *evaluation) definitions() map[schema.GroupKind]*Item {
	if f.defined != nil {
		return f.defined
	}
	f.defined = map[schema.GroupKind]*Item{}
	for _, it := range f.ofKind(check.DefinitionKind) {
		group, _, _ := unstructured.NestedString(it.Object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(it.Object.Object, "spec", "names", "kind")
		f.defined[schema.GroupKind{Group: group, Kind: kind}] = it
	}
	return f.defined
}
