package relation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selector finds objects by what they carry. All requirements must hold; with
// none it finds every object of the kind.
type Selector struct {
	// Labels that the target must carry with these very values.
	Labels map[string]string
	// Expressions on labels, with the operators of a LabelSelector.
	Expressions []metav1.LabelSelectorRequirement
	// Annotation, where set, is the key of an annotation that the target must
	// carry, with a value that Match accepts.
	Annotation string
	// Match tells whether the value of the annotation means the object; it must be
	// set with Annotation.
	Match func(value string) bool
	// Name, where set, is a pattern that the name of the target must fit.
	Name *NamePattern
	// Key, where set, is one of the further names of the target (Rule.Keys).
	Key string
}

// NamePattern is a name that ends in an ordinal, as the names of a StatefulSet's
// pods and claims do.
type NamePattern struct {
	// Prefix is all that stands before the ordinal.
	Prefix string
	// Any says that the end may be anything, as with names that begin with that of
	// somebody.
	Any bool
	// Ordinals from Start up to, but not including, End do not fit: those are
	// linked by their very names.
	Start, End int
}

// Match says whether name is Prefix and an ordinal, with nothing around them and
// no leading zero; or Prefix and Any.
func (p *NamePattern) Match(name string) bool {
	digits, ok := strings.CutPrefix(name, p.Prefix)
	if p.Any {
		return ok
	}
	if !ok || !number(digits) || (len(digits) > 1 && digits[0] == '0') {
		return false
	}
	n, err := strconv.Atoi(digits)
	return err == nil && (n < p.Start || n >= p.End)
}

// String writes the pattern for people: data-web-<n>.
func (p *NamePattern) String() string {
	if p.Any {
		return p.Prefix + "*"
	}
	return p.Prefix + "<n>"
}

// FromLabelSelector returns the selector that s stands for. An empty one finds
// everything; what a missing one means differs from kind to kind and is the
// business of the rule.
func FromLabelSelector(s *metav1.LabelSelector) *Selector {
	return &Selector{Labels: s.MatchLabels, Expressions: s.MatchExpressions}
}

// isWithin says that what s finds, the other one finds as well, as far as that is
// seen from the labels that both ask for.
func (s *Selector) isWithin(other *Selector) bool {
	if len(other.Expressions) > 0 {
		return false
	}
	for key, value := range other.Labels {
		asks := func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == key && e.Operator == metav1.LabelSelectorOpIn && len(e.Values) == 1 && e.Values[0] == value
		}
		if have, ok := s.Labels[key]; (!ok || have != value) && !slices.ContainsFunc(s.Expressions, asks) {
			return false
		}
	}
	return true
}

// everything says that a selector asks for nothing in particular.
func everything(s *metav1.LabelSelector) bool {
	return len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// podsIn is a link to the pods of a namespace that a selector finds.
func podsIn(namespace string, s *Selector, field string) Link {
	return Link{Target: Target{Kind: pod, Namespace: namespace, Selector: s}, Field: field, Value: s.String()}
}

// podsWhere emits links to the pods that a selector finds in the namespaces that
// another one finds. The name of a namespace is a label of it, and the one that is
// mostly asked for: then no Namespace need be read.
func podsWhere(in *metav1.LabelSelector, s *Selector, field string, emit EmitFunc) {
	if names, ok := namespaceNames(in); ok {
		for _, name := range names {
			emit(podsIn(name, s, field))
		}
		return
	}
	l := podsIn("", s, field)
	l.Target.Namespaces = FromLabelSelector(in)
	emit(l)
}

// namespaceNames are the names that a selector of namespaces asks for, if it asks
// for nothing else.
func namespaceNames(s *metav1.LabelSelector) ([]string, bool) {
	name, ok := s.MatchLabels[corev1.LabelMetadataName]
	switch {
	case ok && len(s.MatchLabels) == 1 && len(s.MatchExpressions) == 0:
		return []string{name}, true
	case len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 1:
		e := s.MatchExpressions[0]
		if e.Key == corev1.LabelMetadataName && e.Operator == metav1.LabelSelectorOpIn {
			return e.Values, true
		}
	}
	return nil, false
}

// SelectorIn returns the selector that the content of a custom resource holds: a
// LabelSelector, or a map of labels. It is false for what is malformed. What an
// empty one means is the business of the rule.
func SelectorIn(v any) (*Selector, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	labels, isSelector := m["matchLabels"].(map[string]any)
	expressions, ok := m["matchExpressions"].([]any)
	if !isSelector && !ok {
		labels = m
	}
	out := &Selector{}
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

// String writes the selector as kubectl does: app=web,tier in (a,b).
func (s *Selector) String() string {
	var parts []string
	for k, v := range s.Labels {
		parts = append(parts, k+"="+v)
	}
	for _, e := range s.Expressions {
		parts = append(parts, expression(e))
	}
	slices.Sort(parts)
	if s.Annotation != "" {
		parts = append(parts, s.Annotation)
	}
	if s.Name != nil {
		parts = append(parts, s.Name.String())
	}
	if s.Key != "" {
		parts = append(parts, s.Key)
	}
	if len(parts) == 0 {
		return "<everything>"
	}
	return strings.Join(parts, ",")
}

func expression(e metav1.LabelSelectorRequirement) string {
	switch e.Operator {
	case metav1.LabelSelectorOpExists:
		return e.Key
	case metav1.LabelSelectorOpDoesNotExist:
		return "!" + e.Key
	case metav1.LabelSelectorOpNotIn:
		return e.Key + " notin (" + strings.Join(e.Values, ",") + ")"
	}
	return e.Key + " in (" + strings.Join(e.Values, ",") + ")"
}
