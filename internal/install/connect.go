package install

import (
	"cmp"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// connections checks the connections of a part, and notes which values do not exist yet.
func (m *planner) connections(p *Part) {
	filled := map[object.Ref]*unstructured.Unstructured{} // with the values of the connections before
	for _, c := range p.Connections {
		refuse := func(hint, format string, args ...any) {
			m.refuse(Refusal{Topic: "connection", Part: p.Name, Object: c.To, Message: fmt.Sprintf(format, args...), Hint: hint})
		}
		if err := connection.Check(c); err != nil {
			refuse("", "the connection of %s with %s: %v", p.Name, cmp.Or(c.Name, c.From.String()), err)
			continue
		}
		to := m.objectOf(p, c.To)
		if to == nil {
			refuse("name an object that "+p.Name+" makes", "the connection of %s: it creates no %s", p.Name, c.To)
			continue
		}
		if err := m.inSchema(c.To, to.GroupVersionKind().Version, c.Field); err != nil {
			refuse("", "the connection of %s, to %s: %v", p.Name, c.To, err)
			continue
		}
		if err := m.inSchema(c.From, "", c.Path); err != nil {
			refuse("", "the connection of %s, from %s: %v", p.Name, c.From, err)
			continue
		}
		if filled[c.To] == nil {
			filled[c.To] = to.DeepCopy()
		}
		m.checkConnection(p, c, filled[c.To])
	}
}

func (m *planner) objectOf(p *Part, ref object.Ref) *unstructured.Unstructured {
	for _, u := range rendered(p).Objects {
		if object.RefOf(u) == ref {
			return u
		}
	}
	return nil
}

// checkConnection sets the value of a connection in a copy of its object. It notes that a value does
// not exist yet, and refuses an existing value of the wrong type and a field that cannot be set.
func (m *planner) checkConnection(p *Part, c connection.Connection, to *unstructured.Unstructured) {
	from := m.state.Objects[c.From]
	var value any
	err := error(nil)
	if from != nil {
		value, err = connection.Resolve(from, c.Path)
	}
	if from == nil || err != nil {
		if from == nil {
			m.note("%s of %s waits for %s", c.Field, p.Name, c.From)
		} else {
			m.note("%s of %s waits for %s of %s", c.Field, p.Name, c.Path, c.From)
		}
		err = connection.Set(to, c.Field, "")
	} else {
		err = connection.Flow(c, to, value, m.schemaOf(c.To, to.GroupVersionKind().Version))
	}
	if err != nil {
		m.refuse(Refusal{Topic: "connection", Part: p.Name, Object: c.To, Message: fmt.Sprintf("the connection of %s: %v", p.Name, err)})
	}
}

// fitted returns a value converted to the type of its field, or the value itself if it cannot be.
func (m *planner) fitted(p *Part, c connection.Connection, value any) any {
	if to := m.objectOf(p, c.To); to != nil {
		to = to.DeepCopy()
		if connection.Flow(c, to, value, m.schemaOf(c.To, to.GroupVersionKind().Version)) == nil {
			if v, err := connection.Resolve(to, c.Field); err == nil {
				return v
			}
		}
	}
	return value
}

// inSchema returns an error if the known schema of a kind does not have the field.
func (m *planner) inSchema(ref object.Ref, version, at string) error {
	path, err := field.Parse(at)
	if err != nil {
		return err
	}
	if s := m.schemaOf(ref, version); s != nil {
		return path.Check(field.OfSchema(s, metadataShape))
	}
	if t := builtIn(ref.GroupKind(), version); t != nil {
		return path.Check(field.OfType(t))
	}
	return nil
}

// schemaOf returns the schema of a version of a kind, from the definition of a part or of the
// cluster; nil if there is none. An empty version means the stored one.
func (m *planner) schemaOf(ref object.Ref, version string) map[string]any {
	for _, p := range m.plan.Parts {
		for _, u := range rendered(p).Definitions {
			if live := m.state.Definitions[u.GetName()]; kindOf(u) == ref.GroupKind() && (live == nil || !p.KeepDefinitions) {
				return schemaIn(u, version)
			}
		}
	}
	for _, u := range m.state.Definitions {
		if kindOf(u) == ref.GroupKind() {
			return schemaIn(u, version)
		}
	}
	return nil
}

// schemaIn returns the schema of a version in a definition.
func schemaIn(definition *unstructured.Unstructured, version string) map[string]any {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		if stored, _ := fields["storage"].(bool); version == fields["name"] || version == "" && stored {
			s, _, _ := unstructured.NestedMap(fields, "schema", "openAPIV3Schema")
			return s
		}
	}
	return nil
}

var metadataShape = field.OfType(reflect.TypeFor[metav1.ObjectMeta]())

// builtIn returns the Go type of a built-in kind; nil for others. An empty version matches any.
func builtIn(gk schema.GroupKind, version string) reflect.Type {
	types := scheme.Scheme.AllKnownTypes()
	if t, known := types[gk.WithVersion(version)]; known {
		return t
	}
	if version == "" {
		for _, v := range scheme.Scheme.PrioritizedVersionsForGroup(gk.Group) {
			if t, known := types[gk.WithVersion(v.Version)]; known {
				return t
			}
		}
	}
	return nil
}
