package graph

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

const (
	// mounting is the rule by which pods and templates name the claims that they mount.
	mounting = "pod-volume-claim"
	// templating is the rule by which a StatefulSet has claims: those of its replicas by name, and
	// those left from a larger size by selector.
	templating = "statefulset-claim"
)

// unmounted reports a claim that nothing mounts. It is a warning only if everything that could
// mount it was read, no object needs it, and it has a volume.
func (d *diagnosis) unmounted(id ID) {
	self := d.g.Ref(id)
	if !d.g.readFields(podKind, self.Namespace) || d.used(id) {
		return
	}
	p := Problem{Object: self, Reason: ClaimUnmounted, Severity: Info}
	keeper, scaledDown := d.claimOwner(id)
	volume, bound := d.volume(id)
	unread := d.unreadCarriers(self.Namespace)
	switch {
	case scaledDown:
		p.Related = d.g.Ref(keeper)
		p.Message = fmt.Sprintf("no pod mounts it: it remains from more replicas of %s, for when it scales up again; delete it if the data is not needed", near(p.Related, self))
	case keeper >= 0:
		p.Related = d.g.Ref(keeper)
		p.Message = fmt.Sprintf("no pod mounts it; %s owns it", near(p.Related, self))
	case !bound:
		p.Message = "no pod mounts it, and it has no volume yet"
	case unread != "":
		p.Related = d.g.Ref(volume)
		p.Message = fmt.Sprintf("no pod mounts it; whether a workload names it is unknown (not read: %s)", unread)
	default:
		p.Severity, p.Related = Warning, d.g.Ref(volume)
		p.Message = fmt.Sprintf("no pod mounts it and no workload names it, and %s continues to cost: delete the claim if the data is not needed", near(p.Related, self))
	}
	d.problems = append(d.problems, p)
}

// used reports whether an object needs the claim itself. A claim or a snapshot that was copied from
// it is ignored; a StatefulSet that has a replica for it does.
func (d *diagnosis) used(id ID) bool {
	for _, i := range d.g.into[d.g.in[id]:d.g.in[id+1]] {
		e := &d.g.edges[i]
		from := d.g.Ref(e.from)
		switch d.g.relation(e) {
		case relation.Needs:
			if from.GroupKind() != claimKind && from.Group != "snapshot.storage.k8s.io" {
				return true
			}
		case relation.Owns:
			if d.g.rules[e.rule].Name == templating && e.flags&bySelector == 0 {
				return true
			}
		}
	}
	return false
}

// claimOwner returns the owner of the claim, or -1; left is set if it is a StatefulSet that was
// scaled down.
func (d *diagnosis) claimOwner(id ID) (keeper ID, scaledDown bool) {
	keeper = -1
	for _, i := range d.g.into[d.g.in[id]:d.g.in[id+1]] {
		e := &d.g.edges[i]
		switch {
		case !d.g.owns(e) || d.g.State(e.from) == Missing:
		case d.g.rules[e.rule].Name == templating:
			return e.from, true
		case keeper < 0:
			keeper = e.from
		}
	}
	return keeper, false
}

// volume returns the volume that the claim is bound to.
func (d *diagnosis) volume(id ID) (ID, bool) {
	for i := d.g.out[id]; i < d.g.out[id+1]; i++ {
		if e := &d.g.edges[i]; d.g.rules[e.rule].Name == "claim-volume" {
			return e.to, true
		}
	}
	return 0, false
}

// unreadCarriers names the kinds of workloads that could mount a claim in the namespace and were
// not all read.
func (d *diagnosis) unreadCarriers(namespace string) string {
	i := slices.IndexFunc(d.g.rules, func(r relation.Rule) bool { return r.Name == mounting })
	if i < 0 {
		return "the rule " + mounting
	}
	var unread []string
	for _, gk := range d.g.rules[i].From {
		if !d.g.readFields(gk, namespace) {
			unread = append(unread, gk.String())
		}
	}
	const maxShown = 3
	if hidden := len(unread) - maxShown; hidden > 0 {
		unread = append(unread[:maxShown], fmt.Sprintf("and %d more", hidden))
	}
	return strings.Join(unread, ", ")
}

// readFields reports whether every object of the kind in the namespace was read whole.
func (g *Graph) readFields(gk schema.GroupKind, namespace string) bool {
	r, served := g.kinds.Kind(gk)
	if !served {
		return g.kinds.NotServed(gk)
	}
	const unknown = "UnknownVersion"
	return g.inv.Covered(gk, namespace) && !slices.ContainsFunc(g.inv.Gaps(), func(gap object.Gap) bool {
		return gap.Resource == r.String() && gap.Reason == unknown
	})
}
