package relation

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// applySetRules reads the sets that kubectl apply --prune and others keep. Of the
// other marks that tools leave on what they apply, those of Helm are a root of their
// own (helm/RELEASE), and those of GitOps tools name custom resources.
func applySetRules() []Rule {
	return []Rule{
		{Name: ApplySetMember, Relation: Owns, Via: Label, To: "(member)", Field: applySetField, Metadata: true, Manages: true, Deletes: kroFinalizer, Links: applySetMembers},
	}
}

// ApplySetMember is the name of the rule by which who keeps an ApplySet owns what is in
// it.
const ApplySetMember = "applyset-member"

// kroFinalizer is how kro deletes what an instance keeps; kubectl deletes no set with its
// parent.
const kroFinalizer = "kro.run/finalizer"

const (
	applySetPrefix = "applyset.kubernetes.io/"
	applySetField  = "metadata.labels[" + applySetPrefix + "id]"
)

// applySetMembers: the parent lists the kinds and namespaces of its members, which
// carry its ID. An ID that is not made from the parent's own name is somebody
// else's.
func applySetMembers(o object.Object, emit EmitFunc) {
	id := o.Meta.GetLabels()[applySetPrefix+"id"]
	if id == "" || id != applySetID(o.Ref) {
		return
	}
	notes := o.Meta.GetAnnotations()
	namespaces := append(strings.Split(notes[applySetPrefix+"additional-namespaces"], ","), o.Namespace)
	budget := 1000 // A hostile object multiplies two long lists.
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
