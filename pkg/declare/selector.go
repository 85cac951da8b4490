package declare

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selectors links the object to what the label selectors at the path choose.
func (r *reader) selectors(o object.Object, emit relation.EmitFunc) {
	fields, found := contentOf(o, r.metadata), false
	for m := range r.path.Matches(fields) {
		found = true
		selector, ok := relation.SelectorIn(m.Value)
		if !ok || !r.holds(fields, m.Holder) {
			continue
		}
		if len(selector.Labels)+len(selector.Expressions) == 0 && r.s.Empty != "all" {
			continue
		}
		r.choose(o, fields, m.At, selector.String(), selector, emit)
	}
	if !found && r.s.Absent == "all" && r.holds(fields, nil) {
		everything := &relation.Selector{}
		r.choose(o, fields, r.s.Selector, everything.String(), everything, emit)
	}
}

// choose emits a link for each kind and each area in which a selector looks.
func (r *reader) choose(o object.Object, fields map[string]any, at, value string, selector *relation.Selector, emit relation.EmitFunc) {
	for _, gk := range r.named {
		for _, area := range r.areas(o, fields) {
			area.Kind, area.Selector = gk, selector
			r.emit(o, relation.Link{Target: area, Field: at, Value: value}, emit)
		}
	}
}

// areas are the namespaces in which a selector of the object looks.
func (r *reader) areas(o object.Object, fields map[string]any) []relation.Target {
	own := []relation.Target{{Namespace: o.Namespace, AllNamespaces: o.Namespace == ""}}
	if r.s.Everywhere {
		return []relation.Target{{AllNamespaces: true}}
	}
	if r.namespaces.IsZero() {
		return own
	}
	for _, v := range r.namespaces.Find(fields) {
		switch v := v.(type) {
		case []any:
			return namespacesNamed(v)
		case map[string]any:
			if any, ok := v["any"].(bool); ok && any {
				return []relation.Target{{AllNamespaces: true}}
			}
			if names, ok := v["matchNames"].([]any); ok {
				return namespacesNamed(names)
			}
			if _, ok := v["any"]; ok {
				return own
			}
			selector, ok := relation.SelectorIn(v)
			switch {
			case !ok:
				return nil // What is malformed chooses nothing.
			case len(selector.Labels)+len(selector.Expressions) == 0:
				if r.s.EmptyNamespaces == "own" {
					return own
				}
				return []relation.Target{{AllNamespaces: true}}
			}
			return []relation.Target{{Namespaces: selector}}
		}
	}
	return own
}

func namespacesNamed(names []any) []relation.Target {
	var all []relation.Target
	for _, n := range names {
		if ns, ok := n.(string); ok && object.MayBeName(ns) {
			all = append(all, relation.Target{Namespace: ns})
		}
	}
	return all
}
