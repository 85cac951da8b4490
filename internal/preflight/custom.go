package preflight

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// customResource finds the pods of a custom resource: those of a footprint, those that it
// has, or those of another instance of its kind. Otherwise they are unknown.
func (f *evaluation) customResource(it *Item) {
	if prints, declared := f.Footprints[it.Ref]; declared {
		for i := range prints {
			c := f.footprint(it, &prints[i])
			if len(prints) > 1 {
				c.title = fmt.Sprintf("%s (part %d)", plain(it.Ref), i+1)
			}
		}
		return
	}
	if it.Exists {
		f.changed(it, f.runs(it.Ref))
		return
	}
	if kinds, ok := f.composes(it.Ref.GroupKind()); ok && !slices.ContainsFunc(kinds, mayRun) {
		return
	}
	donor, pods, instances := f.donor(it)
	switch {
	case len(pods) > 0:
		f.like(it, donor, pods)
	case f.definitions()[it.Ref.GroupKind()] == nil && !f.isServed(it.Ref.GroupKind()):
	case instances > 0 && f.World.Read(check.PodKind, ""):
		f.note("whether %s runs pods: none of the %d existing objects of its kind does", plain(it.Ref), instances)
	default:
		f.add(Finding{
			Topic: Scheduling, Verdict: verdictUnknown, Object: it.Ref, Field: "kind", Value: it.Ref.GroupKind().String(), Reason: "PodsUnknown",
			Message: fmt.Sprintf("the pods that its operator runs for it are unknown: no %s exists to compare with, and no footprint is declared", it.Ref.Kind),
			Remedy:  "declare a footprint: by the annotation sysop.dev/footprint, or in a file with --footprint",
		})
	}
}

func (f *evaluation) footprint(it *Item, p *PodFootprint) *podSet {
	c := f.newPodSet(it, &p.Template, int(p.Replicas))
	c.by, c.guess = p.Origin, strings.HasPrefix(p.Origin, "like ")
	c.base = it.Ref.Name
	if it.Exists {
		for _, w := range f.runs(it.Ref) {
			for _, pod := range w.Pods {
				f.sort(c, pod, false)
			}
		}
	}
	f.rests(c)
	return c
}

// changed is about an existing custom resource. From scratch, it runs what it runs now; what
// its operator does with a change is unknown.
func (f *evaluation) changed(it *Item, pods []*check.Workload) {
	switch live := f.Live[it.Ref]; {
	case f.FromScratch:
		for _, c := range f.copies(it, it.Ref, pods) {
			c.guess = false
		}
	case live != nil && isWithin(it.Object.Object["spec"], live["spec"]):
	case len(pods) == 0 && f.World.Read(check.PodKind, ""):
	default:
		f.add(Finding{
			Topic: Scheduling, Verdict: verdictUnknown, Object: it.Ref, Reason: "ChangeUnknown",
			Message: fmt.Sprintf("it exists and would be changed: the effect on its %s depends on its operator", object.Count(podsOf(pods), "pod")),
			Remedy:  "declare a footprint: by the annotation sysop.dev/footprint, or in a file with --footprint",
		})
	}
}

func podsOf(list []*check.Workload) int {
	n := 0
	for _, w := range list {
		n += len(w.Pods)
	}
	return n
}

func (f *evaluation) composes(gk schema.GroupKind) ([]string, bool) {
	if f.Composes == nil {
		return nil, false
	}
	return f.Composes(gk)
}

// mayRun says of a kind, written Kind.group, that pods may come of it: workloads, and
// custom resources of which one cannot know.
func mayRun(kind string) bool {
	name, group, _ := strings.Cut(kind, ".")
	if group == "" || group == "apps" || group == "batch" {
		return slices.Contains([]string{"Pod", "ReplicationController", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"}, name)
	}
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// runs returns the workloads that an object made, at any depth: by ownership or, of a
// manager, by what it manages.
func (f *evaluation) runs(ref object.Ref) []*check.Workload {
	g := f.World.Graph
	id, ok := g.Find(ref)
	if !ok {
		return nil
	}
	seen := map[object.Ref]bool{ref: true}
	next := []object.Ref{g.Ref(id)}
	var out []*check.Workload
	for at := 0; at < len(next); at++ {
		id, _ := g.Find(next[at])
		for e := range g.Out(id) {
			to := g.Ref(e.To)
			if e.Relation != relation.Owns || seen[to] || g.State(e.To) != present {
				continue
			}
			seen[to] = true
			next = append(next, to)
			if w, ok := f.World.Workload(to); ok && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	slices.SortFunc(out, func(a, b *check.Workload) int { return object.Compare(a.Ref, b.Ref) })
	return out
}

// donor picks the instance of the same kind, among those that run pods, that is most alike: by its
// spec, then by its namespace and name. instances counts them all.
func (f *evaluation) donor(it *Item) (ref object.Ref, pods []*check.Workload, instances int) {
	best := -1
	for _, other := range f.World.Instances(it.Ref.GroupKind()) {
		if other == it.Ref {
			continue
		}
		instances++
		have := f.runs(other)
		if len(have) == 0 {
			continue
		}
		alike := 2 * shared(it.Object.Object["spec"], f.Live[other]["spec"])
		if other.Namespace == it.Ref.Namespace {
			alike++
		}
		if alike > best {
			best, ref, pods = alike, other, have
		}
	}
	return ref, pods, instances
}

// shared counts the fields that are equal in both.
func shared(a, b any) int {
	in, ok := a.(map[string]any)
	if !ok {
		if isWithin(a, b) && b != nil {
			return 1
		}
		return 0
	}
	n := 0
	have, _ := b.(map[string]any)
	for k, v := range in {
		n += shared(v, have[k])
	}
	return n
}

// like makes podSets of the pods of another instance.
func (f *evaluation) like(it *Item, donor object.Ref, pods []*check.Workload) {
	podSets := f.copies(it, donor, pods)
	size, field := sizeOf(it.Object.Object)
	was, _ := sizeOf(f.Live[donor])
	for _, c := range podSets {
		c.by, c.guess = "like those of "+plain(donor), true
		if size >= 0 && len(c.nodes) == 0 && !c.ends && (was == c.wanted || was < 0 && len(podSets) == 1) {
			c.wanted = size
			c.by += fmt.Sprintf(" (its %s is %d)", field, size)
		}
		f.rests(c)
	}
}

// rests adds, as a finding that fits, what the pods of a custom resource are assumed from.
func (f *evaluation) rests(c *podSet) {
	j := Finding{
		Topic: Scheduling, Verdict: fits, Object: c.item.Ref, Reason: "Footprint",
		Message: fmt.Sprintf("it is assumed to run %s, as declared in %s", object.Count(c.wanted, "pod"), c.by),
	}
	if c.guess {
		j.Reason, j.Message = "LikeAnother", fmt.Sprintf("it is assumed to run %s %s", object.Count(c.wanted, "pod"), c.by)
	}
	f.add(j)
}

// sizeFields are those in which a custom resource says how many it is to be.
var sizeFields = []string{"replicas", "instances", "size", "members", "nodeCount"}

func sizeOf(o map[string]any) (int, string) {
	for _, name := range sizeFields {
		switch n, _, _ := unstructured.NestedFieldNoCopy(o, "spec", name); n := n.(type) {
		case int64:
			return int(n), "spec." + name
		case float64:
			return int(n), "spec." + name
		}
	}
	return -1, ""
}
