package annotations

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// selectorRule returns the rule that reads a label selector, or the value of the label key, from
// the instance. The instance serves what it selects in its namespace (in all namespaces if it is
// cluster-scoped).
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

// selector returns a selector for a map of labels, a LabelSelector or, if the relationship has a
// key, the value that the label must have. An empty or malformed value selects nothing.
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
