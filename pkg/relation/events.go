package relation

import (
	"cmp"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// eventRules reads Events, and the Leases of leader election. They are many and part of no stack,
// so they are read on demand only.
func eventRules() []Rule {
	return []Rule{
		{Name: "event-object", From: from(event, eventsEvent), Relation: Serves, Via: Spec, To: "(object)", Field: "involvedObject", OnDemand: true, Links: eventObject},
		{Name: "event-related", From: from(event, eventsEvent), Relation: Needs, Via: Spec, To: "(object)", Field: "related", OnDemand: true, Peer: true, Links: eventRelated},
		{Name: "lease-node", From: from(lease), Relation: Serves, Via: Spec, To: "Node", Field: "metadata.name", Metadata: true, OnDemand: true, Links: leaseNode},
		{Name: "lease-holder", From: from(lease), Relation: Serves, Via: Spec, To: "Pod", Field: "spec.holderIdentity", OnDemand: true, Links: on(leaseHolder)},
		{Name: "lease-candidate", From: from(leaseCandidate), Relation: Serves, Via: Spec, To: "Lease", Field: "spec.leaseName", OnDemand: true, Untyped: true, Links: leaseCandidates},
	}
}

func eventObject(o object.Object, emit EmitFunc) {
	switch e := o.Body.(type) {
	case *corev1.Event:
		about(&e.InvolvedObject, o.Namespace, "involvedObject.name", emit)
	case *eventsv1.Event:
		about(&e.Regarding, o.Namespace, "regarding.name", emit)
	}
}

func eventRelated(o object.Object, emit EmitFunc) {
	var related *corev1.ObjectReference
	switch e := o.Body.(type) {
	case *corev1.Event:
		related = e.Related
	case *eventsv1.Event:
		related = e.Related
	}
	if related != nil {
		about(related, o.Namespace, "related.name", emit)
	}
}

// about: an Event of a cluster-scoped object is in some namespace, and its reference has no
// namespace or one that its kind ignores. The kubelet and kube-proxy put the name of their Node in
// the UID.
func about(r *corev1.ObjectReference, own, field string, emit EmitFunc) {
	if r.Kind == "" || r.Name == "" {
		return
	}
	l := to(kind(groupOf(r.APIVersion), r.Kind), cmp.Or(r.Namespace, own), r.Name, field)
	if l.Target.Kind != node && string(r.UID) != r.Name {
		l.Target.UID = r.UID
	}
	emit(l)
}

// leaseNode: a kubelet renews the Lease with the name of its Node.
func leaseNode(o object.Object, emit EmitFunc) {
	if o.Namespace == corev1.NamespaceNodeLease {
		named(emit, node, "", o.Name, "metadata.name")
	}
}

// leaseHolder: each program chooses its identity for client-go's leader election. Most use the host
// name, which is the name of the pod, some with a random suffix.
func leaseHolder(l *coordinationv1.Lease, self object.Ref, emit EmitFunc) {
	if self.Namespace == corev1.NamespaceNodeLease {
		return
	}
	name, _, _ := strings.Cut(value(l.Spec.HolderIdentity), "_")
	if name == "" {
		return
	}
	link := to(pod, self.Namespace, name, "spec.holderIdentity")
	link.Value, link.Inferred, link.Target.IfPresent = *l.Spec.HolderIdentity, true, true
	emit(link)
}

func leaseCandidates(o object.Object, emit EmitFunc) {
	name, _ := part(o.Fields(), "spec", "leaseName").(string)
	named(emit, lease, o.Namespace, name, "spec.leaseName")
}
