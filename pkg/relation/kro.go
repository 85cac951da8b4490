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

// kroRules reads the labels by which kro finds the objects of an instance of a
// ResourceGraphDefinition; kro sets no owner references. Since 0.9 the labels have the group and
// kind of the instance. Older ones have only its name, namespace and UID; there the ApplySet of the
// instance lists its objects.
func kroRules() []Rule {
	return []Rule{
		{Name: "kro-instance", Relation: Owns, Via: Label, To: "(instance)", Backward: true, Field: "metadata.labels[" + kroPrefix + "instance-name]", Metadata: true, Manages: true, Deletes: kroFinalizer, Links: kroInstance},
	}
}

const (
	kroPrefix = "kro.run/"
	// If labels with the prefix kroInternal exist, kro does not write those with the other prefix.
	kroInternal = "internal.kro.run/"
)

// kroInstance: the kind of an instance comes from a CustomResourceDefinition, so a group without a
// dot or one of client-go's is not an instance's.
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
	namespace := label("namespace") // empty if the instance is cluster-scoped
	custom := strings.Contains(group, ".") && !scheme.Scheme.IsGroupRegistered(group)
	if !custom || len(validation.IsDNS1123Subdomain(name)) > 0 || namespace != "" && !isLabel(namespace) {
		return
	}
	emit(Link{
		Target:   Target{Kind: kind(group, kindName), Namespace: namespace, Name: name, UID: types.UID(label("id")), IfPresent: true},
		Backward: true, Field: "metadata.labels[" + prefix + "instance-name]", Value: value,
	})
}

// kroFull returns a value that may exceed the limit of a label: the label then has a hash of it,
// and an annotation the full value.
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
