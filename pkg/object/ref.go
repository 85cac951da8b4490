// Package object has the types that all others share: the identity of an API object (Ref), the
// kinds that a cluster or a snapshot serves (Kinds), and one object as it was read (Object). It
// does no I/O.
package object

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref is the identity of an object: its group and kind, its namespace (empty for a cluster-scoped
// object) and its name. The version is no part of it: a server serves the same object in several. A
// Ref is comparable and can be the key of a map.
type Ref struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// RefOf returns the identity of an object.
func RefOf(o *unstructured.Unstructured) Ref {
	gvk := o.GroupVersionKind()
	return Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// GroupKind returns the group and kind of r.
func (r Ref) GroupKind() schema.GroupKind { return schema.GroupKind{Group: r.Group, Kind: r.Kind} }

// String returns the identifier of r in machine output:
// Kind[.group]/[namespace/]name.
func (r Ref) String() string {
	var b strings.Builder
	b.Grow(len(r.Kind) + len(r.Group) + len(r.Namespace) + len(r.Name) + 3)
	b.WriteString(r.Kind)
	if r.Group != "" {
		b.WriteByte('.')
		b.WriteString(r.Group)
	}
	b.WriteByte('/')
	if r.Namespace != "" {
		b.WriteString(r.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(r.Name)
	return b.String()
}

// ParseRef parses what String returns, and nothing else.
func ParseRef(s string) (Ref, error) {
	kind, rest, _ := strings.Cut(s, "/")
	ns, name, ok := strings.Cut(rest, "/")
	if !ok {
		ns, name = "", rest
	}
	r := Ref{Namespace: ns, Name: name}
	r.Kind, r.Group, _ = strings.Cut(kind, ".")
	// String never writes an empty part, so a text with one differs from its round trip.
	if r.Kind == "" || name == "" || strings.Contains(name, "/") || r.String() != s {
		return Ref{}, fmt.Errorf("object id %q: expected Kind[.group]/[namespace/]name", s)
	}
	return r, nil
}

// MarshalText writes r in documents as String does; empty for the zero Ref.
func (r Ref) MarshalText() ([]byte, error) {
	if r == (Ref{}) {
		return nil, nil
	}
	return []byte(r.String()), nil
}

// UnmarshalJSON reads what MarshalText writes, and the form with a field a part that journals of
// earlier versions have.
func (r *Ref) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("{")) {
		type parts Ref
		return json.Unmarshal(text, (*parts)(r))
	}
	var id string
	if err := json.Unmarshal(text, &id); err != nil || id == "" {
		*r = Ref{}
		return err
	}
	var err error
	*r, err = ParseRef(id)
	return err
}

// Compare orders references by group, kind, namespace and name. Objects are numbered and printed in
// this order everywhere.
func Compare(a, b Ref) int {
	if c := cmp.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return cmp.Compare(a.Name, b.Name)
}

// CompareKinds orders kinds as Compare orders their objects.
func CompareKinds(a, b schema.GroupKind) int {
	return Compare(Ref{Group: a.Group, Kind: a.Kind}, Ref{Group: b.Group, Kind: b.Kind})
}

// MayBeName reports whether a text may be the name of an object. It accepts names that a server
// would refuse for a custom resource (Letsencrypt): such a reference is wrong and is shown as
// missing.
func MayBeName(s string) bool {
	return s != "" && len(s) <= 253 && !strings.ContainsAny(s, ",;\"'`{}[]()\\ \t\r\n") && len(content.IsPathSegmentName(s)) == 0
}
