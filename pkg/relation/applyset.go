package relation

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// applySetRules reads the sets of kubectl apply --prune and of other tools. Helm's marks are not
// read here, since a release is a root of its own (helm/RELEASE); those of GitOps tools name custom
// resources.
func applySetRules() []Rule {
	return []Rule{
		{Name: ApplySetMember, Relation: Owns, Via: Label, To: "(member)", Field: applySetField, Metadata: true, Manages: true, Deletes: kroFinalizer, Links: applySetMembers},
	}
}

// ApplySetMember is the name of the rule by which the parent of an ApplySet owns its members.
const ApplySetMember = "applyset-member"

// kroFinalizer marks an instance whose members kro deletes with it. kubectl does not delete the
// members with the parent of a set.
const kroFinalizer = "kro.run/finalizer"

const (
	applySetPrefix = "applyset.kubernetes.io/"
	applySetField  = "metadata.labels[" + applySetPrefix + "id]"
)

// applySetMembers: the parent lists the kinds and namespaces of its members, which carry its ID. An
// ID that is not derived from the parent's own name belongs to another parent.
func applySetMembers(o object.Object, emit EmitFunc) {
	id := o.Meta.GetLabels()[applySetPrefix+"id"]
	if id == "" || id != applySetID(o.Ref) {
		return
	}
	notes := o.Meta.GetAnnotations()
	namespaces := append(strings.Split(notes[applySetPrefix+"additional-namespaces"], ","), o.Namespace)
	budget := 1000 // limits what a hostile object with two long lists can cost
	members := func(key string, isResource bool) {
		for text := range strings.SplitSeq(notes[applySetPrefix+key], ",") {
			gk := schema.ParseGroupKind(strings.TrimSpace(text))
			for _, namespace := range namespaces {
				if budget--; gk.Kind == "" || budget < 0 {
					continue
				}
				t := Target{Kind: gk, IsResource: isResource, Namespace: strings.TrimSpace(namespace)}
				t.Selector = &Selector{Labels: map[string]string{applySetPrefix + "part-of": id}}
				emit(Link{Target: t, Field: applySetField, Value: id})
			}
		}
	}
	members("contains-group-kinds", false)
	members("contains-group-resources", true)
}

func applySetID(r object.Ref) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Name, r.Namespace, r.Kind, r.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}
