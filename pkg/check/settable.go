package check

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// settable returns the field by which users can set something about the pods of a custom
// resource, in the version in which it is stored: of several the one nearest to the top,
// and rather one of the whole than of a part beside it (isAuxiliaryField). It is false where
// the schema names none. Containers that are added to those of the operator do not count.
func (d *Definition) settable(what setting) (path string, ok bool) {
	path, _, ok = d.settableAt(what)
	return path, ok
}

// settableAt says besides whether the field is one of a part beside the pods that matter.
func (d *Definition) settableAt(what setting) (path string, aside, ok bool) {
	var best *schemaNode
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			if isExtraContainers(n) {
				return false
			}
			if !settableShapes[what](n) {
				return true
			}
			if is := isAuxiliaryField(n); best == nil || aside && !is || aside == is && n.depth() < best.depth() {
				best, aside = n, is
			}
			return false
		})
	}
	if best == nil {
		return "", false, false
	}
	return best.path(), aside, true
}

// settableAuxiliaryName are the names of parts that run beside what a custom resource is for:
// what is set of them is not set of the rest.
var settableAuxiliaryName = lazyregexp.New(`(?i)backup|restore|exporter|metrics|monitor|bootstrap|sidecar|\binit|job|hook|migration|recovery|upgrade|cleanup|test`)

// isAuxiliaryField says that a field is one of a part beside the others. Of a kind that is
// itself for backups that says nothing.
func isAuxiliaryField(n *schemaNode) bool {
	for at := n; at != nil; at = at.up {
		if settableAuxiliaryName.MatchString(at.name) {
			return true
		}
	}
	return false
}

// isExtraContainers says that a field is about containers that are added to those of the
// operator.
func isExtraContainers(n *schemaNode) bool {
	return n.field() && settableNamed(n, "sidecars", "sidecarcontainers", "sidecarcontainer", "initcontainers", "initcontainer", "extracontainers", "additionalcontainers", "ephemeralcontainers")
}

// settableOpenName says that an open object of the name may set anything about pods.
func settableOpenName(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "podtemplate") || strings.Contains(name, "podspec") || strings.Contains(name, "override") ||
		slices.Contains([]string{"template", "values", "pod", "pods", "patches", "patch", "helmvalues", "podpolicy", "deployment", "statefulset"}, name)
}

// settableOpen returns the first field that the schema leaves open, and in which anything
// about pods may be set; false where there is none.
func (d *Definition) settableOpen() (path string, ok bool) {
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			if !ok && schemaOpen(n.props) && (n.depth() == 1 || settableOpenAt(n)) {
				path, ok = n.path(), true
			}
			return !ok
		})
	}
	return path, ok
}

// settableOpenAt says that a field, or the list whose items it is, has a name under which
// pods are described.
func settableOpenAt(n *schemaNode) bool {
	if !n.field() {
		n = n.holder()
	}
	if n == nil {
		return false
	}
	if settableOpenName(n.name) {
		return true
	}
	above := n.holder()
	return n.name == "spec" && above != nil && settableOpenName(above.name)
}

// settableApplies says whether objects of the kind run pods: instances own some, by no
// other custom resource in between, or the schema has replicas beside an image, resources
// or the template of a pod.
func (d *Definition) settableApplies() bool {
	return len(d.ownWorkloads()) > 0 || d.settableRuns()
}

// ownWorkloads returns the workloads of which the nearest owner that is no built-in
// controller is an instance. Those of another custom resource below are that one's to set.
func (d *Definition) ownWorkloads() []*Workload {
	var out []*Workload
	for _, w := range d.Workloads() {
		if owner, ok := d.World.owner(w.Ref); ok && owner.GroupKind() == d.Kind {
			out = append(out, w)
		}
	}
	return out
}

// settableRuns says that the schema has replicas beside an image, the resources of a
// container or the template of a pod. A pod template alone may be there for others to use.
func (d *Definition) settableRuns() bool {
	runs := false
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			runs = runs || settableRunsHere(n)
			return !runs && !schemaBuiltIn(n.props)
		})
	}
	return runs
}

func settableRunsHere(n *schemaNode) bool {
	replicas := false
	for _, name := range []string{"replicas", "replicaCount", "instances", "numberOfInstances"} {
		p := n.props.Properties[name]
		replicas = replicas || p.Type == "integer"
	}
	if !replicas {
		return false
	}
	for _, name := range []string{"image", "imageName"} {
		if p := n.props.Properties[name]; p.Type == "string" {
			return true
		}
	}
	if p, ok := n.props.Properties["resources"]; ok && settableResources(&schemaNode{up: n, name: "resources", props: &p}) {
		return true
	}
	template := n.props.Properties["template"]
	pod := template.Properties["spec"]
	return settableHas(&pod, "containers")
}
