package relation

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ownerRules reads owner references, which every object may have.
func ownerRules() []Rule {
	return []Rule{
		{Name: "owner-reference", Relation: Owns, Via: Owner, To: "(owner)", Backward: true, Field: "metadata.ownerReferences[]", Metadata: true, Links: ownerReferences},
	}
}

// ownerReferences links each owner in the metadata of an object. The garbage collector looks up an
// owner by kind and name, in the namespace of the object or cluster-scoped, and then compares the
// UID. The graph does the same and reports owners that do not match.
func ownerReferences(o object.Object, emit EmitFunc) {
	for i, r := range o.Meta.GetOwnerReferences() {
		if r.Kind == "" || r.Name == "" || strings.Count(r.APIVersion, "/") > 1 {
			continue // no server accepts an incomplete reference
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
