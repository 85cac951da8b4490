package cost

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What reports may be grouped by, and all but stacks filtered by.
const (
	ByStack     = "stack"
	ByCluster   = "cluster"
	ByNamespace = "namespace"
	ByNode      = "node"
	// ByResource is by the topmost custom resource above a thing, else the topmost workload.
	ByResource = "resource"
	// ByControllerKind and ByControllerName are by the nearest workload above a pod.
	ByControllerKind = "controllerKind"
	ByControllerName = "controllerName"
	ByPod            = "pod"
	ByCreator        = "creator"
	// ByLabel and ByAnnotation are by a label or annotation of the object, else of its nearest
	// owner; ByNamespaceLabel and ByNamespaceAnnotation then by that of its namespace.
	ByLabel               = "label"
	ByAnnotation          = "annotation"
	ByNamespaceLabel      = "nslabel"
	ByNamespaceAnnotation = "nsannotation"
	// ByPeriod is by the days, weeks or months of a window, in a report that Divide made.
	ByPeriod = "period"
)

// Key is what rows are grouped or filtered by.
type Key struct {
	By string
	// Name is that of the label or annotation.
	Name string
}

// String writes a key as it is read: namespace, label:team.
func (k Key) String() string {
	if k.Name == "" {
		return k.By
	}
	return k.By + ":" + k.Name
}

// IsLabel says whether a key is a label, which the pods of a history have as well.
func (k Key) IsLabel() bool { return k.By == ByLabel || k.By == ByNamespaceLabel }

// IsAnnotation says whether a key is an annotation.
func (k Key) IsAnnotation() bool { return k.By == ByAnnotation || k.By == ByNamespaceAnnotation }

// OfNamespace says whether the namespace gives a value to what has none itself.
func (k Key) OfNamespace() bool {
	return k.By == ByNamespaceLabel || k.By == ByNamespaceAnnotation
}

// KeyNames are the keys, as a person writes them.
func KeyNames() []string {
	return []string{
		ByStack, ByCluster, ByNamespace, ByNode, ByResource, ByControllerKind, ByControllerName, ByPod, ByCreator,
		"label:KEY", "nslabel:KEY", "annotation:KEY", "nsannotation:KEY",
	}
}

// ParseKey reads a key: a word, or the kind of a label or annotation and its key.
func ParseKey(text string) (Key, error) {
	kind, name, colon := strings.Cut(text, ":")
	names := KeyNames()
	switch {
	case slices.Contains(names, kind) && !colon:
		return Key{By: kind}, nil
	case !slices.Contains(names, kind+":KEY"):
		words := make([]string, len(names))
		for i := range names {
			words[i] = strings.TrimSuffix(names[i], ":KEY")
		}
		return Key{}, fmt.Errorf("unknown key %q%s: expected one of %s", field.Shorten(text), object.DidYouMean(object.Nearest(kind, words)), strings.Join(names, ", "))
	case len(validation.IsQualifiedName(name)) > 0:
		return Key{}, fmt.Errorf("%s: expected the key of %s after the colon, as in %s:app.kubernetes.io/name", text, withArticle(strings.TrimPrefix(kind, "ns")), kind)
	}
	return Key{By: kind, Name: name}, nil
}

func withArticle(noun string) string {
	if strings.HasPrefix(noun, "a") {
		return "an " + noun
	}
	return "a " + noun
}

// ParseKeys reads the keys of rows, from the outermost. Stacks have rows of their own below
// clusters only: what several stacks share is split among their rows.
func ParseKeys(texts []string) ([]Key, error) {
	var keys []Key
	for _, text := range texts {
		k, err := ParseKey(strings.TrimSpace(text))
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(keys, k):
			return nil, fmt.Errorf("a second %s: expected each key once", k)
		}
		keys = append(keys, k)
	}
	at := slices.Index(keys, Key{By: ByStack})
	if at > 0 && (at != 1 || keys[0].By != ByCluster) || at >= 0 && at < len(keys)-1 {
		return nil, fmt.Errorf("stack is a key by itself, or with cluster: expected stack, or cluster,stack")
	}
	return keys, nil
}
