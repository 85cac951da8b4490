package relation

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// kroRules reads the labels by which kro finds what an instance of a
// ResourceGraphDefinition made: it writes no owner references. kro writes the group and the
// kind of the instance since 0.9; by the labels of older versions (its name, namespace and
// UID) the kind is not known, and there the ApplySet of the instance says what it made.
func kroRules() []Rule {
	return []Rule{
		{Name: "kro-instance", Relation: Owns, Via: Label, To: "(instance)", Backward: true, Field: "metadata.labels[" + kroPrefix + "instance-name]", Metadata: true, Manages: true, Deletes: kroFinalizer, Links: kroInstance},
	}
}

const (
	kroPrefix = "kro.run/"
	// kroInternal is the prefix beside which kro drops the other one.
	kroInternal = "internal.kro.run/"
)

// kroInstance: a group without a dot, or of client-go's kinds, is of no instance, whose kind
// a CustomResourceDefinition defines.
func kroInstance(o object.Object, emit EmitFunc) {
	labels := o.Meta.GetLabels()
	prefix := kroPrefix
	if labels[prefix+"instance-name"] == "" {
		prefix = kroInternal
	}
	label := func(key string) string { return labels[prefix+"instance-"+key] }
	group, kindName, value := label("group"), label("kind"), label("name")
	if kindName == "" || value == "" || label("id") == "" {
		return
	}
	group, name := kroFull(o, "group", group), kroFull(o, "name", value)
	namespace := label("namespace") // None where the instance is cluster-scoped.
	custom := strings.Contains(group, ".") && !scheme.Scheme.IsGroupRegistered(group)
	if !custom || len(validation.IsDNS1123Subdomain(name)) > 0 || namespace != "" && !isLabel(namespace) {
		return
	}
	emit(Link{
		Target:   Target{Kind: kind(group, kindName), Namespace: namespace, Name: name, UID: types.UID(label("id")), IfPresent: true},
		Backward: true, Field: "metadata.labels[" + prefix + "instance-name]", Value: value,
	})
}

// kroFull returns a value that is too long for a label, of which the label has a hash, and
// an annotation the whole.
func kroFull(o object.Object, key, label string) string {
	if !strings.HasPrefix(label, "h-") {
		return label
	}
	full := o.Meta.GetAnnotations()[kroInternal+"instance-"+key]
	if sum := sha256.Sum256([]byte(full)); full != "" && label == "h-"+hex.EncodeToString(sum[:20]) {
		return full
	}
	return label
}
