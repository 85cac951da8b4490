package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// charge is what something of the batch would use.
type charge struct {
	item  *Item
	usage corev1.ResourceList
	// pod is set of pods, of which scopes choose; claims and all else have no scope here.
	pod    *corev1.Pod
	podSet *podSet
	// of is the pod set whose claim it is: without its pods it is not made.
	of *podSet
}

// counts says whether a quota counts what is charged.
func (c *charge) counts(b *budget) bool {
	if c.pod == nil {
		return len(b.Spec.Scopes) == 0 && (b.Spec.ScopeSelector == nil || len(b.Spec.ScopeSelector.MatchExpressions) == 0)
	}
	return covers(b.ResourceQuota, c.pod)
}

// tally is what a scenario would use of one resource, and what uses most of it.
type tally struct {
	sum   resource.Quantity
	item  *Item
	limit resource.Quantity
	who   map[string]*resource.Quantity
}

func (t *tally) add(it *Item, user string, q resource.Quantity, n int) {
	q = q.DeepCopy()
	q.Mul(int64(n))
	if q.IsZero() {
		return
	}
	t.sum.Add(q)
	if t.who == nil {
		t.who = map[string]*resource.Quantity{}
	}
	if t.who[user] == nil {
		t.who[user] = &resource.Quantity{}
	}
	t.who[user].Add(q)
	if t.item == nil || t.who[user].Cmp(t.limit) > 0 {
		t.item, t.limit = it, t.who[user].DeepCopy()
	}
}

// parts writes who would use how much: Deployment/web 4, Job/load 2.
func (t *tally) parts() string {
	names := slices.Sorted(maps.Keys(t.who))
	words := make([]string, 0, len(names))
	for i, name := range names {
		if i == 5 {
			words = append(words, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		words = append(words, name+" "+t.who[name].String())
	}
	return strings.Join(words, ", ")
}

// tallied adds up one resource over the batch, in a scenario: what exists is in the used
// figure, and is subtracted where it goes.
func tallied(b *budget, charges []charge, name corev1.ResourceName, way scenario) *tally {
	t := &tally{}
	for i := range charges {
		c := &charges[i]
		if !c.counts(b) {
			continue
		}
		user := plain(c.item.Ref)
		if b.Namespace == c.item.Ref.Namespace {
			user = near(c.item.Ref, b.Namespace)
		}
		n := 1
		if c.of != nil && (c.of.refused || c.of.guess && way.new(c.of) == 0) {
			continue
		}
		if c.podSet != nil {
			if n = way.new(c.podSet); c.podSet.refused {
				continue
			}
		}
		t.add(c.item, user, c.usage[name], n)
	}
	return t
}

// freed is what goes with pods that are replaced in a scenario: those that wait for a node
// are counted as used, and are among the new ones; old ones go where the scenario says so.
func (f *evaluation) freed(b *budget, name corev1.ResourceName, way scenario, ending bool) resource.Quantity {
	var sum resource.Quantity
	off := func(list []*corev1.Pod) {
		for _, p := range list {
			if covers(b.ResourceQuota, p) && p.Namespace == b.Namespace {
				sum.Add(podUsage(p)[name])
			}
		}
	}
	for _, c := range f.podSets {
		off(c.waiting)
		if !way.old(c) || !c.overlap {
			off(c.old)
		}
	}
	if ending {
		var going []*corev1.Pod
		for _, p := range together[corev1.Pod](f, check.PodKind) {
			if p.DeletionTimestamp != nil && !f.listed(p) {
				going = append(going, p)
			}
		}
		off(going)
	}
	return sum
}

// listed says that a pod is among the old or waiting ones of a pod set.
func (f *evaluation) listed(p *corev1.Pod) bool {
	return slices.ContainsFunc(f.podSets, func(c *podSet) bool { return slices.Contains(c.old, p) || slices.Contains(c.waiting, p) })
}
