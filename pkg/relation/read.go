package relation

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// on makes a rule's function out of one that reads a single Go type. An object
// that was read as metadata only, or in a version of another shape, says
// nothing: the source has told that as a gap.
func on[T runtime.Object](read func(T, object.Ref, EmitFunc)) func(object.Object, EmitFunc) {
	return func(o object.Object, emit EmitFunc) {
		if body, ok := o.Body.(T); ok {
			read(body, o.Ref, emit)
		}
	}
}

// kind returns the kind of a built-in group.
func kind(group, name string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: name} }

// from lists the kinds of a row.
func from(kinds ...schema.GroupKind) []schema.GroupKind { return kinds }

// at writes an indexed path: at("spec.tls[", 3, "].secretName").
func at(before string, i int, after string) string { return before + strconv.Itoa(i) + after }

// annotation writes the path of one annotation.
func annotation(key string) string { return "metadata.annotations[" + key + "]" }

// to is a link to an object by its name in a namespace, which is empty for a
// cluster-scoped kind. What reads many objects asks for the name before it
// writes the path: a path is an allocation.
func to(k schema.GroupKind, namespace, name, field string) Link {
	return Link{Target: Target{Kind: k, Namespace: namespace, Name: name}, Field: field, Value: name}
}

// named emits a link to an object by its name; none for an empty name.
func named(emit EmitFunc, k schema.GroupKind, namespace, name, field string) {
	if name != "" {
		emit(to(k, namespace, name, field))
	}
}

// present emits a link to an object by its name, where there is such an object.
func present(emit EmitFunc, k schema.GroupKind, namespace, name, field string) {
	if name != "" {
		l := to(k, namespace, name, field)
		l.Target.IfPresent = true
		emit(l)
	}
}

// value reads an optional field: the zero value stands for a missing one.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// groupOf returns the group of an apiVersion. Only that is compared: the version
// in a reference is often one that nobody serves any more.
func groupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return apiVersion
	}
	return gv.Group
}
