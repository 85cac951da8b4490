package source

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// take makes entries of a document: an object, or the items of a list.
func (s *Snapshot) take(d *Document) error {
	if isHead(d.Object) {
		return s.takeHead(d)
	}
	if isSummary(d.Object) {
		return s.takeSummary(d)
	}
	return s.add(d.At, d.Object)
}

func (s *Snapshot) add(at Position, fields map[string]any) error {
	u := &unstructured.Unstructured{Object: fields}
	if !isList(u) {
		s.entries = append(s.entries, entry{at: at, body: u, creator: creatorIn(fields)})
		return nil
	}
	items, _ := fields["items"].([]any)
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: not an object", at.item(i))
		}
		// Items of a list from a server (kubectl get --raw) have no kind and apiVersion; the list
		// implies them.
		if kind := strings.TrimSuffix(u.GetKind(), "List"); kind != "" && m["kind"] == nil && m["apiVersion"] == nil {
			m["kind"], m["apiVersion"] = kind, u.GetAPIVersion()
		}
		if err := s.add(at.item(i), m); err != nil {
			return err
		}
	}
	return nil
}

// isList distinguishes a list from an object of a custom kind such as AccessList, which has a name,
// and may have items.
func isList(u *unstructured.Unstructured) bool {
	items, ok := u.Object["items"]
	_, isItems := items.([]any)
	return strings.HasSuffix(u.GetKind(), "List") && ok && (isItems || items == nil) && u.GetName() == ""
}

// check refuses objects without identity, kinds that a built-in group never had, and two objects of
// one identity.
func (s *Snapshot) check() error {
	seen := make(map[object.Ref]int, len(s.entries))
	for i := range s.entries {
		e := &s.entries[i]
		gvk := e.body.GroupVersionKind()
		switch {
		case gvk.Kind == "" || gvk.Version == "":
			return fmt.Errorf("%s: no apiVersion and kind: not a Kubernetes object, or incomplete", e.at)
		case gvk.Kind == "List":
			return fmt.Errorf("%s: a List without items: is it incomplete?", e.at)
		case wrongName(e.body.Object) != "":
			return fmt.Errorf("%s: %s: metadata.%s is not a string: put it in quotes", e.at, gvk.Kind, wrongName(e.body.Object))
		case e.body.GetName() == "":
			return fmt.Errorf("%s: %s without metadata.name", e.at, gvk.Kind)
		}
		r, known := s.kinds.Kind(gvk.GroupKind())
		if !known {
			return s.unknown(e)
		}
		e.locate(r, cmp.Or(s.options.Namespace, metav1.NamespaceDefault))
		if first, twice := seen[e.ref]; twice {
			return fmt.Errorf("%s: %s occurs a second time (first at %s)", e.at, e.ref, s.entries[first].at)
		}
		seen[e.ref] = i
	}
	return nil
}

// wrongName returns the field of the identity that is not a string: YAML 1.1 reads a namespace on
// or no as a boolean.
func wrongName(fields map[string]any) string {
	meta, _ := fields["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace"} {
		if v, present := meta[field]; present && v != nil {
			if _, text := v.(string); !text {
				return field
			}
		}
	}
	return ""
}

// unknown returns the error for a kind that its group does not have.
func (s *Snapshot) unknown(e *entry) error {
	gvk := e.body.GroupVersionKind()
	other, err := s.kinds.Find(gvk.Kind)
	if err == nil {
		return fmt.Errorf("%s: %s has no kind %s: it is in %s", e.at, gvk.GroupVersion(), gvk.Kind, other.APIVersion())
	}
	return fmt.Errorf("%s: %s: %w", e.at, gvk.GroupVersion(), err)
}

// locate sets the identity of an object. A dump may omit the namespace of a namespaced object, as a
// manifest does: it is then the given one. The namespace of a cluster-scoped object is dropped, as
// the server does.
func (e *entry) locate(r object.Resource, namespace string) {
	ns := e.body.GetNamespace()
	switch {
	case !r.Namespaced && ns != "":
		e.body.SetNamespace("")
	case r.Namespaced && ns == "":
		e.body.SetNamespace(namespace)
	}
	e.ref = object.Ref{Group: r.Group, Kind: r.Kind, Namespace: e.body.GetNamespace(), Name: e.body.GetName()}
}
