package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// limitRanges returns those that a namespace would have, by name: those of the batch replace those
// of the cluster with the same name.
func (f *evaluation) limitRanges(namespace string) []*corev1.LimitRange {
	byName := map[string]*corev1.LimitRange{}
	for _, r := range together[corev1.LimitRange](f, limitKind) {
		if r.Namespace == namespace {
			byName[r.Name] = r
		}
	}
	for _, it := range f.ofKind(limitKind) {
		if it.Ref.Namespace != namespace {
			continue
		}
		if r := typed[corev1.LimitRange](f, it); r != nil {
			byName[r.Name] = r
		}
	}
	out := make([]*corev1.LimitRange, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// limitDefaults gives containers that say nothing what the LimitRanges say.
func (f *evaluation) limitDefaults(p *corev1.Pod) {
	for _, r := range f.limitRanges(p.Namespace) {
		limits, requests := defaultsOf(r)
		for _, c := range containers(&p.Spec) {
			c.Resources.Limits = filled(c.Resources.Limits, limits)
			c.Resources.Requests = filled(c.Resources.Requests, requests)
		}
	}
}

// defaultsOf returns what a LimitRange gives to containers. Where it states no default its
// maximum is the limit, and the limit, or else its minimum, the request: so the API server
// keeps it.
func defaultsOf(r *corev1.LimitRange) (limits, requests corev1.ResourceList) {
	limits, requests = corev1.ResourceList{}, corev1.ResourceList{}
	for _, l := range r.Spec.Limits {
		if l.Type != corev1.LimitTypeContainer {
			continue
		}
		limit := filled(filled(nil, l.Default), l.Max)
		request := filled(filled(filled(nil, l.DefaultRequest), limit), l.Min)
		maps.Copy(limits, limit)
		maps.Copy(requests, request)
	}
	return limits, requests
}

// filled adds what a list does not have from another one.
func filled(list, from corev1.ResourceList) corev1.ResourceList {
	for name, q := range from {
		if _, ok := list[name]; ok {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[name] = q.DeepCopy()
	}
	return list
}

// limits holds pods and claims against the LimitRanges. What the API server admitted is
// held against those of the batch alone.
func (f *evaluation) limits() {
	n := 0
	for _, c := range f.podSets {
		if !c.lost && (c.missing() > 0 || c.later) {
			n += f.limitsOf(c)
		}
	}
	for _, c := range f.claims {
		for _, r := range f.limitRanges(c.Namespace) {
			n++
			for _, b := range claimBreaches(r, c.PersistentVolumeClaim) {
				b.field = c.field + ".resources.requests"
				f.limited(c.item, c.podSet, r, b)
			}
		}
	}
	if n > 0 {
		f.checked[Limits] = "the LimitRanges allow all containers, pods and claims"
	}
}

// limitsOf holds the pods of a pod set against the LimitRanges, and returns how many there are.
func (f *evaluation) limitsOf(c *podSet) (n int) {
	a := f.podDryRuns[c.item.Ref]
	admitted := a != nil && (a.Admitted != nil || a.Message != "" && a.Unknown == "" && f.awaits(a).Name == "") && c.by == ""
	if !admitted && !f.newNamespace(c.pod.Namespace) && !f.World.Read(limitKind, c.pod.Namespace) {
		f.add(Finding{
			Topic: Limits, Verdict: verdictUnknown, Object: f.firstRunning(c.pod.Namespace).Ref, Reason: "Unread",
			Message: unread(limitKind, c.pod.Namespace) + ": whether they allow the pods is unknown",
		})
	}
	for _, r := range f.limitRanges(c.pod.Namespace) {
		if admitted && !f.inBatch(refOf(limitKind, r)) {
			continue
		}
		n++
		for _, b := range breaches(r, c.pod) {
			b.field = c.spec() + "." + b.field
			f.limited(c.item, c, r, b)
		}
	}
	return n
}

// firstRunning is the first object of a namespace that runs pods.
func (f *evaluation) firstRunning(namespace string) *Item {
	i := slices.IndexFunc(f.podSets, func(c *podSet) bool { return c.pod.Namespace == namespace && !c.lost })
	return f.podSets[i].item
}

// violation is one thing that a LimitRange does not allow.
type violation struct {
	field, value, message string
}

func (f *evaluation) limited(it *Item, c *podSet, r *corev1.LimitRange, b violation) {
	j := Finding{
		Topic: Limits, Verdict: impossible, Object: it.Ref, Field: b.field, Value: b.value, Reason: "LimitRange",
		Message: fmt.Sprintf("%s does not allow it: %s", near(object.Ref{Kind: "LimitRange", Namespace: r.Namespace, Name: r.Name}, it.Ref.Namespace), b.message),
		Remedy:  "change the figure, or the LimitRange",
	}
	if c == nil {
		f.add(j)
		return
	}
	f.addRefusal(j, c)
}

func breaches(r *corev1.LimitRange, p *corev1.Pod) []violation {
	var out []violation
	for _, l := range r.Spec.Limits {
		switch l.Type {
		case corev1.LimitTypeContainer:
			for _, c := range containers(&p.Spec) {
				out = append(out, held(l, "container "+c.Name, fmt.Sprintf("containers[%s].resources", c.Name), c.Resources.Requests, c.Resources.Limits)...)
			}
		case corev1.LimitTypePod:
			bare := p.DeepCopy()
			bare.Spec.Overhead = nil
			requests := resourcehelper.PodRequests(bare, resourcehelper.PodResourcesOptions{})
			limits := resourcehelper.PodLimits(bare, resourcehelper.PodResourcesOptions{})
			out = append(out, held(l, "the pod as a whole", "containers[].resources", requests, limits)...)
		}
	}
	return out
}

// claimBreaches compares the requests of a claim with the limits on claims.
func claimBreaches(r *corev1.LimitRange, c *corev1.PersistentVolumeClaim) []violation {
	var out []violation
	for _, l := range r.Spec.Limits {
		if l.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		l.MaxLimitRequestRatio = nil
		asked := c.Spec.Resources.Requests
		for _, b := range held(l, "claim "+c.Name, "", asked, asked) {
			b.message = strings.Replace(b.message, "has limits of", "requests", 1)
			b.message = strings.Replace(b.message, "has requests of", "requests", 1)
			out = append(out, b)
		}
	}
	return out
}

// held holds requests and limits against one item of a LimitRange, as the LimitRanger
// plugin does.
func held(l corev1.LimitRangeItem, subject, field string, requests, limits corev1.ResourceList) []violation {
	var out []violation
	add := func(kind string, name corev1.ResourceName, q *resource.Quantity, rule string) {
		b := violation{field: field + "." + kind + "." + string(name), message: fmt.Sprintf("%s %s, but %s has none", name, rule, subject)}
		if field == "" {
			b.field = ""
		}
		if q != nil {
			b.value = q.String()
			b.message = fmt.Sprintf("%s %s, but %s has %s of %s", name, rule, subject, kind, b.value)
		}
		out = append(out, b)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Min)) {
		least, request, limit := l.Min[name], ptr(requests, name), ptr(limits, name)
		rule := "must be at least " + least.String()
		switch {
		case request == nil || request.Cmp(least) < 0:
			add("requests", name, request, rule)
		case limit != nil && limit.Cmp(least) < 0:
			add("limits", name, limit, rule)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Max)) {
		most, request, limit := l.Max[name], ptr(requests, name), ptr(limits, name)
		rule := "may be at most " + most.String()
		switch {
		case limit == nil || limit.Cmp(most) > 0:
			add("limits", name, limit, rule)
		case request != nil && request.Cmp(most) > 0:
			add("requests", name, request, rule)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.MaxLimitRequestRatio)) {
		ratio, request, limit := l.MaxLimitRequestRatio[name], ptr(requests, name), ptr(limits, name)
		rule := fmt.Sprintf("may have a limit of at most %s times its request", ratio.String())
		switch {
		case request == nil || request.IsZero():
			add("requests", name, nil, rule)
		case limit == nil || limit.IsZero():
			add("limits", name, nil, rule)
		case limit.AsApproximateFloat64()/request.AsApproximateFloat64() > ratio.AsApproximateFloat64()*(1+1e-9):
			add("limits", name, limit, rule)
		}
	}
	return out
}

func ptr(list corev1.ResourceList, name corev1.ResourceName) *resource.Quantity {
	q, ok := list[name]
	if !ok {
		return nil
	}
	return &q
}
