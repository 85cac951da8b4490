package operator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// gone is a resource that its group no longer has, the release that removed it, and the group
// that has it now.
type gone struct{ group, resource, release, now string }

// removed returns the removed resources. A kind is left out where its own group has a later
// version, since rules of roles name the group alone.
func removed() []gone {
	var all []gone
	for _, r := range object.RemovedAPIs() {
		if r.Successor.Group != r.Group {
			plural, _ := meta.UnsafeGuessKindToResource(r.GroupVersionKind)
			all = append(all, gone{r.Group, plural.Resource, r.Release, r.Successor.Group})
		}
	}
	return all
}

func removedAPIs(o *check.Operator, r *check.Result) {
	for _, sa := range o.Accounts() {
		grants, known := o.World.Grants(sa)
		if len(grants) == 0 {
			if !known {
				r.AddUnknown(sa, "roles and their bindings were not all read")
			}
			continue
		}
		wrong := len(r.Findings)
		for _, gone := range removed() {
			if olderThan(o.World, gone.release) {
				continue
			}
			at, names := named(grants, gone.group, gone.resource)
			if !names {
				continue
			}
			f := check.Finding{Object: at.Role, Field: fmt.Sprintf("rules[%d]", at.Index), Value: gone.resource + "." + gone.group, Related: []object.Ref{sa, at.Binding}}
			if gone.now == "" {
				f.Message = fmt.Sprintf("grants %s of %s, which Kubernetes %s removed: it has no effect", gone.resource, gone.group, gone.release)
				r.AddFinding(f)
				continue
			}
			if slices.ContainsFunc(grants, func(g check.Grant) bool {
				return check.RuleHas(g.Rule.APIGroups, gone.now) && check.RuleHas(g.Rule.Resources, gone.resource)
			}) {
				continue
			}
			f.Severity = check.Warning
			f.Message = fmt.Sprintf("grants %s of %s, which Kubernetes %s removed, and not of %s, its replacement: the operator may not use them", gone.resource, gone.group, gone.release, gone.now)
			f.Remedy = fmt.Sprintf("grant the same verbs on %s of the group %s", gone.resource, gone.now)
			r.AddFinding(f)
		}
		if len(r.Findings) == wrong {
			r.Pass(sa)
		}
	}
}

// olderThan reports whether the cluster is older than a release of Kubernetes, by the versions
// of its nodes, which are never newer than its API server.
func olderThan(w *check.ClusterState, release string) bool {
	nodes := check.All[*corev1.Node](w.Facts, "", "Node")
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *corev1.Node) bool {
		return !check.IsOlder(n.Status.NodeInfo.KubeletVersion, release)
	})
}

// named returns the grant whose rule names a resource and its group.
func named(grants []check.Grant, group, resource string) (check.Grant, bool) {
	for _, g := range grants {
		if slices.Contains(g.Rule.APIGroups, group) && slices.Contains(g.Rule.Resources, resource) {
			return g, true
		}
	}
	return check.Grant{}, false
}
