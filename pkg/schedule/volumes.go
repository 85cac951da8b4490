package schedule

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// filterVolumes says whether the volumes of a candidate can be used on a node, or made for it.
func (g *clusterState) filterVolumes(c *candidate, node *corev1.Node) rejection {
	var delayed []*claimUse
	for _, u := range c.claims {
		switch {
		case u.volume != nil && !inTree(u.volume) && volumehelpers.CheckNodeAffinity(u.volume, node.Labels) != nil:
			return rejection{reason: "VolumeNodeAffinity", message: "its volume cannot be used there (node affinity of the volume)"}
		case u.volume != nil && !zoneSuits(u.volume, node):
			return rejection{reason: "VolumeZone", message: "its volume is in another zone"}
		case u.volume == nil && !u.pooled && u.waits() && (u.provisioned || len(u.choices) > 0):
			delayed = append(delayed, u)
		}
	}
	// The smallest claim is bound first, to an existing volume, or else to a new one.
	slices.SortStableFunc(delayed, func(a, b *claimUse) int {
		x, y := a.claim.Spec.Resources.Requests[corev1.ResourceStorage], b.claim.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	taken := map[string]*corev1.PersistentVolume{}
	for _, u := range delayed {
		if found, err := volumehelpers.FindMatchingVolume(u.claim, u.choices, node, taken, true, true); err == nil && found != nil {
			taken[found.Name] = found
			continue
		}
		switch {
		case u.provisioned && g.Unread.Volumes: // An existing one may serve this node: readUnbound says so.
		case !u.provisioned:
			return rejection{reason: reasonVolume, message: "there is no free volume that a pod on this node could use"}
		case !topologyAllows(u.class.AllowedTopologies, node):
			return rejection{reason: "VolumeTopology", message: "no volume is made for this node (allowed topologies of the storage class)"}
		case !g.capacitySuits(u, node):
			return rejection{reason: "StorageCapacity", message: "not enough storage is left for a volume"}
		}
	}
	return passes
}

// zoneKeys are the labels of zones and regions, each with the one that took its place.
var zoneKeys = map[string]string{
	corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	corev1.LabelTopologyZone: corev1.LabelTopologyZone, corev1.LabelTopologyRegion: corev1.LabelTopologyRegion,
}

// zoneSuits compares the zone and region labels of a volume with those of a node, which
// count only if the node has any.
func zoneSuits(v *corev1.PersistentVolume, node *corev1.Node) bool {
	zoned, suits := false, true
	for key, later := range zoneKeys {
		at, ok := node.Labels[key]
		zoned = zoned || ok
		if !ok {
			at, ok = node.Labels[later]
		}
		zones := strings.Split(strings.ReplaceAll(v.Labels[key], " ", ""), "__")
		if !slices.Contains(zones, "") && (!ok || !slices.Contains(zones, at)) {
			suits = false
		}
	}
	return suits || !zoned
}

func topologyAllows(terms []corev1.TopologySelectorTerm, node *corev1.Node) bool {
	return len(terms) == 0 || slices.ContainsFunc(terms, func(t corev1.TopologySelectorTerm) bool {
		return len(t.MatchLabelExpressions) > 0 && !slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool {
			value, ok := node.Labels[e.Key]
			return !ok || !slices.Contains(e.Values, value)
		})
	})
}

// capacitySuits finds a pool that the node reaches and that has room, if the driver publishes its
// capacities.
func (g *clusterState) capacitySuits(u *claimUse, node *corev1.Node) bool {
	size, asks := u.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !asks || !g.tracksCapacity(u) {
		return true
	}
	return slices.ContainsFunc(g.Capacities, func(c *storagev1.CSIStorageCapacity) bool {
		limit := c.MaximumVolumeSize
		if limit == nil {
			limit = c.Capacity
		}
		if c.StorageClassName != u.class.Name || limit == nil || limit.Value() < size.Value() || c.NodeTopology == nil {
			return false
		}
		selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
		return err == nil && selector.Matches(labels.Set(node.Labels))
	})
}

// tracksCapacity says that the driver of a claim's class tells how much storage it has left, and
// that this was read.
func (g *clusterState) tracksCapacity(u *claimUse) bool {
	driver := g.volumes.drivers[u.class.Provisioner]
	return driver != nil && driver.Spec.StorageCapacity != nil && *driver.Spec.StorageCapacity && !g.Unread.Storage
}

// driverOf returns the CSI driver of a claim and a name for its volume; empty where none is
// counted.
func (v *volumeIndex) driverOf(claim *corev1.PersistentVolumeClaim) (driver, handle string) {
	if p := v.volumes[claim.Spec.VolumeName]; p != nil {
		if p.Spec.CSI == nil {
			return "", ""
		}
		return p.Spec.CSI.Driver, p.Spec.CSI.VolumeHandle
	}
	class := v.standard
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	if c := v.classes[class]; c != nil {
		return c.Provisioner, claim.Namespace + "/" + claim.Name
	}
	return "", ""
}

// unlimited is more volumes than any node gets.
const unlimited = 1 << 40

// allocatable is how much of a dimension of storage a node has: volumes that it can attach, or
// local volumes that claims contend for.
func (v *volumeIndex) allocatable(dim string, node *corev1.Node) int64 {
	if driver, ok := strings.CutPrefix(dim, dimAttach); ok {
		if limit, ok := v.limits[driver][node.Name]; ok {
			return limit
		}
		return unlimited
	}
	count := int64(0)
	for _, p := range v.pools[dim] {
		if volumehelpers.CheckNodeAffinity(p, node.Labels) == nil {
			count++
		}
	}
	return count
}

// attach takes off what nodes have attached: the volumes of the pods of a node, each once,
// and attachments besides, which can outlive a pod.
func (v *volumeIndex) attach(o *occupancy) {
	if len(v.limits) == 0 {
		return
	}
	seen := map[string]bool{}
	attach := func(n int, driver, handle string) {
		id := o.nodes[n].Name + "\x00" + driver + "\x00" + handle
		if k, ok := o.dimOf[dimAttach+driver]; ok && !seen[id] {
			seen[id] = true
			o.free[n*len(o.dims)+k]--
		}
	}
	for n, pods := range o.onNode {
		for _, p := range pods {
			for _, claim := range v.claimsOf(p) {
				driver, handle := v.driverOf(claim)
				attach(n, driver, handle)
			}
		}
	}
	for _, a := range o.Attachments {
		n, ok := o.byName[a.Spec.NodeName]
		if name := a.Spec.Source.PersistentVolumeName; ok && name != nil && !o.certain {
			if p := v.volumes[*name]; p != nil && p.Spec.CSI != nil {
				attach(n, a.Spec.Attacher, p.Spec.CSI.VolumeHandle)
			}
		}
	}
}

// claimsOf are the claims of an existing pod.
func (v *volumeIndex) claimsOf(p *corev1.Pod) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for i := range p.Spec.Volumes {
		name := ""
		if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			name = c.ClaimName
		} else if p.Spec.Volumes[i].Ephemeral != nil {
			name = p.Name + "-" + p.Spec.Volumes[i].Name
		}
		if claim := v.claims[p.Namespace+"/"+name]; claim != nil {
			out = append(out, claim)
		}
	}
	return out
}
