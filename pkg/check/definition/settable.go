package definition

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// settable returns the field by which users can set a pod setting of a custom resource, in the
// storage version. Among several it prefers the main part over an auxiliary one
// (isAuxiliaryField), and then the one nearest to the top. It is false where the schema names
// none. Containers that are added to those of the operator do not count.
func settable(d *check.Definition, subject setting) (path string, ok bool) {
	path, _, ok = settableAt(d, subject)
	return path, ok
}

// settableAt also reports whether the field belongs to an auxiliary part.
func settableAt(d *check.Definition, subject setting) (path string, auxiliary, ok bool) {
	var best *schemaNode
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			if isExtraContainers(n) {
				return false
			}
			if !settableShapes[subject](n) {
				return true
			}
			if current := isAuxiliaryField(n); best == nil || auxiliary && !current || auxiliary == current && n.depth() < best.depth() {
				best, auxiliary = n, current
			}
			return false
		})
	}
	if best == nil {
		return "", false, false
	}
	return best.path(), auxiliary, true
}

// settableAuxiliaryName are the names of supporting parts of a custom resource, whose settings
// do not apply to the rest.
var settableAuxiliaryName = pattern(`(?i)backup|restore|exporter|metrics|monitor|bootstrap|sidecar|\binit|job|hook|migration|recovery|upgrade|cleanup|test`)

// isAuxiliaryField reports whether a field belongs to an auxiliary part. In a kind for
// backups, a backup field is not auxiliary.
func isAuxiliaryField(n *schemaNode) bool {
	for at := n; at != nil; at = at.up {
		if settableAuxiliaryName().MatchString(at.name) {
			return true
		}
	}
	return false
}

// isExtraContainers reports whether a field holds containers that are added to those of the
// operator.
func isExtraContainers(n *schemaNode) bool {
	return n.field() && settableNamed(n, "sidecars", "sidecarcontainers", "sidecarcontainer", "initcontainers", "initcontainer", "extracontainers", "additionalcontainers", "ephemeralcontainers")
}

// settableOpenName matches the names of open objects that may set anything about pods.
func settableOpenName(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "podtemplate") || strings.Contains(name, "podspec") || strings.Contains(name, "override") ||
		slices.Contains([]string{"template", "values", "pod", "pods", "patches", "patch", "helmvalues", "podpolicy", "deployment", "statefulset"}, name)
}

// settableOpen returns the first open field in which anything about pods may be set; false
// where there is none.
func settableOpen(d *check.Definition) (path string, ok bool) {
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

// settableOpenAt reports whether a field, or the list that it is an item of, has a name under
// which pods are described.
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

// settableApplies reports whether objects of the kind run pods: instances own some, without
// another custom resource in between, or the schema has replicas next to an image, resources
// or the template of a pod.
func settableApplies(d *check.Definition) bool {
	return len(ownWorkloads(d)) > 0 || settableRuns(d)
}

// ownWorkloads returns the workloads whose nearest owner, apart from built-in controllers, is
// an instance. A nested custom resource sets its own workloads.
func ownWorkloads(d *check.Definition) []*check.Workload {
	var out []*check.Workload
	for _, w := range d.Workloads() {
		if owner, ok := d.World.Owner(w.Ref); ok && owner.GroupKind() == d.Kind {
			out = append(out, w)
		}
	}
	return out
}

// settableRuns reports whether the schema has replicas next to an image, the resources of a
// container or the template of a pod. A pod template alone may exist for other objects to use.
func settableRuns(d *check.Definition) bool {
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
