package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// scopesOf are all that a quota chooses by.
func scopesOf(q *corev1.ResourceQuota) []corev1.ScopedResourceSelectorRequirement {
	var out []corev1.ScopedResourceSelectorRequirement
	for _, s := range q.Spec.Scopes {
		out = append(out, corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		out = append(out, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return out
}

// covers says whether a quota counts a pod: all of its scopes must choose it.
func covers(q *corev1.ResourceQuota, p *corev1.Pod) bool {
	return !slices.ContainsFunc(scopesOf(q), func(s corev1.ScopedResourceSelectorRequirement) bool {
		chosen, _ := inScope(s, p)
		return !chosen
	})
}

// unknownScope returns a scope that this version does not know; empty for none.
func unknownScope(q *corev1.ResourceQuota) string {
	for _, s := range scopesOf(q) {
		if _, known := inScope(s, &corev1.Pod{}); !known {
			return string(s.ScopeName)
		}
	}
	return ""
}

// byAttributes says that a quota chooses claims by their VolumeAttributesClass.
func byAttributes(q *corev1.ResourceQuota) bool {
	return slices.ContainsFunc(scopesOf(q), func(s corev1.ScopedResourceSelectorRequirement) bool {
		return s.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass
	})
}

func inScope(s corev1.ScopedResourceSelectorRequirement, p *corev1.Pod) (chosen, known bool) {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return p.Spec.ActiveDeadlineSeconds != nil, true
	case corev1.ResourceQuotaScopeNotTerminating:
		return p.Spec.ActiveDeadlineSeconds == nil, true
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(p), true
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(p), true
	case corev1.ResourceQuotaScopePriorityClass:
		return hasClass(s, p.Spec.PriorityClassName), true
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crosses(p), true
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return false, true // of claims alone
	}
	return false, false
}

func hasClass(s corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	}
	return class != ""
}

// bestEffort says that no container has requests or limits of CPU or memory.
func bestEffort(p *corev1.Pod) bool {
	lists := []corev1.ResourceList{}
	if r := p.Spec.Resources; r != nil {
		lists = append(lists, r.Requests, r.Limits)
	}
	for _, c := range containers(&p.Spec) {
		lists = append(lists, c.Resources.Requests, c.Resources.Limits)
	}
	for _, list := range lists {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, ok := list[name]; ok && q.Sign() > 0 {
				return false
			}
		}
	}
	return true
}

// crosses says that a pod's affinity looks into other namespaces.
func crosses(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, w := range preferred {
			terms = append(terms, w.PodAffinityTerm)
		}
	}
	if a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}
