package relation

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ownerRules reads what every object has.
func ownerRules() []Rule {
	return []Rule{
		{Name: "owner-reference", Relation: Owns, Via: Owner, To: "(owner)", Backward: true, Field: "metadata.ownerReferences[]", Metadata: true, Links: ownerReferences},
	}
}

// ownerReferences links each owner that the metadata of an object names. The
// garbage collector finds an owner by its kind and name, in the namespace of
// the object or cluster-scoped, and then compares the UID; so does the graph,
// which reports what does not hold.
func ownerReferences(o object.Object, emit EmitFunc) {
	for i, r := range o.Meta.GetOwnerReferences() {
		if r.Kind == "" || r.Name == "" || strings.Count(r.APIVersion, "/") > 1 {
			continue // No server takes that; it names nobody.
		}
		emit(Link{
			Target:   Target{Kind: kind(groupOf(r.APIVersion), r.Kind), Namespace: o.Namespace, Name: r.Name, UID: r.UID},
			Backward: true,
			Field:    at("metadata.ownerReferences[", i, "].uid"),
			Value:    string(r.UID),

			Controller: value(r.Controller),
			Blocks:     value(r.BlockOwnerDeletion),
		})
	}
}
