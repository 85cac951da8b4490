package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// budget is a ResourceQuota as it would be, and what is used of it now.
type budget struct {
	*corev1.ResourceQuota
	// item is set where the batch brings it or changes it.
	item *Item
	hard corev1.ResourceList
	// used are the figures that are known.
	used corev1.ResourceList
	// unread says of which resources the usage is unknown, and why.
	unread map[corev1.ResourceName]string
}

func (b *budget) ref() object.Ref { return refOf(quotaKind, b.ResourceQuota) }

// quotas adds up what the whole batch would use of each quota of its namespaces.
func (f *evaluation) quotas() {
	n := 0
	for _, namespace := range f.namespacesOfBatch() {
		if !f.newNamespace(namespace) && !f.World.Read(quotaKind, namespace) {
			f.add(Finding{
				Topic: Quota, Verdict: verdictUnknown, Object: f.firstIn(namespace).Ref, Field: "metadata.namespace", Value: namespace, Reason: "Unread",
				Message: unread(quotaKind, namespace) + ": room for the whole batch is unknown",
			})
		}
		charges := f.charges(namespace)
		for _, b := range f.budgets(namespace) {
			n++
			f.mustSpecify(b)
			f.hold(b, charges)
		}
	}
	if n > 0 {
		f.checked[Quota] = fmt.Sprintf("%s: the whole batch is within", object.Count(n, "quota"))
	}
}

func (f *evaluation) namespacesOfBatch() []string {
	in := map[string]bool{}
	for _, it := range f.order {
		in[it.Ref.Namespace] = true
	}
	delete(in, "")
	return slices.Sorted(maps.Keys(in))
}

func (f *evaluation) firstIn(namespace string) *Item {
	return f.order[slices.IndexFunc(f.order, func(it *Item) bool { return it.Ref.Namespace == namespace })]
}

// budgets are the quotas that a namespace would have, by name.
func (f *evaluation) budgets(namespace string) []*budget {
	var out []*budget
	for _, q := range together[corev1.ResourceQuota](f, quotaKind) {
		if q.Namespace != namespace {
			continue
		}
		b := &budget{ResourceQuota: q, item: f.items[refOf(quotaKind, q)], hard: hardOf(q), used: q.Status.Used, unread: map[corev1.ResourceName]string{}}
		out = append(out, b)
		if b.item == nil {
			continue
		}
		if written := typed[corev1.ResourceQuota](f, b.item); written != nil {
			b.hard = written.Spec.Hard
			b.Spec = *written.Spec.DeepCopy()
		}
		if _, ok := check.Of[*corev1.ResourceQuota](f.World.Facts, b.ref()); !ok {
			b.ResourceQuota = &corev1.ResourceQuota{ObjectMeta: q.ObjectMeta, Spec: b.Spec}
			f.count(b)
		}
	}
	return out
}

// hardOf is what a quota enforces; until its controller has seen it, what it will.
func hardOf(q *corev1.ResourceQuota) corev1.ResourceList {
	if q.Status.Hard != nil {
		return q.Status.Hard
	}
	return q.Spec.Hard
}

// hold holds the batch against one quota, resource by resource.
func (f *evaluation) hold(b *budget, charges []charge) {
	scope := unknownScope(b.ResourceQuota)
	if scope == "" && byAttributes(b.ResourceQuota) && slices.ContainsFunc(f.claims, func(c *claim) bool { return c.Namespace == b.Namespace && c.Spec.VolumeAttributesClassName != nil }) {
		scope = string(corev1.ResourceQuotaScopeVolumeAttributesClass)
	}
	if scope != "" {
		f.add(Finding{
			Topic: Quota, Verdict: verdictUnknown, Object: f.firstIn(b.Namespace).Ref, Reason: "ScopeUnknown",
			Message: fmt.Sprintf("%s has the scope %s, whose selection is unknown", near(b.ref(), b.Namespace), scope),
		})
		return
	}
	reported := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(b.hard)) {
		all := tallied(b, charges, name, scenario{anyPodSet, everything})
		if all.sum.Sign() <= 0 {
			continue
		}
		used, known := b.used[name]
		if !known {
			reason := b.unread[name]
			if reason == "" {
				reason = "its status does not say how much is used"
			}
			f.add(Finding{Topic: Quota, Verdict: verdictUnknown, Object: all.item.Ref, Field: string(name), Reason: "QuotaUnknown", Message: fmt.Sprintf("%s limits %s, and %s", near(b.ref(), b.Namespace), name, reason)})
			continue
		}
		// cpu and requests.cpu are the same: one is reported.
		key := strings.TrimPrefix(string(name), "requests.") + all.sum.String() + quantity(b.hard[name]) + quantity(used)
		if !reported[key] && f.checkQuota(b, charges, name, used, all) {
			reported[key] = true
		}
	}
}

