package relation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selector matches objects. All requirements must match; without any it matches every object of the
// kind.
type Selector struct {
	// Labels are the labels that the target must have, with these values.
	Labels map[string]string
	// Expressions are requirements on labels, with the operators of a LabelSelector.
	Expressions []metav1.LabelSelectorRequirement
	// Annotation, if set, is the key of an annotation that the target must have, with a value that
	// Match accepts.
	Annotation string
	// Match reports whether the value of the annotation refers to the object. It must be set with
	// Annotation.
	Match func(value string) bool
	// Name, if set, is a pattern that the name of the target must match.
	Name *NamePattern
	// Key, if set, is one of the further names of the target (Rule.Keys).
	Key string
}

// NamePattern matches names that end in an ordinal, as those of a StatefulSet's pods and claims do.
type NamePattern struct {
	// Prefix is the part before the ordinal.
	Prefix string
	// Any accepts any suffix instead of an ordinal.
	Any bool
	// Ordinals from Start to End, exclusive, do not match: they are linked by name.
	Start, End int
}

// Match reports whether name is Prefix followed by an ordinal without leading zeros, or, with Any,
// by anything.
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

// String formats the pattern for people: data-web-<n>.
func (p *NamePattern) String() string {
	if p.Any {
		return p.Prefix + "*"
	}
	return p.Prefix + "<n>"
}

// FromLabelSelector converts a LabelSelector. An empty one matches everything; the meaning of an
// absent one depends on the kind, so the rule decides it.
func FromLabelSelector(s *metav1.LabelSelector) *Selector {
	return &Selector{Labels: s.MatchLabels, Expressions: s.MatchExpressions}
}

// isWithin reports whether other matches all that s matches, as far as the labels of both show it.
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

// everything reports whether a selector has no requirement.
func everything(s *metav1.LabelSelector) bool {
	return len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// podsIn returns a link to the pods of a namespace that a selector matches.
func podsIn(namespace string, s *Selector, field string) Link {
	return Link{Target: Target{Kind: pod, Namespace: namespace, Selector: s}, Field: field, Value: s.String()}
}

// podsWhere emits links to the pods that a selector matches in the namespaces that another one
// matches. Most of those select the label with the namespace's own name, and then no Namespace need
// be read.
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

// namespaceNames returns the names that a selector of namespaces requires, if it requires nothing
// else.
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

// SelectorIn returns the selector in a field of a custom resource: a LabelSelector, or a map of
// labels. It returns false for a malformed one. The rule decides what an empty one means.
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

// requirement parses an item of matchExpressions.
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

// String formats the selector as kubectl does: app=web,tier in (a,b).
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
