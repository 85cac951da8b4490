package declare

import (
	"cmp"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// references links the object to what the references at the path mean.
func (r *reader) references(o object.Object, emit relation.EmitFunc) {
	fields := contentOf(o, r.metadata)
	for m := range r.path.Matches(fields) {
		r.reference(o, fields, m, emit)
	}
}

func (r *reader) reference(o object.Object, fields map[string]any, m field.Match, emit relation.EmitFunc) {
	switch v := m.Value.(type) {
	case []any:
		for i, e := range v {
			r.reference(o, fields, field.Match{At: field.Item(m.At, i), Value: e, Holder: m.Holder, HolderAt: m.HolderAt}, emit)
		}
	case string:
		ref := named{name: v, at: m.At, in: m.Holder}
		if r.s.Format == "inventory" {
			if r.holds(fields, m.Holder) {
				r.inventory(o, v, m.At, emit)
			}
			return
		}
		ref.kind, ref.group = r.kind.text(fields, m.Holder), r.group.text(fields, m.Holder)
		ref.grouped = ref.group != ""
		ref.group = groupOf(ref.group)
		ref.namespace = r.namespace.text(fields, m.Holder)
		if namespace, name, ok := strings.Cut(v, "/"); ok && object.MayBeName(namespace) {
			ref.namespace, ref.name, ref.text = namespace, name, v // No name has a slash in it.
		}
		r.link(o, fields, ref, emit)
	case map[string]any:
		for at, name := range r.nameField.Find(v) {
			ref := named{name: field.Scalar(name), at: m.At + "." + at, in: v}
			r.readReference(&ref, fields, v)
			r.link(o, fields, ref, emit)
			break
		}
	}
}

// named is what a reference says.
type named struct {
	name, namespace, kind, group string
	grouped                      bool // the reference says the group
	optional                     bool
	at                           string
	text                         string // the value, if it is more than the name
	in                           map[string]any
}

// readReference reads what a reference says in addition to the name.
func (r *reader) readReference(ref *named, fields, v map[string]any) {
	ref.namespace = r.namespace.text(fields, v)
	if r.namespace.IsZero() {
		ref.namespace, _ = v["namespace"].(string)
	}
	ref.kind = r.kind.text(fields, v)
	if r.kind.IsZero() {
		ref.kind, _ = v["kind"].(string)
	}
	ref.optional, _ = v["optional"].(bool)
	if !r.group.IsZero() {
		ref.group = r.group.text(fields, v)
		ref.grouped = ref.group != ""
		ref.group = groupOf(ref.group)
		return
	}
	for _, key := range []string{"group", "apiGroup"} {
		if g, ok := v[key].(string); ok {
			ref.group, ref.grouped = g, true
			return
		}
	}
	if at, ok := v["apiVersion"].(string); ok && at != "" {
		ref.group, ref.grouped = groupOf(at), true
	}
}

// groupOf is the group in a field that may hold a group or an apiVersion. The
// apiVersion of the core group is a version alone.
func groupOf(s string) string {
	group, _, versioned := strings.Cut(s, "/")
	if !versioned && strict.IsAPIVersion(s) {
		return ""
	}
	return group
}

// link emits the link of a reference, if it means one of the kinds.
func (r *reader) link(o object.Object, fields map[string]any, ref named, emit relation.EmitFunc) {
	if !object.MayBeName(ref.name) || !r.holds(fields, ref.in) {
		return
	}
	gk, ok := r.resolveKind(ref)
	// Traefik writes name@provider for what is no object. Roles and bindings alone may be
	// named so.
	if !ok || strings.IndexByte(ref.name, '@') >= 0 && gk.Group != rbacv1.GroupName {
		return
	}
	t := relation.Target{Kind: gk, Namespace: cmp.Or(ref.namespace, o.Namespace), Name: ref.name}
	r.emit(o, relation.Link{Target: t, Field: ref.at, Value: cmp.Or(ref.text, ref.name), Optional: ref.optional}, emit)
}

// resolveKind returns the kind that a reference means. Of several, the first one is
// meant where it says none; a kind that is not among them is something else.
func (r *reader) resolveKind(ref named) (schema.GroupKind, bool) {
	if r.any {
		return r.whatever(ref)
	}
	if ref.kind == "" && !ref.grouped {
		return r.named[0], true
	}
	for _, gk := range r.named {
		if (ref.kind == "" || gk.Kind == ref.kind) && (!ref.grouped || gk.Group == ref.group || sameGroup(gk.Group, ref.group)) {
			return gk, true
		}
	}
	return schema.GroupKind{}, false
}

// sameGroup: workloads and ingresses moved out of extensions, and old references
// still say so.
func sameGroup(group, written string) bool {
	return written == "extensions" && (group == "apps" || group == "networking.k8s.io")
}

// whatever resolves a reference that may be of any kind: it must say which. A
// kind without a group is that of the core or a built-in one.
func (r *reader) whatever(ref named) (schema.GroupKind, bool) {
	switch group, ok := builtInGroup(ref.kind); {
	case !kindName(ref.kind):
		return schema.GroupKind{}, false
	case ref.grouped:
		return schema.GroupKind{Group: ref.group, Kind: ref.kind}, true
	case ok:
		return schema.GroupKind{Group: group, Kind: ref.kind}, true
	}
	k, err := r.kinds.Find(ref.kind)
	return k.GroupKind(), err == nil && k.Kind == ref.kind
}

// inventory reads namespace_name_group_kind, where a colon in a name (of a role)
// is written as two underscores.
func (r *reader) inventory(o object.Object, text, at string, emit relation.EmitFunc) {
	namespace, rest, ok := strings.Cut(text, "_")
	if !ok {
		return
	}
	i := strings.LastIndexByte(rest, '_')
	if i < 0 {
		return
	}
	kind := rest[i+1:]
	j := strings.LastIndexByte(rest[:i], '_')
	if j < 0 {
		return
	}
	ref := named{name: strings.ReplaceAll(rest[:j], "__", ":"), kind: kind, group: rest[j+1 : i], grouped: true}
	gk, ok := r.resolveKind(ref)
	if !ok || !object.MayBeName(ref.name) {
		return
	}
	t := relation.Target{Kind: gk, Namespace: namespace, Name: ref.name}
	r.emit(o, relation.Link{Target: t, Field: at, Value: text}, emit)
}
