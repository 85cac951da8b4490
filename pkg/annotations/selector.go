package annotations

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selectorRule reads a label selector, or the value of the label key, off the
// instance, which serves what it selects in its namespace (a cluster-scoped
// one, in every namespace).
func (s carrierRelation) selectorRule(p field.Path) relation.Rule {
	links := func(o object.Object, emit relation.EmitFunc) {
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
func (s carrierRelation) selector(v any) *relation.Selector {
	m, ok := v.(map[string]any)
	if !ok {
		if text := field.Scalar(v); text != "" && s.key != "" {
			return &relation.Selector{Labels: map[string]string{s.key: text}}
		}
		return nil
	}
	selector, ok := relation.SelectorIn(m)
	if !ok || len(selector.Labels) == 0 && len(selector.Expressions) == 0 {
		return nil
	}
	return selector
}
