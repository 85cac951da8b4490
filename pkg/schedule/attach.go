package schedule

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

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

// allocate adds the dimensions of storage: what nodes can attach, and what volumes they
// have that claims contend for.
func (v *volumeIndex) allocate(g *clusterState) {
	for _, c := range g.candidates {
		v.wantAttached(g, c)
	}
	d := len(g.dims)
	for k := range g.dims {
		name := g.dims[k].name
		switch {
		case strings.HasPrefix(name, dimLocal):
			for _, p := range v.pools[name] {
				for _, n := range g.reached(p) {
					g.alloc[n*d+k]++
				}
			}
		case strings.HasPrefix(name, dimAttach):
			for n, node := range g.nodes {
				g.alloc[n*d+k] = limitOf(v.nodes[node.Name], strings.TrimPrefix(name, dimAttach))
			}
		}
	}
}

// unlimited is more than any node is asked for.
const unlimited = 1 << 40

func limitOf(n *storagev1.CSINode, driver string) int64 {
	if n == nil {
		return unlimited
	}
	for _, d := range n.Spec.Drivers {
		if d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return int64(*d.Allocatable.Count)
		}
	}
	return unlimited
}

// wantAttached counts the volumes of a candidate that a node has to attach. A volume that
// several pods use counts once on a node, so that it is only said that it was not counted.
func (v *volumeIndex) wantAttached(g *clusterState, c *candidate) {
	seen := map[string]bool{}
	for _, u := range c.claims {
		driver, handle := v.driverOf(u.claim)
		if driver == "" || !v.limited[driver] || seen[driver+"/"+handle] {
			continue
		}
		seen[driver+"/"+handle] = true
		if v.users[u.key] > 1 || g.inUse(c.pod.Namespace, u.claim.Name) {
			c.unsure("claim %s is used by several pods, and how many volumes their nodes can attach was not counted", u.key)
			continue
		}
		c.want[g.dimOf[dimAttach+driver]]++
	}
}

func (g *clusterState) inUse(namespace, claim string) bool {
	return slices.ContainsFunc(g.inNamespace[namespace], func(i int) bool {
		return slices.ContainsFunc(g.settled[i].pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
		})
	})
}

// attachDims adds a name for each driver with a limit that a candidate uses.
func (v *volumeIndex) attachDims(g *clusterState) []string {
	var out []string
	for _, c := range g.candidates {
		for _, u := range c.claims {
			if driver, _ := v.driverOf(u.claim); v.limited[driver] && !slices.Contains(out, dimAttach+driver) {
				out = append(out, dimAttach+driver)
			}
		}
	}
	return out
}

// occupy takes off what is attached: the volumes of the pods of a node, each once, and
// attachments besides, which can outlive a pod.
func (v *volumeIndex) occupy(g *clusterState) {
	if len(v.attachDims(g)) == 0 {
		return
	}
	seen := [worlds]map[string]bool{{}, {}, {}}
	for i := range g.settled {
		s := &g.settled[i]
		for j := range s.pod.Spec.Volumes {
			vol := &s.pod.Spec.Volumes[j]
			var claim *corev1.PersistentVolumeClaim
			switch {
			case vol.PersistentVolumeClaim != nil:
				claim = v.claims[s.pod.Namespace+"/"+vol.PersistentVolumeClaim.ClaimName]
			case vol.Ephemeral != nil:
				claim = v.claims[s.pod.Namespace+"/"+s.pod.Name+"-"+vol.Name]
			}
			if claim != nil {
				driver, handle := v.driverOf(claim)
				g.attach(&seen, s.node, s.stays, driver, handle)
			}
		}
	}
	for _, a := range g.Attachments {
		n, ok := g.byName[a.Spec.NodeName]
		if name := a.Spec.Source.PersistentVolumeName; ok && name != nil {
			if p := v.volumes[*name]; p != nil && p.Spec.CSI != nil {
				g.attach(&seen, n, now, a.Spec.Attacher, p.Spec.CSI.VolumeHandle)
			}
		}
	}
}

func (g *clusterState) attach(seen *[worlds]map[string]bool, n int, stays world, driver, handle string) {
	k, ok := g.dimOf[dimAttach+driver]
	if !ok {
		return
	}
	for w := now; w <= stays; w++ {
		id := g.nodes[n].Name + "\x00" + driver + "\x00" + handle
		if !seen[w][id] {
			seen[w][id] = true
			g.free[w][n*len(g.dims)+k]--
		}
	}
}
