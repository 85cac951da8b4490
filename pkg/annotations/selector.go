package annotations

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selectorRule reads a label selector, or the value of the label key, off the
// instance, which serves what it selects in its namespace (a cluster-scoped
// one, in every namespace).
func (s carried) selectorRule(p field.Path) relation.Rule {
	links := func(o object.Object, emit relation.Emit) {
		for at, v := range p.Find(o.Fields()) {
			selector := s.selector(v)
			if selector == nil {
				continue
			}
			for _, k := range s.carriers {
				emit(relation.Link{
					Target: relation.Target{Kind: k.GroupKind(), Namespace: o.Namespace, Selector: selector, AllNamespaces: o.Namespace == ""},
					Field:  at,
					Value:  selector.String(),
				})
			}
		}
	}
	return relation.Rule{
		From:     []schema.GroupKind{s.instance.GroupKind()},
		Relation: relation.Serves,
		Via:      relation.Label,
		To:       kindNames(s.carriers),
		Field:    p.String(),
		Links:    links,
	}
}

// selector makes a selector of a map of labels, of a LabelSelector or, where the
// relationship has a key, of the value that the label must have. What is empty or
// malformed selects nothing.
func (s carried) selector(v any) *relation.Selector {
	m, ok := v.(map[string]any)
	if !ok {
		if text := scalar(v); text != "" && s.key != "" {
			return &relation.Selector{Labels: map[string]string{s.key: text}}
		}
		return nil
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
			return nil
		}
		if out.Labels == nil {
			out.Labels = make(map[string]string, len(labels))
		}
		out.Labels[key] = text
	}
	for _, e := range expressions {
		r, ok := requirement(e)
		if !ok {
			return nil
		}
		out.Expressions = append(out.Expressions, r)
	}
	if len(out.Labels) == 0 && len(out.Expressions) == 0 {
		return nil
	}
	return out
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
