package system

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The marks of an adopted System. Those of ApplySets are as kubectl writes them
// (k8s.io/kubectl/pkg/cmd/apply/applyset.go); KEP-3659 calls them otherwise.
const (
	// IDLabel is that of a parent, and MemberLabel that of what is in its set.
	IDLabel     = setPrefix + "id"
	MemberLabel = setPrefix + "part-of"
	// ManifestKey is where in its data a parent keeps the manifest.
	ManifestKey = "system.yaml"
	// Tooling is what keeps the sets of Systems. A set of other tooling is not touched.
	Tooling = "kubectl-sysop"

	setPrefix      = "applyset.kubernetes.io/"
	toolingNote    = setPrefix + "tooling"
	kindsNote      = setPrefix + "contains-group-kinds"
	namespacesNote = setPrefix + "additional-namespaces"
)

// ParentRef is the ConfigMap that keeps the set of a System.
func ParentRef(namespace, name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: ParentName(name)}
}

// SetID is the ID of the ApplySet of a parent:
// applyset-<base64url(sha256(NAME.NAMESPACE.KIND.GROUP))>-v1.
func SetID(parent object.Ref) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{parent.Name, parent.Namespace, parent.Kind, parent.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Set is the ApplySet of an adopted System, as its parent has it.
type Set struct {
	// Name and Namespace are those of the System.
	Name, Namespace string
	// Kinds are those of the members, and Namespaces those that members are in besides that
	// of the System; both in order, each once.
	Kinds      []schema.GroupKind
	Namespaces []string
	// Manifest is the text of the manifest.
	Manifest string
}

// NewSet returns the set of some members. The manifest is the text that is stored with it.
func NewSet(name, namespace, manifest string, members []object.Ref) Set {
	s := Set{Name: name, Namespace: namespace, Manifest: manifest}
	for _, m := range members {
		s.Kinds, s.Namespaces = append(s.Kinds, m.GroupKind()), append(s.Namespaces, m.Namespace)
	}
	return s.inOrder()
}

// With returns the set with the kinds and namespaces of another one added: while members
// come and go, a parent names those of before and after, so that who is interrupted leaves
// nothing behind that no parent names.
func (s Set) With(other Set) Set {
	s.Kinds, s.Namespaces = slices.Concat(s.Kinds, other.Kinds), slices.Concat(s.Namespaces, other.Namespaces)
	return s.inOrder()
}

func (s Set) inOrder() Set {
	slices.SortFunc(s.Kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	slices.Sort(s.Namespaces)
	s.Kinds, s.Namespaces = slices.Compact(s.Kinds), slices.Compact(s.Namespaces)
	s.Namespaces = slices.DeleteFunc(s.Namespaces, func(ns string) bool { return ns == "" || ns == s.Namespace })
	return s
}

// Ref is the parent of the set.
func (s Set) Ref() object.Ref { return ParentRef(s.Namespace, s.Name) }

// ID is that of the set.
func (s Set) ID() string { return SetID(s.Ref()) }

// Parent returns the object that keeps the set, as it is applied; version is that of the
// tooling. kubectl writes annotations that say nothing as well, and so does this.
func (s Set) Parent(version string) *unstructured.Unstructured {
	kinds := make([]string, 0, len(s.Kinds))
	for _, gk := range s.Kinds {
		kinds = append(kinds, gk.String())
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": s.Ref().Name, "namespace": s.Namespace,
			"labels": map[string]any{IDLabel: s.ID(), Label: s.Name},
			"annotations": map[string]any{
				toolingNote:    Tooling + "/" + version,
				kindsNote:      strings.Join(kinds, ","),
				namespacesNote: strings.Join(s.Namespaces, ","),
			},
		},
		"data": map[string]any{ManifestKey: s.Manifest},
	}}
}

// IsParent says whether an object of these labels keeps the set of a System.
func IsParent(ref object.Ref, labels map[string]string) bool {
	name := labels[Label]
	return name != "" && ref == ParentRef(ref.Namespace, name) && labels[IDLabel] == SetID(ref)
}

// ParseParent reads the System that a parent keeps. One whose manifest names no namespace is
// in that of its parent.
func ParseParent(o *unstructured.Unstructured) (*System, error) {
	set, err := ParseSet(o)
	if err != nil {
		return nil, err
	}
	origin := fmt.Sprintf("%s[%s]", set.Ref(), ManifestKey)
	s, problems := Parse(origin, []byte(set.Manifest))
	switch {
	case len(problems) > 0:
		p := problems[0]
		return nil, fmt.Errorf("%s:%d:%d: %s", origin, p.Line, p.Column, p.Message)
	case s.Name != set.Name || s.Namespace != "" && s.Namespace != set.Namespace:
		return nil, fmt.Errorf("%s: it is the manifest of another System: %s of namespace %q", origin, s.Name, s.Namespace)
	}
	s.Namespace = set.Namespace
	return s, nil
}

// ParseSet reads an object that keeps a set. One of another tool is an error, which names
// it; so is one whose ID is not its own.
func ParseSet(o *unstructured.Unstructured) (Set, error) {
	ref := object.Ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	name := strings.TrimPrefix(ref.Name, keptPrefix)
	fail := func(format string, args ...any) (Set, error) {
		return Set{}, fmt.Errorf("%s: %s", ref, fmt.Sprintf(format, args...))
	}
	labels, notes := o.GetLabels(), o.GetAnnotations()
	switch id, tooling := labels[IDLabel], notes[toolingNote]; {
	case ref != ParentRef(ref.Namespace, name):
		return fail("holds no System: it is not called %sNAME", keptPrefix)
	case id == "":
		return fail("holds no ApplySet: it has no label %s", IDLabel)
	case id != SetID(ref):
		return fail("its label %s is that of another object", IDLabel)
	case toolOf(tooling) != Tooling:
		return fail("its set is managed by other tooling (%q)", tooling)
	case labels[Label] != name:
		return fail("holds no System: its label %s is %q", Label, labels[Label])
	}
	s := Set{Name: name, Namespace: ref.Namespace}
	s.Manifest, _, _ = unstructured.NestedString(o.Object, "data", ManifestKey)
	for text := range strings.SplitSeq(notes[kindsNote], ",") {
		if gk := schema.ParseGroupKind(strings.TrimSpace(text)); gk.Kind != "" {
			s.Kinds = append(s.Kinds, gk)
		}
	}
	for text := range strings.SplitSeq(notes[namespacesNote], ",") {
		s.Namespaces = append(s.Namespaces, strings.TrimSpace(text))
	}
	return s.inOrder(), nil
}

// toolOf is the name of a tool without its version, as kubectl cuts it.
func toolOf(tooling string) string {
	if i := strings.LastIndex(tooling, "/"); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

// Matches says whether an object is a parent as it would be applied: it has all of the labels,
// annotations and data that one would give it.
func (s Set) Matches(o *unstructured.Unstructured, version string) bool {
	want := s.Parent(version)
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	return hasAll(o.GetLabels(), want.GetLabels()) && hasAll(o.GetAnnotations(), want.GetAnnotations()) && maps.Equal(data, map[string]string{ManifestKey: s.Manifest})
}

func hasAll(all, some map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return true
}
