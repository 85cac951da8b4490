package relation

import corev1 "k8s.io/api/core/v1"

// namedNodes emits links to the nodes that a selector names one by one, by name or by host name,
// which is usually the same. A selector by zone or other labels names none. Of several nodes, one
// is enough.
func namedNodes(s *corev1.NodeSelector, path string, emit EmitFunc) {
	if s == nil {
		return
	}
	var links []Link
	add := func(r *corev1.NodeSelectorRequirement, key, path string, inferred bool) {
		if r.Key != key || r.Operator != corev1.NodeSelectorOpIn {
			return
		}
		for k, name := range r.Values {
			l := to(node, "", name, at(path+".values[", k, "]"))
			l.Inferred, l.Target.IfPresent = inferred, inferred
			links = append(links, l)
		}
	}
	for i := range s.NodeSelectorTerms {
		term, path := &s.NodeSelectorTerms[i], at(path+".nodeSelectorTerms[", i, "]")
		for j := range term.MatchFields {
			add(&term.MatchFields[j], "metadata.name", at(path+".matchFields[", j, "]"), false)
		}
		for j := range term.MatchExpressions {
			add(&term.MatchExpressions[j], corev1.LabelHostname, at(path+".matchExpressions[", j, "]"), true)
		}
	}
	for _, l := range links {
		if l.Target.Name != "" {
			l.Optional = len(links) > 1
			emit(l)
		}
	}
}
