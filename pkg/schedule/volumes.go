package schedule

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// filterVolumes asks each node for the volumes of a candidate.
func (g *clusterState) filterVolumes(c *candidate, f *filtered) {
	g.filterOnce(c, f)
	if len(c.claims) == 0 {
		return
	}
	for n := range g.nodes {
		if f.code[least][n] != suits {
			continue
		}
		sure, maybe := g.volumesOn(c, n)
		f.set(n, maybe)
		if f.code[now][n] == suits {
			f.code[now][n] = sure
		}
	}
}

// filterOnce rules out all nodes where another pod has a claim that only one may use.
func (g *clusterState) filterOnce(c *candidate, f *filtered) {
	for _, key := range c.once {
		for _, i := range g.inNamespace[c.pod.Namespace] {
			s := &g.settled[i]
			if !slices.ContainsFunc(s.pod.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && c.pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName == key
			}) {
				continue
			}
			for w := now; w <= s.stays; w++ {
				for n := range f.code[w] {
					if f.code[w][n] == suits {
						f.code[w][n] = byClaimUse
					}
				}
			}
		}
	}
}

// volumesOn says whether the volumes of a candidate can be had on a node: surely, and if at
// all. The two differ where a volume has to be taken that others could take.
func (g *clusterState) volumesOn(c *candidate, n int) (sure, maybe code) {
	node := g.nodes[n]
	var delayed []*claimUse
	for _, u := range c.claims {
		if u.volume != nil {
			if why := boundOn(u.volume, node); why != suits {
				return why, why
			}
		}
		if u.volume == nil && u.class != nil && u.pooled == "" && (u.provisioned || len(u.choices) > 0) {
			delayed = append(delayed, u)
		}
	}
	return g.delayedOn(delayed, node)
}

func boundOn(v *corev1.PersistentVolume, node *corev1.Node) code {
	if !inTree(v) && volumehelpers.CheckNodeAffinity(v, node.Labels) != nil {
		return byVolumeNode
	}
	if !zoneSuits(v, node) {
		return byZone
	}
	return suits
}

// zoneSuits compares the zone and region labels of a volume with those of a node, which
// count only if the node has any.
func zoneSuits(v *corev1.PersistentVolume, node *corev1.Node) bool {
	successor := map[string]string{
		corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		corev1.LabelTopologyZone: corev1.LabelTopologyZone, corev1.LabelTopologyRegion: corev1.LabelTopologyRegion,
	}
	placed := false
	for key := range successor {
		_, ok := node.Labels[key]
		placed = placed || ok
	}
	if !placed {
		return true
	}
	for key, later := range successor {
		value, ok := v.Labels[key]
		zones := strings.Split(value, "__")
		if !ok || slices.ContainsFunc(zones, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			continue
		}
		at, ok := node.Labels[key]
		if !ok {
			at, ok = node.Labels[later]
		}
		if !ok || !slices.ContainsFunc(zones, func(s string) bool { return strings.TrimSpace(s) == at }) {
			return false
		}
	}
	return true
}

// delayedOn judges claims that are bound when the pod has a node: to a volume that is
// there, the smallest claim first, or else to one that is made.
func (g *clusterState) delayedOn(uses []*claimUse, node *corev1.Node) (sure, maybe code) {
	slices.SortStableFunc(uses, func(a, b *claimUse) int {
		x, y := a.claim.Spec.Resources.Requests[corev1.ResourceStorage], b.claim.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	taken := map[string]*corev1.PersistentVolume{}
	for _, u := range uses {
		if u.class.VolumeBindingMode == nil || *u.class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
			continue
		}
		made := g.madeOn(u, node)
		claim := u.claim
		if volumehelpers.GetPersistentVolumeClaimClass(claim) != u.className {
			claim = claim.DeepCopy()
			claim.Spec.StorageClassName = &u.className
		}
		found, err := volumehelpers.FindMatchingVolume(claim, u.choices, node, taken, true, true)
		switch {
		case err == nil && found != nil:
			taken[found.Name] = found
			if made != suits && u.provisioned && sure == suits {
				sure = made
			}
		case made != suits:
			return made, made
		}
	}
	return sure, suits
}

// madeOn says whether a volume can be made for a node.
func (g *clusterState) madeOn(u *claimUse, node *corev1.Node) code {
	switch {
	case !u.provisioned:
		return byVolume
	case !topologyAllows(u.class.AllowedTopologies, node):
		return byVolumeTopology
	case !g.capacitySuits(u, node):
		return byCapacity
	}
	return suits
}

func topologyAllows(terms []corev1.TopologySelectorTerm, node *corev1.Node) bool {
	if len(terms) == 0 {
		return true
	}
	return slices.ContainsFunc(terms, func(t corev1.TopologySelectorTerm) bool {
		return len(t.MatchLabelExpressions) > 0 && !slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool {
			value, ok := node.Labels[e.Key]
			return !ok || !slices.Contains(e.Values, value)
		})
	})
}

