package relation

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ReferenceGrant is the kind by which the owner of a namespace lets objects of other namespaces
// refer to objects in it.
var ReferenceGrant = kind(gatewayGroup, "ReferenceGrant")

// grantRules reads ReferenceGrants, and the objects that need them.
func grantRules() []Rule {
	return []Rule{
		{Name: "grant-target", From: from(ReferenceGrant), Relation: Serves, Via: Spec, To: "(granted)", Field: "spec.to[].name", Untyped: true, Links: grantTargets, Keys: grants},
		{Name: "reference-grant", From: from(httpRoute, grpcRoute, tlsRoute, tcpRoute, udpRoute, gateway, listenerSet, claim), Relation: Needs, Via: Spec, To: "ReferenceGrant", Field: "(reference)", Links: neededGrants},
	}
}

// GrantKeys returns the keys (Rule.Keys) of the grants that let an object refer to a target in
// their namespace: those for this target, and those for all of its kind.
func GrantKeys(referrer, target object.Ref) []string {
	return []string{
		grantKey(referrer.GroupKind(), referrer.Namespace, target.GroupKind(), target.Name),
		grantKey(referrer.GroupKind(), referrer.Namespace, target.GroupKind(), ""),
	}
}

func grantKey(referrer schema.GroupKind, namespace string, target schema.GroupKind, name string) string {
	return "from " + referrer.String() + "/" + namespace + " to " + target.String() + "/" + name
}

// grants visits the keys of all pairs of from and to; the server accepts at most sixteen of each.
func grants(o object.Object, key func(string)) {
	const most = 16
	referrer, to := items(o.Fields(), "spec", "from"), items(o.Fields(), "spec", "to")
	for _, f := range referrer[:min(len(referrer), most)] {
		source := refer(f, schema.GroupKind{}, "")
		for _, t := range to[:min(len(to), most)] {
			if target := refer(t, schema.GroupKind{}, ""); source.Kind.Kind != "" && source.Namespace != "" && target.Kind.Kind != "" {
				key(grantKey(source.Kind, source.Namespace, target.Kind, target.Name))
			}
		}
	}
}

// grantTargets: a grant for a whole kind names no object.
func grantTargets(o object.Object, emit EmitFunc) {
	for i, t := range items(o.Fields(), "spec", "to") {
		referred(emit, local(t, o.Namespace), at("spec.to[", i, "]"))
	}
}

// neededGrants: a reference into another namespace fails without the grant. If several grants allow
// it, one is enough, but the rule sees only this object.
func neededGrants(o object.Object, emit EmitFunc) {
	needed := func(l Link) {
		t := l.Target
		if !t.Granted || t.Namespace == o.Namespace || t.Namespace == "" {
			return
		}
		for _, key := range GrantKeys(o.Ref, object.Ref{Group: t.Kind.Group, Kind: t.Kind.Kind, Name: t.Name}) {
			emit(Link{Target: Target{Kind: ReferenceGrant, Namespace: t.Namespace, Selector: &Selector{Key: key}}, Field: l.Field, Value: l.Value})
		}
	}
	switch o.GroupKind() {
	case claim:
		on(claimDataSource)(o, needed)
	case gateway, listenerSet:
		gatewayCertificates(o, needed)
		gatewayTLS(o, needed)
	default:
		routeBackends(o, needed)
	}
}
