package declare

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selectors links the object to what the label selectors at the path choose.
func (r *reader) selectors(o object.Object, emit relation.Emit) {
	fields := contentOf(o, r.metadata)
	for m := range r.path.Matches(fields) {
		selector, ok := labelSelector(m.Value)
		if !ok || !r.holds(fields, m.Holder) {
			continue
		}
		if len(selector.Labels)+len(selector.Expressions) == 0 && r.s.Empty != "all" {
			continue
		}
		r.choose(o, fields, m.At, selector.String(), selector, emit)
	}
}

// choose emits a link for each kind and each area in which a selector looks.
func (r *reader) choose(o object.Object, fields map[string]any, at, value string, selector *relation.Selector, emit relation.Emit) {
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
			selector, ok := labelSelector(v)
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
		if ns, ok := n.(string); ok && isName(ns) {
			all = append(all, relation.Target{Namespace: ns})
		}
	}
	return all
}

// labelSelector makes a selector of a LabelSelector or a map of labels. It is
// false for what is malformed.
func labelSelector(v any) (*relation.Selector, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	labels, isSelector := m["matchLabels"].(map[string]any)
	expressions, ok := m["matchExpressions"].([]any)
	if !isSelector && !ok {
		labels = m
	}
	out := &relation.Selector{}
	for key, v := range labels {
		text, ok := v.(string)
		if !ok {
			return nil, false
		}
		if out.Labels == nil {
			out.Labels = make(map[string]string, len(labels))
		}
		out.Labels[key] = text
	}
	for _, e := range expressions {
		r, ok := requirement(e)
		if !ok {
			return nil, false
		}
		out.Expressions = append(out.Expressions, r)
	}
	return out, true
}

// requirement reads an item of matchExpressions.
func requirement(v any) (metav1.LabelSelectorRequirement, bool) {
	m, _ := v.(map[string]any)
	key, _ := m["key"].(string)
	operator, _ := m["operator"].(string)
	r := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOperator(operator)}
	values, _ := m["values"].([]any)
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			return r, false
		}
		r.Values = append(r.Values, text)
	}
	switch r.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		return r, key != "" && len(r.Values) > 0
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		return r, key != "" && len(r.Values) == 0
	}
	return r, false
}
