package annotations

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// instanceRef is an instance that the value of an annotation names; namespace is empty if the value
// has none.
type instanceRef struct{ namespace, name string }

// token is one of the names in a value that holds several.
type token struct {
	instanceRef
	text string // as written: namespace/name
}

// tokens splits the value of an annotation that lists names, separated by commas or white space, or
// a JSON list of strings or of objects with a name and an optional namespace. A name may be written
// namespace/name and, as in Multus, name@interface.
func tokens(v string) []token {
	v = strings.TrimSpace(v)
	if strings.HasPrefix(v, "[") || strings.HasPrefix(v, "{") {
		var parsed any
		if json.Unmarshal([]byte(v), &parsed) != nil {
			return nil
		}
		return jsonTokens(parsed)
	}
	var all []token
	for _, text := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		all = append(all, parseToken(text))
	}
	return all
}

func jsonTokens(v any) []token {
	switch v := v.(type) {
	case []any:
		var all []token
		for _, e := range v {
			if _, nested := e.([]any); !nested {
				all = append(all, jsonTokens(e)...)
			}
		}
		return all
	case string:
		return []token{parseToken(v)}
	case map[string]any:
		name, _ := v["name"].(string)
		t := parseToken(name)
		if namespace, _ := v["namespace"].(string); namespace != "" && t.namespace == "" {
			t = token{instanceRef{namespace, t.name}, namespace + "/" + t.name}
		}
		return []token{t}
	}
	return nil
}

func parseToken(text string) token {
	text, _, _ = strings.Cut(text, "@")
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		namespace, name = "", text
	}
	return token{instanceRef{namespace, name}, text}
}

// instances returns the instances that a value names, by inverting the template.
func (e expr) instances(v string) []instanceRef {
	var all []instanceRef
	seen := map[instanceRef]bool{}
	add := func(namespace, text string) {
		inner, name, ok := e.invert(text)
		m := instanceRef{cmp.Or(inner, namespace), name}
		if !ok || seen[m] || m.namespace != "" && !object.MayBeName(m.namespace) {
			return
		}
		seen[m] = true
		all = append(all, m)
	}
	if !e.among {
		add("", v)
		return all
	}
	for _, t := range tokens(v) {
		if e.mentions(namespaceRef) {
			add("", t.text)
			continue
		}
		add(t.namespace, t.name)
	}
	return all
}

// holds reports whether the value of an annotation names an instance in a namespace (empty for a
// cluster-scoped one) for which the template renders want.
func (e expr) holds(v, want, namespace string) bool {
	if !e.among {
		return v == want
	}
	return slices.ContainsFunc(tokens(v), func(t token) bool {
		if t.text == want {
			return true
		}
		return t.name == want && (t.namespace == "" || namespace == "" || t.namespace == namespace)
	})
}
