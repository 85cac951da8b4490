package graph

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

const selectorField = "spec.selector"

var replicaSetKind = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}

// disagreements compares the selectors of workloads with the owners of the pods, in the namespaces
// of members, and reports what concerns a member.
func (d *diagnosis) disagreements() {
	namespaces := map[string]bool{}
	for _, id := range d.s.members {
		if r := d.g.Ref(id); r.Namespace != "" && d.g.State(id) == Present {
			namespaces[r.Namespace] = true
		}
	}
	c := comparison{diagnosis: d, workloads: map[ID]*link{}, resting: map[ID]bool{}, overlaps: map[pair]pods{}}
	for id, e := range d.g.evidenceLinks(relation.WorkloadSelector) {
		if namespaces[d.g.Ref(id).Namespace] {
			c.workloads[id] = e
		}
	}
	for id := range d.g.evidenceLinks(relation.WorkloadAtRest) {
		c.resting[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(c.workloads)) {
		c.compare(id)
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.overlaps), comparePairs) {
		c.overlap(k)
	}
}

// comparison compares the workloads of some namespaces with their pods.
type comparison struct {
	*diagnosis
	workloads map[ID]*link
	resting   map[ID]bool // scaled to 0
	overlaps  map[pair]pods
}

// pair is a workload, and another one whose pods it selects.
type pair struct{ selects, owns ID }

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.selects, b.selects), cmp.Compare(a.owns, b.owns))
}

// pods is a number of pods, with the first of them.
type pods struct {
	n     int
	first ID
}

func (p *pods) add(id ID) {
	if p.n++; p.n == 1 || id < p.first {
		p.first = id
	}
}

func (p pods) text(g *Graph) string {
	suffix := ""
	if p.n > 1 {
		suffix = ", ..."
	}
	return fmt.Sprintf("%s (%s%s)", count(p.n, "pod"), g.Ref(p.first).Name, suffix)
}

// compare sorts the pods that a workload selects by their owners.
func (c *comparison) compare(id ID) {
	sel := c.g.selector(c.workloads[id])
	matched := map[ID]bool{}
	var orphans pods
	for _, row := range c.index().Select(podKind, c.g.Ref(id).Namespace, false, query(sel)) {
		pod := c.g.number[row]
		matched[pod] = true
		if !c.s.Has(id) && !c.s.Has(pod) {
			continue
		}
		switch owner, belongs := c.belongs(pod, id); belongs {
		case toAnother:
			k := pair{id, owner}
			p := c.overlaps[k]
			p.add(pod)
			c.overlaps[k] = p
		case toNone:
			orphans.add(pod)
		}
	}
	if orphans.n > 0 {
		c.orphans(id, orphans, sel)
	}
	if c.s.Has(id) {
		c.strangers(id, matched, sel)
	}
}

// belonging says whose a pod is, relative to a workload.
type belonging int

const (
	unknown belonging = iota
	toIt
	toAnother
	toNone
)

// belongs follows the controllers above a pod. It returns the workload among them, or else the
// pod's controller.
func (c *comparison) belongs(pod, workload ID) (ID, belonging) {
	owner, at := ID(-1), pod
	for range maxChain {
		above, has, known := c.controllerOf(at)
		switch {
		case !known:
			return 0, unknown
		case !has && at == pod:
			return 0, toNone
		case !has:
			return owner, toAnother
		case above == workload:
			return above, toIt
		case c.g.State(above) != Present:
			return 0, unknown
		}
		if at = above; owner < 0 || c.workloads[at] != nil {
			owner = at
		}
	}
	return 0, unknown
}

// overlap reports two workloads of which one selects the other's pods; if both do, once, on a
// member if possible.
func (c *comparison) overlap(k pair) {
	_, both := c.overlaps[pair{k.owns, k.selects}]
	if mine, its := c.s.Has(k.selects), c.s.Has(k.owns); both && (its && !mine || its == mine && k.owns < k.selects) {
		return
	}
	it, other, pods := c.g.Ref(k.selects), c.g.Ref(k.owns), c.overlaps[k]
	evidence := fmt.Sprintf("%s %q", selectorField, c.g.selector(c.workloads[k.selects]))
	p := Problem{Object: it, Reason: SelectorOwnerDisagree, Severity: Warning, Related: other, Field: selectorField}
	p.Message = fmt.Sprintf("%s also selects %s of %s", evidence, pods.text(c.g), near(other, it))
	if !c.s.Has(k.selects) {
		if p.Object, p.Related, p.Field = other, it, ""; !c.s.Has(k.owns) {
			p.Object = c.g.Ref(pods.first)
		}
		p.Message = fmt.Sprintf("%s of %s also selects %s of %s", evidence, near(it, other), pods.text(c.g), near(other, it))
	}
	if both {
		p.Message += ", and the other way round"
	}
	if p.Message += ": anything that counts or scales by it counts both; add a label that distinguishes them"; c.resting[k.selects] {
		p.Severity = Info
	}
	c.problems = append(c.problems, p)
}

// orphans reports pods that a workload selects and nothing controls.
func (c *comparison) orphans(id ID, orphans pods, sel *relation.Selector) {
	it, first := c.g.Ref(id), c.g.Ref(orphans.first)
	p := Problem{Object: it, Reason: SelectorOwnerDisagree, Severity: Warning, Related: first, Field: selectorField}
	suffix := ""
	if !c.s.Has(id) {
		p.Object, p.Related, p.Field = first, it, ""
		suffix = " of " + near(it, first)
	}
	follows := "a controller that selects it may adopt or delete it"
	if it.Kind == "Deployment" {
		follows = "it receives traffic, and no rollout replaces it"
	}
	p.Message = fmt.Sprintf("%s %q%s selects %s without a controller: %s; delete it or change its labels",
		selectorField, sel, suffix, orphans.text(c.g), follows)
	c.problems = append(c.problems, p)
}

// strangers reports pods that a workload controls, directly or by a ReplicaSet, and does not
// select.
func (c *comparison) strangers(id ID, matched map[ID]bool, sel *relation.Selector) {
	var found pods
	for owner := range c.controlled(id, replicaSetKind, true) {
		for pod := range c.controlled(owner, podKind, false) {
			if !matched[pod] && c.g.State(pod) == Present {
				found.add(pod)
			}
		}
	}
	if found.n == 0 {
		return
	}
	c.problems = append(c.problems, Problem{
		Object: c.g.Ref(id), Reason: SelectorOwnerDisagree, Severity: Warning, Related: c.g.Ref(found.first), Field: selectorField,
		Message: fmt.Sprintf("%s %q does not select %s of its own: it will release them; check the labels", selectorField, sel, found.text(c.g)),
	})
}

// controlled yields the objects of a kind that a node controls, and the node itself if self is set.
func (c *comparison) controlled(id ID, gk schema.GroupKind, self bool) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		if self && !yield(id) {
			return
		}
		for i := c.g.out[id]; i < c.g.out[id+1]; i++ {
			if e := &c.g.edges[i]; e.flags&controller != 0 && c.g.Ref(e.to).GroupKind() == gk && !yield(e.to) {
				return
			}
		}
	}
}
