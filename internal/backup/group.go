package backup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Kinds of group snapshots.
var (
	groupSnapshotKind      = schema.GroupKind{Group: "groupsnapshot.storage.k8s.io", Kind: "VolumeGroupSnapshot"}
	GroupSnapshotClassKind = schema.GroupKind{Group: groupSnapshotKind.Group, Kind: "VolumeGroupSnapshotClass"}
)

// defaultGroupClass marks the VolumeGroupSnapshotClass that is used of several for one driver.
const defaultGroupClass = "groupsnapshot.storage.kubernetes.io/is-default-class"

// group is the claims of one driver in a namespace, which a driver can copy at one moment.
type group struct{ namespace, driver string }

// groupSnapshots plans one VolumeGroupSnapshot in place of the snapshots of several claims, where
// the driver has a class for it and labels select these claims alone.
func (c *computer) groupSnapshots() {
	kind, served := c.Kinds.Kind(groupSnapshotKind)
	if !served || kind.Version == "v1alpha1" {
		return
	}
	groups := map[group][]*Part{}
	for i := range c.plan.Parts {
		if p := &c.plan.Parts[i]; p.Method == BySnapshot {
			at := group{p.Object.Namespace, p.Driver}
			groups[at] = append(groups[at], p)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.driver, b.driver))
	}) {
		parts := groups[at]
		if len(parts) < 2 {
			continue
		}
		class, wrong := c.class(GroupSnapshotClassKind, defaultGroupClass, at.driver)
		var labels map[string]string
		if wrong == "" {
			labels, wrong = c.selector(at, parts)
		}
		if wrong != "" {
			c.plan.Notes = append(c.plan.Notes, fmt.Sprintf("the %d claims of %s in %s are saved one by one: %s", len(parts), at.driver, at.namespace, wrong))
			continue
		}
		c.groupSnapshot(kind.Version, class, labels, parts)
	}
}

func (c *computer) groupSnapshot(version, class string, labels map[string]string, parts []*Part) {
	selector := map[string]any{}
	for key, value := range labels {
		selector[key] = value
	}
	spec := map[string]any{"volumeGroupSnapshotClassName": class, "source": map[string]any{"selector": map[string]any{"matchLabels": selector}}}
	o := newObject(groupSnapshotKind.WithVersion(version), parts[0].Object.Namespace, c.nameOf(c.plan.Source+"-"+class), c.labels(), spec)
	for i, p := range parts {
		p.Backup, p.Provider, p.Create = object.RefOf(o), class, nil
		p.Reason = fmt.Sprintf("%d claims at one moment", len(parts))
		if i == 0 {
			p.Create = o
		}
	}
}

// selector returns labels that all claims of the parts have and no other claim of their namespace.
// They are matchLabels, since the snapshot controller reads no matchExpressions (v8.7).
func (c *computer) selector(at group, parts []*Part) (labels map[string]string, wrong string) {
	unread := slices.ContainsFunc(c.Gaps, func(g object.Gap) bool {
		return g.Resource == "persistentvolumeclaims" && (g.Namespace == "" || g.Namespace == at.namespace)
	})
	if unread || !slices.Contains(c.Namespaces, at.namespace) {
		return nil, "its other claims were not read"
	}
	saved := map[object.Ref]bool{}
	for _, p := range parts {
		saved[p.Object] = true
	}
	var own, foreign []map[string]string
	for id := range c.Graph.OfKind(ClaimKind) {
		switch ref := c.Graph.Ref(id); {
		case ref.Namespace != at.namespace || c.Graph.State(id) != graph.Present:
		case saved[ref]:
			own = append(own, c.Graph.Labels(id))
		default:
			foreign = append(foreign, c.Graph.Labels(id))
		}
	}
	labels = common(own)
	for _, other := range foreign {
		if matches(labels, other) {
			return nil, "no label is on these claims alone: kubectl label pvc with one that they share makes it one group snapshot"
		}
	}
	return labels, ""
}

// common are the labels that all have.
func common(all []map[string]string) map[string]string {
	if len(all) == 0 {
		return nil
	}
	out := maps.Clone(all[0])
	for _, labels := range all[1:] {
		maps.DeleteFunc(out, func(key, value string) bool { return labels[key] != value })
	}
	return out
}

// matches says whether labels have all of a selector.
func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// IsGroup says whether a snapshot of several claims saves the part.
func (p *Part) IsGroup() bool { return p.Backup.GroupKind() == groupSnapshotKind }

// snapshot is the VolumeSnapshot of the claim; zero for one of a group that was not read.
func (p *Part) snapshot() object.Ref {
	switch {
	case !p.IsGroup():
		return p.Backup
	case p.Snapshot == nil:
		return object.Ref{}
	}
	return *p.Snapshot
}

// OfGroup says whether a VolumeSnapshot is the one of the part's claim in its group, which has that UID:
// others may have made one that names it.
func (p *Part) OfGroup(snapshot *unstructured.Unstructured, group types.UID) bool {
	if Text(snapshot.Object, "spec", "source", "persistentVolumeClaimName") != p.Object.Name {
		return false
	}
	return slices.ContainsFunc(snapshot.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
		return o.UID == group
	})
}