// capacitySuits looks for a pool that the node reaches and that has room, if the driver
// says that its capacities are to be looked at.
func (g *clusterState) capacitySuits(u *claimUse, node *corev1.Node) bool {
	size, asks := u.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	driver := g.volumes.drivers[u.class.Provisioner]
	if !asks || driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity || g.Unread.Storage {
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

// contend looks for claims that could take the same volumes. Where all of them suit each
// other, and each volume is of one node, they are counted like a resource; else it is said
// that it is not known who gets which.
func (g *clusterState) contend() {
	g.shareClaims()
	group := map[string]int{}
	var members [][]*use
	for _, c := range g.candidates {
		for _, u := range c.claims {
			if u.volume != nil || u.class == nil || len(u.choices) == 0 {
				continue
			}
			members = g.joinGroup(group, members, &use{c, u})
		}
	}
	for _, list := range members {
		g.settleGroup(list)
	}
}

// use is a claim together with the candidate that uses it.
type use struct {
	c *candidate
	u *claimUse
}

// joinGroup adds a use to those that share a volume with it, and merges what it connects.
func (g *clusterState) joinGroup(group map[string]int, members [][]*use, x *use) [][]*use {
	home := -1
	for _, v := range x.u.choices {
		at, ok := group[v.Name]
		if !ok || at == home {
			continue
		}
		if home < 0 {
			home = at
			continue
		}
		for _, m := range members[at] {
			for _, v := range m.u.choices {
				group[v.Name] = home
			}
		}
		members[home] = append(members[home], members[at]...)
		members[at] = nil
	}
	if home < 0 {
		home = len(members)
		members = append(members, nil)
	}
	for _, v := range x.u.choices {
		group[v.Name] = home
	}
	members[home] = append(members[home], x)
	return members
}

func (g *clusterState) settleGroup(list []*use) {
	alone := !slices.ContainsFunc(list, func(x *use) bool { return x.c != list[0].c })
	if len(list) == 0 || alone {
		return
	}
	if g.poolable(list) {
		u := list[0].u
		name := dimLocal + fmt.Sprintf("%d/%s", len(g.volumes.pools), u.className)
		g.volumes.pools[name] = u.choices
		for _, x := range list {
			x.u.pooled = name
			x.c.requests[name]++
		}
		return
	}
	for _, x := range list {
		if !x.u.provisioned {
			x.c.unsure("claim %s could be bound to volumes that others could take as well", x.u.key)
		}
	}
}

// poolable says that the volumes of a group can be counted: all claims could be bound to
// the same ones, none could get a volume in another way, and each is of one node.
func (g *clusterState) poolable(list []*use) bool {
	first := list[0].u
	for _, x := range list {
		waits := x.u.class.VolumeBindingMode != nil && *x.u.class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
		if !waits || x.u.provisioned || !slices.Equal(x.u.choices, first.choices) {
			return false
		}
	}
	return !slices.ContainsFunc(first.choices, func(v *corev1.PersistentVolume) bool { return len(g.reached(v)) > 1 })
}

func (g *clusterState) reached(v *corev1.PersistentVolume) []int {
	var out []int
	for n, node := range g.nodes {
		if volumehelpers.CheckNodeAffinity(v, node.Labels) == nil {
			out = append(out, n)
		}
	}
	return out
}

// shareClaims notes claims without a volume that several pods use: the first of them to
// get a node decides for the others.
func (g *clusterState) shareClaims() {
	for _, c := range g.candidates {
		for _, u := range c.claims {
			if u.volume == nil && g.volumes.users[u.key] > 1 {
				c.unsure("claim %s has no volume yet and is used by several pods: the first of them decides where the others can go", u.key)
			}
		}
	}
}
