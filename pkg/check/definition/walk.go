package definition

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// schemaNode is a place in a schema: a named field, an item of a list (its name is []) or
// a value of a map (*).
type schemaNode struct {
	up    *schemaNode
	name  string
	props *apiextensionsv1.JSONSchemaProps
}

const (
	schemaItem  = "[]"
	schemaValue = "*"
)

// path returns the path of the node in an object: spec.users[].name, spec.hosts.*.port.
func (n *schemaNode) path() string {
	var steps []string
	for at := n; at != nil && at.name != ""; at = at.up {
		steps = append(steps, at.name)
	}
	slices.Reverse(steps)
	return strings.ReplaceAll(strings.Join(steps, "."), "."+schemaItem, schemaItem)
}

// field reports whether the node is a named field, and no item or value.
func (n *schemaNode) field() bool {
	return n.name != schemaItem && n.name != schemaValue && n.name != ""
}

// holder returns the nearest named field above; nil at the top.
func (n *schemaNode) holder() *schemaNode {
	at := n.up
	for at != nil && !at.field() {
		at = at.up
	}
	return at
}

// depth is the number of named fields down to the node: 1 of spec, 2 of spec.replicas.
func (n *schemaNode) depth() int {
	depth := 0
	for at := n; at != nil; at = at.up {
		if at.field() {
			depth++
		}
	}
	return depth
}

// walk visits the node and everything below it in the order of names, and descends where visit
// returns true. A structural schema has no cycles, since it cannot refer.
func (n *schemaNode) walk(visit func(*schemaNode) bool) {
	if !visit(n) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.props.Properties)) {
		p := n.props.Properties[name]
		(&schemaNode{up: n, name: name, props: &p}).walk(visit)
	}
	if n.props.Items != nil && n.props.Items.Schema != nil {
		(&schemaNode{up: n, name: schemaItem, props: n.props.Items.Schema}).walk(visit)
	}
	if n.props.AdditionalProperties != nil && n.props.AdditionalProperties.Schema != nil {
		(&schemaNode{up: n, name: schemaValue, props: n.props.AdditionalProperties.Schema}).walk(visit)
	}
}

// schemaOf returns the root of a version's schema; nil where it has none.
func schemaOf(v *apiextensionsv1.CustomResourceDefinitionVersion) *schemaNode {
	if v == nil || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil
	}
	return &schemaNode{props: v.Schema.OpenAPIV3Schema}
}

// schemaDesired returns the top-level fields that users set: all but the status and those of
// every object. Mostly that is the spec alone.
func schemaDesired(v *apiextensionsv1.CustomResourceDefinitionVersion) []*schemaNode {
	root := schemaOf(v)
	if root == nil {
		return nil
	}
	var out []*schemaNode
	for _, name := range slices.Sorted(maps.Keys(root.props.Properties)) {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		p := root.props.Properties[name]
		out = append(out, &schemaNode{up: root, name: name, props: &p})
	}
	return out
}

// schemaOwn visits the fields that users set and that the definition itself defines: the
// fields within a Kubernetes type (a pod template, a probe) are documented and checked there.
func schemaOwn(v *apiextensionsv1.CustomResourceDefinitionVersion, visit func(*schemaNode)) {
	for _, top := range schemaDesired(v) {
		top.walk(func(n *schemaNode) bool {
			visit(n)
			return !schemaBuiltIn(n.props)
		})
	}
}

// preferred returns the version that kubectl uses by default: the most stable and newest of
// the served ones.
func preferred(d *check.Definition) *apiextensionsv1.CustomResourceDefinitionVersion {
	served := d.Served()
	if len(served) == 0 {
		return nil
	}
	return slices.MaxFunc(served, func(a, b *apiextensionsv1.CustomResourceDefinitionVersion) int {
		return version.CompareKubeAwareVersionStrings(a.Name, b.Name)
	})
}

// schemaField is the path of a version's schema in its definition.
func schemaField(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	return "spec.versions[" + v.Name + "].schema.openAPIV3Schema"
}

// schemaOpen reports whether a field accepts and keeps names that its schema does not have.
func schemaOpen(p *apiextensionsv1.JSONSchemaProps) bool {
	return p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields
}

// pattern compiles an expression at its first use, so that commands that check no definition
// do not pay for it.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
