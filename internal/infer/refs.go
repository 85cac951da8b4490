package infer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// referred reads an object under a key as a reference, and reports whether there is nothing more in
// it, even if the reference was not resolved.
func (w *walker) referred(key string, m map[string]any, at place) bool {
	name, ok := m["name"].(string)
	if !ok || elsewhere(m) {
		return false
	}
	optional, _ := m["optional"].(bool)
	if at.schema != nil && at.schema.To != "" {
		if k, ok := builtIn(at.schema.To); ok && flat(m) {
			w.link(reference, k, w.inside(m), name, optional, "name")
			return true
		}
	}
	form, stem := formOf(key)
	switch form {
	case refForm:
		return w.refersTo(stem, name, m, at, optional)
	case itself:
		if k, ok := builtIn(stem); ok && flat(m) && !at.free {
			w.link(reference, k, w.inside(m), name, optional, "name")
			return true
		}
	case noForm:
		// cluster: {name: pg}, if the operator has Clusters.
		if k, ok := w.own(key); ok && k.GroupKind != w.self.GroupKind() && small(m) && !at.free && w.means(m, k) {
			w.link(reference, k, w.inside(m), name, optional, "name")
			return true
		}
	}
	return false
}

// refersTo reads a reference with a telling key.
func (w *walker) refersTo(stem, name string, m map[string]any, at place, optional bool) bool {
	kindField, _ := m["kind"].(string)
	group := groupOf(m)
	if kindField == "" && at.schema != nil {
		kindField = at.schema.Kind
		if group == nil {
			group = at.schema.Group
		}
	}
	rule := reference
	switch {
	case slices.Contains([]string{"owner", "claim", "controller", "creator", "involvedobject"}, stem):
		return true // the owner of this object
	case stem == "target", stem == "scaletarget", stem == "policytarget":
		rule = target
	case strings.HasPrefix(stem, "write") && strings.HasSuffix(stem, "secretto"):
		rule = product
	}
	k, ok := kind{}, false
	if kindField != "" {
		k, ok = w.statedKind(kindField, group, w.self.Group)
	} else if rule != target {
		k, ok = w.refKind(stem)
		ok = ok && (group == nil || *group == k.Group)
	}
	if ok {
		w.link(rule, k, w.inside(m), name, optional, "name")
	}
	return small(m) // other content may have references of its own
}

// means reports whether the kind in a reference, if any, is this one.
func (w *walker) means(m map[string]any, k kind) bool {
	kindField, group := m["kind"], groupOf(m)
	return (kindField == nil || kindField == "" || kindField == k.Kind) && (group == nil || *group == k.Group)
}

// inside returns the namespace in a reference, or that of the object.
func (w *walker) inside(m map[string]any) string {
	if ns, ok := m["namespace"].(string); ok && ns != "" {
		return ns
	}
	return w.self.Namespace
}

// groupOf returns the API group in a reference, or nil.
func groupOf(m map[string]any) *string {
	for _, key := range [...]string{"group", "apiGroup"} {
		if g, ok := m[key].(string); ok {
			return &g
		}
	}
	if v, ok := m["apiVersion"].(string); ok && v != "" {
		gv, err := schema.ParseGroupVersion(v)
		if err != nil {
			return &v // no valid group: nothing will be found
		}
		return &gv.Group
	}
	return nil
}

// elsewhere reports a reference to something outside of this cluster.
func elsewhere(m map[string]any) bool {
	for _, key := range [...]string{"bundle", "resolver", "url", "server", "cluster", "clusterName", "repository"} {
		if s, ok := m[key].(string); ok && s != "" {
			return true
		}
	}
	return false
}

// flat reports whether an object has no nested objects, and is not one for the operator to create:
// a reference may have settings, a template has content.
func flat(m map[string]any) bool {
	for _, v := range m {
		if _, object := v.(map[string]any); object {
			return false
		}
	}
	return m["create"] != true
}

// small reports whether an object has only the fields of a reference.
func small(m map[string]any) bool {
	for key := range m {
		switch key {
		case "name", "namespace", "key", "keys", "optional", "kind", "group", "apiGroup", "apiVersion", "items", "defaultMode", "type", "fieldPath", "uid", "resourceVersion", "property", "subPath", "path", "mountPath", "policy", "hash", "certKey", "keyKey", "usernameKey", "passwordKey", "fileName":
		default:
			return false
		}
	}
	return true
}

// isManifest reports a whole object inside of another one: a template of an object elsewhere.
func isManifest(m map[string]any) bool {
	if _, ok := m["kind"].(string); !ok {
		return false
	}
	if _, ok := m["apiVersion"].(string); !ok {
		return false
	}
	_, spec := m["spec"].(map[string]any)
	_, meta := m["metadata"].(map[string]any)
	return spec || meta
}