// checkQuota reports a resource of which there is not enough, and says whether it did.
func (f *evaluation) checkQuota(b *budget, charges []charge, name corev1.ResourceName, used resource.Quantity, all *tally) bool {
	j := Finding{
		Topic: Quota, Verdict: impossible, Object: all.item.Ref, Field: string(name), Reason: "QuotaExceeded",
		Remedy: fmt.Sprintf("raise %s of %s, or request less", name, near(b.ref(), b.Namespace)),
	}
	too := func(t *tally, way scenario, ending bool) (string, bool) {
		free := used.DeepCopy()
		free.Sub(f.freed(b, name, way, ending))
		missing := free.DeepCopy()
		missing.Add(t.sum)
		hard := b.hard[name]
		missing.Sub(hard)
		return fmt.Sprintf("%s allows %s %s, %s is used, and the batch requests %s more (%s): %s too much",
			near(b.ref(), b.Namespace), hard.String(), name, free.String(), t.sum.String(), t.parts(), missing.String()), missing.Sign() > 0
	}
	message, exceeded := too(all, scenario{anyPodSet, everything}, false)
	if !exceeded {
		return false
	}
	for _, try := range f.tries(name) {
		t := tallied(b, charges, name, try.scenario)
		text, yes := too(t, try.scenario, true)
		if try.fine && !yes {
			return false
		}
		if !try.fine && yes {
			j.Object, j.Message = itemOf(t, all).Ref, try.before+text+try.after
			f.add(j)
			return true
		}
	}
	j.Verdict, j.Reason, j.Message = verdictUnknown, "QuotaInTurns", message+" at the same time; it may fit once old pods, or those of Jobs, are gone"
	if f.has(func(c *podSet) bool { return c.guess }) {
		j.Message = message + ", if the custom resources run the assumed pods, and all pods exist at the same time"
	}
	f.add(j)
	return true
}

func quantity(q resource.Quantity) string { return " " + q.String() }

// mustSpecify finds containers that do not state what a quota on CPU or memory makes them
// state. Of pods that the API server admitted that is known.
func (f *evaluation) mustSpecify(b *budget) {
	for _, c := range f.podSets {
		if a := f.podDryRuns[c.item.Ref]; c.pod.Namespace != b.Namespace || c.lost || c.missing() == 0 && !c.later || a != nil && a.Admitted != nil && b.item == nil && c.by == "" {
			continue
		}
		if !covers(b.ResourceQuota, c.pod) || c.pod.Spec.Resources != nil {
			continue
		}
		for _, one := range containers(&c.pod.Spec) {
			if lacks := unstated(one, b.hard); len(lacks) > 0 {
				j := Finding{
					Topic: Quota, Verdict: impossible, Object: c.item.Ref, Field: fmt.Sprintf("%s.containers[%s].resources", c.spec(), one.Name), Reason: "QuotaWantsFigures",
					Message: fmt.Sprintf("%s limits %s, so every container must set it: container %s does not, and the API server refuses its pods", near(b.ref(), b.Namespace), strings.Join(lacks, " and "), one.Name),
					Remedy:  "set it, or add a LimitRange with a default",
				}
				f.addRefusal(j, c)
			}
		}
	}
}

// unstated returns which of CPU and memory, as requests and limits, a container does not
// state though the quota limits them.
func unstated(c *corev1.Container, hard corev1.ResourceList) []string {
	var out []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		_, bare := hard[name]
		_, requests := hard["requests."+name]
		if _, ok := c.Resources.Requests[name]; (bare || requests) && !ok {
			out = append(out, "requests."+string(name))
		}
		_, limits := hard["limits."+name]
		if _, ok := c.Resources.Limits[name]; limits && !ok {
			out = append(out, "limits."+string(name))
		}
	}
	return out
}
