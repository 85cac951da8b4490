package system

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// resourceList is the resources of an app, before the values of templates are known.
type resourceList struct {
	app   int // of the system
	scope scope
	node  *yaml.Node // of the app
	roots []placedRoot
	items []placedItem
}

type placedRoot struct {
	scope scope
	node  *yaml.Node
}

type placedItem = placedRoot

// readResources fills in the templates, makes roots of all resources, and refuses what
// belongs to two apps.
func (r *reader) readResources() {
	taken := []takenRoot{}
	for _, list := range r.resources {
		a := &r.sys.Apps[list.app]
		for i, root := range a.Roots {
			taken = r.take(taken, list.app, root, list.roots[i])
		}
		for _, item := range list.items {
			for _, o := range r.resource(item, a.Name) {
				r.add(list, item, o, &taken)
			}
		}
		none := !has(list.node, "roots") && !has(list.node, "resources") || len(a.Roots) == 0 && len(r.problems) == 0
		if none && list.node.Kind == yaml.MappingNode {
			list.scope.report(list.node, "the app is empty: expected roots, or resources")
		}
	}
}

// takenRoot is a root, and the app that has it.
type takenRoot struct {
	Root
	app int
}

// take notes the root of an app, which is that of no other one.
func (r *reader) take(taken []takenRoot, app int, root Root, at placedRoot) []takenRoot {
	if i := slices.IndexFunc(taken, func(o takenRoot) bool { return r.sameRoot(o.Root, root) }); i >= 0 {
		at.scope.report(at.node, "%s is already a root of app %s, on line %d", root, r.sys.Apps[taken[i].app].Name, taken[i].Line)
	}
	return append(taken, takenRoot{root, app})
}

// add keeps a resource of an app. It is a root as well, once.
func (r *reader) add(list resourceList, item placedItem, o *unstructured.Unstructured, taken *[]takenRoot) {
	a := &r.sys.Apps[list.app]
	same := func(p *unstructured.Unstructured) bool {
		return p.GroupVersionKind().GroupKind() == o.GroupVersionKind().GroupKind() && p.GetName() == o.GetName() && p.GetNamespace() == o.GetNamespace()
	}
	root := rootOf(o)
	root.Line = item.node.Line
	if slices.ContainsFunc(a.Resources, same) {
		item.scope.report(item.node, "a second %s: expected one", root)
		return
	}
	a.Resources = append(a.Resources, o)
	if slices.ContainsFunc(a.Roots, func(p Root) bool { return r.sameRoot(p, root) }) {
		return
	}
	a.Roots = append(a.Roots, root)
	*taken = r.take(*taken, list.app, root, item)
}

// rootOf writes an object as a root: Kind.group/namespace/name.
func rootOf(o *unstructured.Unstructured) Root {
	gk := o.GroupVersionKind().GroupKind()
	return Root{Type: gk.String(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// resource reads an item: one object, or a template of several.
func (r *reader) resource(item placedItem, app string) []*unstructured.Unstructured {
	if has(item.node, "template") && !has(item.node, "kind") {
		var all []*unstructured.Unstructured
		item.scope.mapping(item.node, key{"template", true, func(s scope, n *yaml.Node) { all = r.fill(s, n, app) }})
		return all
	}
	if o := item.scope.resource(item.node); o != nil {
		return []*unstructured.Unstructured{o}
	}
	return nil
}

// resource reads an object as it is applied.
func (s scope) resource(n *yaml.Node) *unstructured.Unstructured {
	fields := s.object(n)
	if fields == nil {
		return nil
	}
	o := &unstructured.Unstructured{Object: fields}
	before := len(s.r.problems)
	for _, name := range []string{"apiVersion", "kind"} {
		if text, ok := fields[name].(string); !ok || text == "" {
			s.report(n, "%s is missing, or not a string", name)
		}
	}
	meta, ok := fields["metadata"].(map[string]any)
	if !ok {
		s.report(n, "metadata is missing")
		return nil
	}
	name, _ := meta["name"].(string)
	namespace, isText := meta["namespace"].(string)
	_, given := meta["namespace"]
	switch {
	case meta["generateName"] != nil:
		s.report(n, "metadata.generateName creates another object each time: expected a name")
	case name == "":
		s.report(n, "metadata.name is missing, or not a string")
	case !isName(name) || strings.Contains(name, "/"):
		s.report(n, "metadata.name: %q is not a name", field.Shorten(name))
	case given && (!isText || !isLabel(namespace)):
		s.report(n, "metadata.namespace: %v is not a namespace name", field.Shorten(namespace))
	}
	if len(s.r.problems) > before {
		return nil
	}
	return s.known(n, o)
}

// known checks the kind of an object.
func (s scope) known(n *yaml.Node, o *unstructured.Unstructured) *unstructured.Unstructured {
	_, err := schema.ParseGroupVersion(o.GetAPIVersion())
	switch gk := o.GroupVersionKind().GroupKind(); {
	case err != nil:
		s.report(n, "apiVersion: %v", err)
	case !isType(gk.String()):
		s.report(n, "%q is not a kind", field.Shorten(gk.String()))
	case strings.HasSuffix(gk.Kind, "List") && o.Object["items"] != nil:
		s.report(n, "it is a list: write an item for each object")
	default:
		return o
	}
	return nil
}
