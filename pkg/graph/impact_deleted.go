package graph

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// collector finds what is deleted with an object.
type collector struct {
	g     *Graph
	opts  ImpactOptions
	root  ID
	gone  map[ID]bool
	order []ID // what is deleted, in the order in which it was found

	left map[ID]int // remaining owners, of objects that lost one
	lost map[ID]ID  // an owner that was lost

	deleted, mayGo []Deletion
	kept           []Kept
	reclaimed      map[ID]bool // volumes that are deleted with their claims, and whether that is certain; lazy
}

func (c *collector) run() {
	c.order = []ID{c.root}
	for next := 0; next < len(c.order); next++ {
		at := c.order[next]
		c.takeContents(at)
		c.takeInstances(at)
		c.takeChildren(at)
		c.takeCleared(at)
		c.takeVolumes(at)
		c.takeAddresses(at)
	}
	for child, remaining := range c.left {
		if remaining > 0 {
			c.kept = append(c.kept, Kept{child, c.lost[child], AnotherOwner})
		}
	}
	c.kept = slices.DeleteFunc(c.kept, func(k Kept) bool { return c.gone[k.ID] })
	c.mayGo = slices.DeleteFunc(c.mayGo, func(d Deletion) bool { return c.gone[d.ID] })
	slices.SortFunc(c.kept, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.By, b.By))
	})
	c.kept = slices.CompactFunc(c.kept, func(a, b Kept) bool { return a.ID == b.ID })
	for _, list := range []*[]Deletion{&c.deleted, &c.mayGo} {
		slices.SortFunc(*list, func(a, b Deletion) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.By, b.By)) })
		*list = slices.CompactFunc(*list, func(a, b Deletion) bool { return a.ID == b.ID })
	}
}

// take records a deletion, once for each object.
func (c *collector) take(d Deletion) {
	if c.gone[d.ID] || c.g.State(d.ID) != Present {
		return
	}
	c.gone[d.ID] = true
	c.order = append(c.order, d.ID)
	c.deleted = append(c.deleted, d)
}

// takeContents records what is in a namespace.
func (c *collector) takeContents(at ID) {
	r := c.g.Ref(at)
	if r.GroupKind() != namespaceKind {
		return
	}
	for id := range ID(c.g.Len()) {
		if c.g.Ref(id).Namespace == r.Name {
			c.take(Deletion{ID: id, By: at, Removal: InNamespace})
		}
	}
}

// takeInstances records the objects of a definition.
func (c *collector) takeInstances(at ID) {
	r := c.g.Ref(at)
	if r.GroupKind() != definitionKind {
		return
	}
	plural, group, _ := strings.Cut(r.Name, ".")
	kind, ok := c.g.kinds.Resource(schema.GroupResource{Group: group, Resource: plural})
	if !ok {
		return
	}
	for id := range c.g.OfKind(kind.GroupKind()) {
		c.take(Deletion{ID: id, By: at, Removal: OfDefinition})
	}
}

// takeChildren follows owner references as the garbage collector does: an object is deleted with
// its last owner. Only real owner references count, not inferred edges.
func (c *collector) takeChildren(at ID) {
	g := c.g
	last := ID(-1)
	for i := g.out[at]; i < g.out[at+1]; i++ {
		e := &g.edges[i]
		if !g.reference(e) || e.to == last {
			continue
		}
		last = e.to
		if c.gone[e.to] {
			continue
		}
		if at == c.root && c.opts.Cascade == Orphan {
			c.kept = append(c.kept, Kept{e.to, at, Orphaned})
			continue
		}
		if _, met := c.left[e.to]; !met {
			c.left[e.to] = g.liveOwners(e.to)
		}
		if g.State(at) != Missing {
			c.left[e.to]--
		}
		if c.left[e.to] > 0 {
			c.lost[e.to] = at
			continue
		}
		c.take(Deletion{ID: e.to, By: at, Removal: Collected, Edge: g.edge(*e), Blocks: e.flags&blocks != 0})
	}
}

// liveOwners counts the owner references of a node, without those to deleted objects.
func (g *Graph) liveOwners(id ID) int {
	return len(g.sources(id, func(e *edge) bool { return g.reference(e) && g.State(e.from) != Missing }))
}

// reference reports whether an edge is a real owner reference.
func (g *Graph) reference(e *edge) bool {
	return g.relation(e) == relation.Owns && g.rules[e.rule].Via == relation.Owner
}

// takeCleared records what the controller of an object deletes without owner references, and what
// it may delete.
func (c *collector) takeCleared(at ID) {
	g := c.g
	for i := g.out[at]; i < g.out[at+1]; i++ {
		e := &g.edges[i]
		rule := &g.rules[e.rule]
		if rule.Relation != relation.Owns || g.reference(e) || !c.opts.follows(g, e) || g.State(e.to) != Present || c.gone[e.to] {
			continue
		}
		d := Deletion{ID: e.to, By: at, Removal: ByController, Edge: g.edge(*e)}
		switch clears, known := g.clears(at, rule); {
		case clears && e.flags&inferred == 0:
			c.take(d)
		case clears || !known:
			c.mayGo = append(c.mayGo, d)
		default:
			c.kept = append(c.kept, Kept{e.to, at, NotCleared})
		}
	}
}

// clears reports whether the controller of an owner deletes what that owns by a rule.
func (g *Graph) clears(owner ID, r *relation.Rule) (clears, known bool) {
	switch r.Deletes {
	case "":
		return false, false
	case relation.Always, relation.Never:
		return r.Deletes == relation.Always, true
	}
	return slices.ContainsFunc(g.Finalizers(owner), func(f string) bool {
		return f == r.Deletes || strings.HasPrefix(f, r.Deletes+"/")
	}), true
}

// takeVolumes records the volume of a claim if its reclaim policy says so.
func (c *collector) takeVolumes(at ID) {
	g := c.g
	if g.Ref(at).GroupKind() != claimKind {
		return
	}
	if c.reclaimed == nil {
		c.reclaimed = map[ID]bool{}
		for id, l := range g.evidenceLinks(relation.VolumeReclaimed) {
			c.reclaimed[id] = l.flags&inferred == 0
		}
	}
	for i := g.out[at]; i < g.out[at+1]; i++ {
		e := &g.edges[i]
		if g.rules[e.rule].Name != "claim-volume" {
			continue
		}
		d := Deletion{ID: e.to, By: at, Removal: Reclaimed, Edge: g.edge(*e)}
		switch sure, reclaimed := c.reclaimed[e.to]; {
		case sure:
			c.take(d)
		case reclaimed:
			c.mayGo = append(c.mayGo, d)
		case g.State(e.to) == Present:
			c.kept = append(c.kept, Kept{e.to, at, Retained})
		case g.State(e.to) == Unread:
			c.mayGo = append(c.mayGo, d)
		}
	}
}

// takeAddresses records the IPAddresses of a Service, which the API server creates and deletes with
// it.
func (c *collector) takeAddresses(at ID) {
	g := c.g
	if g.Ref(at).GroupKind() != serviceKind {
		return
	}
	for _, i := range g.into[g.in[at]:g.in[at+1]] {
		if e := &g.edges[i]; g.rules[e.rule].Name == "ip-address-parent" {
			c.take(Deletion{ID: e.from, By: at, Removal: ByController, Edge: g.edge(*e)})
		}
	}
}
