package skeleton

import (
	"fmt"
	"maps"
	"strings"
)

// versionIn is a version of a definition.
type versionIn struct {
	name                       string
	stored, served, deprecated bool
	status                     bool
	scale                      map[string]any
	schema                     map[string]any // reduced, without the fields of every object
}

func versionsIn(crd map[string]any, r reducer) []versionIn {
	spec, _ := crd["spec"].(map[string]any)
	list, _ := spec["versions"].([]any)
	var all []versionIn
	for _, item := range list {
		m, _ := item.(map[string]any)
		v := versionIn{}
		v.name, _ = m["name"].(string)
		v.stored, _ = m["storage"].(bool)
		v.served, _ = m["served"].(bool)
		v.deprecated, _ = m["deprecated"].(bool)
		subresources, _ := m["subresources"].(map[string]any)
		_, v.status = subresources["status"]
		v.scale, _ = subresources["scale"].(map[string]any)
		holder, _ := m["schema"].(map[string]any)
		schema, _ := holder["openAPIV3Schema"].(map[string]any)
		v.schema = r.reduce(withoutCommon(schema))
		all = append(all, v)
	}
	return all
}

// withoutCommon omits apiVersion, kind and metadata.
func withoutCommon(schema map[string]any) map[string]any {
	out := maps.Clone(schema)
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return out
	}
	own := map[string]any{}
	for name, p := range properties {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			own[name] = p
		}
	}
	out["properties"] = own
	return out
}

// kind writes the part of a kind.
func (w *writer) kind(k Kind, versions []versionIn) string {
	spec, _ := k.Definition["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	var flags, status []string
	var scale map[string]any
	for _, v := range versions {
		flags = append(flags, v.name+"("+strings.Join(v.flags(), ",")+")")
		if v.status {
			status = append(status, v.name)
		}
		if scale == nil {
			scale = v.scale
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "kind: %v.%v versions=%s scope=%v plural=%v", names["kind"], spec["group"], strings.Join(flags, ","), spec["scope"], names["plural"])
	if short, ok := names["shortNames"].([]any); ok && len(short) > 0 {
		fmt.Fprintf(&out, " short=%s", strings.Join(texts(short), ","))
	}
	switch len(status) {
	case 0:
		out.WriteString(" status=no")
	case len(versions):
		out.WriteString(" status=yes")
	default:
		out.WriteString(" status=" + strings.Join(status, ","))
	}
	if scale != nil {
		var paths []string
		for _, key := range []string{"specReplicasPath", "statusReplicasPath", "labelSelectorPath"} {
			if p, ok := scale[key].(string); ok {
				paths = append(paths, strings.TrimPrefix(p, "."))
			}
		}
		out.WriteString(" scale=" + strings.Join(paths, ","))
	}
	if k.Source > 0 {
		fmt.Fprintf(&out, " repo=%d", k.Source+1)
	}
	out.WriteByte('\n')
	written := map[string]string{}
	for _, v := range versions {
		key := w.hash.key(v.schema)
		if same := written[key]; same != "" {
			fmt.Fprintf(&out, "version: %s =%s\n", v.name, same)
			continue
		}
		written[key] = v.name
		w.out.Reset()
		w.fields("", v.schema, true)
		fmt.Fprintf(&out, "version: %s\n%s", v.name, w.out.String())
	}
	return out.String()
}

func (v versionIn) flags() []string {
	var all []string
	for _, f := range []struct {
		is   bool
		word string
	}{{v.stored, "stored"}, {v.served, "served"}, {v.deprecated, "deprecated"}} {
		if f.is {
			all = append(all, f.word)
		}
	}
	return all
}

func texts(list []any) []string {
	var all []string
	for _, v := range list {
		all = append(all, fmt.Sprint(v))
	}
	return all
}
