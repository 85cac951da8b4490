package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// dangling finds references to what is known not to be there. Where a Deployment,
// its ReplicaSets and their pods all name it, the Deployment is told of, once.
func (d *diagnosis) dangling() {
	by := map[ID][]*edge{}
	for _, id := range d.s.members {
		if d.g.State(id) != Present || d.s.Boundary(id) {
			continue
		}
		for i := d.g.out[id]; i < d.g.out[id+1]; i++ {
			if e := &d.g.edges[i]; d.g.State(e.to) == Missing && d.g.matters(e) {
				by[e.to] = append(by[e.to], e)
			}
		}
	}
	for _, to := range slices.Sorted(maps.Keys(by)) {
		d.lacking(by[to])
	}
}

// matters says whether it is a problem if there is nothing at the end of an edge.
// Of an edge that the target says the object itself knows nothing; what was
// guessed need not be; and what is out of work breaks no more.
func (g *Graph) matters(e *edge) bool {
	r := &g.rules[e.rule]
	if e.flags&(inferred|backward|dormant) != 0 || r.Aside || givenToAll(g.Ref(e.to)) {
		return false
	}
	if severity, _ := consequence(r); severity == 0 {
		return false
	}
	for back := range g.between(e.to, e.from) {
		if g.relation(back) == relation.Owns {
			return false // told as an owner that is absent
		}
	}
	return true
}

// givenToAll tells what the control plane makes in every namespace, and makes anew:
// a dump that does not have it was picked by hand.
func givenToAll(r object.Ref) bool {
	return r.Group == "" && (r.Kind == "ServiceAccount" || r.Kind == "ConfigMap") && IsBoundary(r)
}

// lacking tells of one missing object who names it: by object the reference that
// matters most, and by chain of controllers the topmost object.
func (d *diagnosis) lacking(edges []*edge) {
	if slices.ContainsFunc(edges, func(e *edge) bool { return d.g.relation(e) == relation.Needs && e.flags&optional == 0 }) {
		// Who makes it is named where it is needed.
		edges = slices.DeleteFunc(edges, d.g.makes)
	}
	worst := map[ID]*edge{}
	for _, e := range edges {
		if have := worst[e.from]; have == nil || d.g.lack(e) < d.g.lack(have) {
			worst[e.from] = e
		}
	}
	told := map[ID]int{} // and how many below say the same
	for from, e := range worst {
		top := d.topmost(from, func(id ID) bool { return worst[id] != nil && d.g.lack(worst[id]) <= d.g.lack(e) })
		if told[top] += 0; top != from {
			told[top]++
		}
	}
	maker := d.maker(edges[0].to)
	for from, below := range told {
		d.missing(worst[from], below, maker)
	}
}

// lack is how much it matters that the target of an edge is missing.
func (g *Graph) lack(e *edge) Severity {
	if e.flags&optional != 0 {
		return Info
	}
	severity, _ := consequence(&g.rules[e.rule])
	return severity
}

// missing tells of a reference to what is missing. maker says who is to make it, where
// somebody is.
func (d *diagnosis) missing(e *edge, below int, maker string) {
	self, to, field := d.g.Ref(e.from), d.g.Ref(e.to), d.g.inv.Text(e.field)
	p := Problem{Object: self, Reason: ReferenceMissing, Severity: d.g.lack(e), Related: to, Field: field}
	_, follows := consequence(&d.g.rules[e.rule])
	what, out := "which does not exist", "create it, or correct "
	if d.g.kinds.NotServed(to.GroupKind()) {
		what, out = "of a kind that the cluster does not serve", "install what brings that, or correct "
	}
	if d.g.relation(e) == relation.Owns {
		out = "see the status of the owner, or correct "
	} else if maker != "" {
		out = maker + ", or correct "
	}
	if below > 0 {
		what += fmt.Sprintf(" (%s below it name it too)", count(below, "object"))
	}
	at := field
	if value := d.g.value(e); value != to.Name && value != "" {
		at += fmt.Sprintf(" = %q", value)
	}
	if e.flags&optional != 0 {
		p.Reason = ReferenceMissingOptional
		p.Message = fmt.Sprintf("would use %s, %s: it does without, as %s says", near(to, self), what, at)
	} else {
		p.Message = fmt.Sprintf("%s %s, %s: %s; %s%s", d.g.relation(e), near(to, self), what, follows, out, at)
	}
	d.problems = append(d.problems, p)
}

// consequence is what follows if what a reference of the rule names is not there:
// how much that matters, and in which way. Severity 0 is nothing at all.
func consequence(r *relation.Rule) (Severity, string) {
	if severity, follows, ok := ofPod(r.Name); ok {
		return severity, follows
	}
	switch r.Name {
	case "service-account-pull-secret":
		return Warning, "private images cannot be pulled"
	case "service-account-secret", "resource-claim-consumer", "pod-nominated-node", "pod-certificate-pod":
		return Warning, "the entry is out of date"
	case "statefulset-service":
		return Warning, "pods have no names in DNS"
	case "claim-volume":
		return Error, "the claim is lost, and maybe its data"
	case "claim-class", "claim-attributes-class":
		return Error, "no volume can be made"
	case "ingress-backend", "route-backend":
		return Error, "requests for it fail"
	case "ingress-class", "gateway-class", "route-parent", "listener-set-parent":
		return Error, "nobody answers for it"
	case "ingress-tls", "gateway-certificate":
		return Warning, "there is no certificate of its own"
	case "ingress-issuer":
		return Warning, "no certificate is issued"
	case "autoscaler-target":
		return Error, "nothing is scaled"
	case "autoscaler-metric":
		return Warning, "it is blind"
	case "binding-role":
		return Error, "nothing is granted"
	case "binding-subject", "flow-subject":
		return Info, "nobody gains by it"
	case "webhook-service":
		return Error, "requests that it is to see may be refused"
	case "endpointslice-pod", "endpoints-pod", "event-object", "lease-holder", "lease-node":
		return 0, "" // they lag behind what they are about, or outlive it
	}
	switch r.Relation {
	case relation.Needs:
		return Error, "it cannot work without"
	case relation.Serves:
		return Warning, "it is for nothing"
	}
	return Warning, "it was not made yet, or was taken away"
}

// ofPod is the consequence for a pod, or the pods of a template.
func ofPod(rule string) (Severity, string, bool) {
	switch rule {
	case "pod-env-configmap", "pod-env-secret", "pod-envfrom-configmap", "pod-envfrom-secret":
		return Error, "containers cannot start", true
	case "pod-volume-configmap", "pod-volume-secret", "pod-projected-configmap", "pod-projected-secret", "pod-trust-bundle",
		"pod-csi-driver", "pod-csi-secret", "pod-secret-provider", "pod-legacy-volume-secret":
		return Error, "the volume cannot be mounted, and containers do not start", true
	case "pod-volume-claim", "pod-ephemeral-claim", "pod-resource-claim":
		return Error, "pods stay pending", true
	case "pod-service-account", "pod-priority-class", "pod-runtime-class":
		return Error, "no pod can be made", true
	case "pod-node":
		return Error, "the pod is lost with it", true
	case "pod-pull-secret":
		return Warning, "private images cannot be pulled", true
	}
	return 0, "", false
}
