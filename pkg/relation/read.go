package relation

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// on returns the function of a rule that reads one Go type. An object with metadata only, or in a
// version of another type, gives no links: the source reports that as a gap.
func on[T runtime.Object](read func(T, object.Ref, EmitFunc)) func(object.Object, EmitFunc) {
	return func(o object.Object, emit EmitFunc) {
		if body, ok := o.Body.(T); ok {
			read(body, o.Ref, emit)
		}
	}
}

// kind returns the kind of a built-in group.
func kind(group, name string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: name} }

// from lists the kinds of a rule.
func from(kinds ...schema.GroupKind) []schema.GroupKind { return kinds }

// at returns an indexed path: at("spec.tls[", 3, "].secretName").
func at(before string, i int, after string) string { return before + strconv.Itoa(i) + after }

// annotation returns the path of an annotation.
func annotation(key string) string { return "metadata.annotations[" + key + "]" }

// to returns a link to an object by name; namespace is empty for a cluster-scoped kind. A rule that
// reads many objects checks the name before it builds the path, which allocates.
func to(k schema.GroupKind, namespace, name, field string) Link {
	return Link{Target: Target{Kind: k, Namespace: namespace, Name: name}, Field: field, Value: name}
}

// named emits a link to an object by name, unless the name is empty.
func named(emit EmitFunc, k schema.GroupKind, namespace, name, field string) {
	if name != "" {
		emit(to(k, namespace, name, field))
	}
}

// present emits an ifPresent link to an object by name.
func present(emit EmitFunc, k schema.GroupKind, namespace, name, field string) {
	if name != "" {
		l := to(k, namespace, name, field)
		l.Target.IfPresent = true
		emit(l)
	}
}

// value returns an optional field, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// groupOf returns the group of an apiVersion. Rules ignore the version: references often have one
// that is no longer served.
func groupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return apiVersion
	}
	return gv.Group
}
