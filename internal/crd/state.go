package crd

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Same reports whether writing the second definition over the first, which a server may have,
// changes nothing: their specs have the same meaning, and every label and annotation of the second
// is in the first. It ignores status, metadata of the server, further labels and annotations of the
// first, defaults of the API server (names, conversion), and the order of versions. Malformed
// definitions are not the same.
func Same(former, next *unstructured.Unstructured) bool {
	was, err := readDefinition(former)
	if err != nil {
		return false
	}
	now, err := readDefinition(next)
	if err != nil {
		return false
	}
	if was.name != now.name || !isSubset(next.GetLabels(), former.GetLabels()) || !isSubset(next.GetAnnotations(), former.GetAnnotations()) {
		return false
	}
	return was.sameSpec(now) && was.sameVersions(now)
}

// isSubset reports whether every pair of a is in b.
func isSubset(a, b map[string]string) bool {
	for k, v := range a {
		if w, found := b[k]; !found || v != w {
			return false
		}
	}
	return true
}

func (d *definition) sameSpec(other *definition) bool {
	if d.strategy != other.strategy || !sameConversion(d.conversion, other.conversion) || d.listKind() != other.listKind() || d.singular() != other.singular() {
		return false
	}
	for _, key := range keysOf(d.names, other.names) {
		if key != "listKind" && key != "singular" && !sameKeyword(key, d.names[key], other.names[key]) {
			return false
		}
	}
	for _, key := range keysOf(d.conversion, other.conversion) {
		if key != "strategy" && key != "webhook" && !sameKeyword(key, d.conversion[key], other.conversion[key]) {
			return false
		}
	}
	for _, key := range keysOf(d.spec, other.spec) {
		switch key {
		case "names", "conversion", "versions":
		default:
			if !sameKeyword(key, d.spec[key], other.spec[key]) {
				return false
			}
		}
	}
	return true
}

func (d *definition) sameVersions(other *definition) bool {
	if len(d.versions) != len(other.versions) {
		return false
	}
	return !slices.ContainsFunc(d.versions, func(v version) bool {
		w, found := other.version(v.name)
		return !found || !sameVersion(v, w)
	})
}

func sameVersion(v, w version) bool {
	if (v.schema == nil) != (w.schema == nil) || !sameSchema(v.schema, w.schema) {
		return false
	}
	for _, key := range keysOf(v.fields, w.fields) {
		x, y := v.fields[key], w.fields[key]
		switch key {
		case "schema":
		case "additionalPrinterColumns":
			if !sameColumns(x, y) {
				return false
			}
		default:
			if !sameKeyword(key, x, y) {
				return false
			}
		}
	}
	return true
}

// sameColumns compares printer columns; the default priority is 0.
func sameColumns(a, b any) bool {
	x, _ := a.([]any)
	y, _ := b.([]any)
	return slices.EqualFunc(x, y, func(p, q any) bool {
		one, ok := p.(map[string]any)
		other, too := q.(map[string]any)
		if !ok || !too {
			return same(p, q)
		}
		for _, key := range keysOf(one, other) {
			v, w := one[key], other[key]
			if n, number := number(v); number && n == 0 {
				v = nil
			}
			if n, number := number(w); number && n == 0 {
				w = nil
			}
			if !sameKeyword(key, v, w) {
				return false
			}
		}
		return true
	})
}
