package schedule

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// claimUse is a claim that a pod uses, as the scheduler sees it.
type claimUse struct {
	key   string
	claim *corev1.PersistentVolumeClaim
	// volume is the one that it is bound to; nil where there is none yet.
	volume *corev1.PersistentVolume
	// class is nil for a claim of a class that does not exist.
	class *storagev1.StorageClass
	// choices are the volumes that it could be bound to, on one node or another.
	choices []*corev1.PersistentVolume
	// provisioned says that a volume can be made for it; pooled that its choices are counted
	// like a resource.
	provisioned, pooled bool
}

// volumeIndex has what concerns storage, by name.
type volumeIndex struct {
	claims   map[string]*corev1.PersistentVolumeClaim
	volumes  map[string]*corev1.PersistentVolume
	byClass  map[string][]*corev1.PersistentVolume
	classes  map[string]*storagev1.StorageClass
	standard string
	drivers  map[string]*storagev1.CSIDriver
	// users counts the pods that use a claim, on nodes and without one.
	users map[string]int
	// pools are the volumes behind a dimension.
	pools map[string][]*corev1.PersistentVolume
	// limits say how many volumes of a driver a node can attach, by driver and node.
	limits map[string]map[string]int64
}

func newVolumeIndex(g *clusterState) *volumeIndex {
	v := &volumeIndex{
		claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{}, byClass: map[string][]*corev1.PersistentVolume{},
		classes: map[string]*storagev1.StorageClass{}, drivers: map[string]*storagev1.CSIDriver{},
		users: map[string]int{}, pools: map[string][]*corev1.PersistentVolume{}, limits: map[string]map[string]int64{},
	}
	for _, c := range g.Claims {
		v.claims[c.Namespace+"/"+c.Name] = c
	}
	for _, p := range g.Volumes {
		v.volumes[p.Name] = p
		class := volumehelpers.GetPersistentVolumeClass(p)
		v.byClass[class] = append(v.byClass[class], p)
	}
	for _, c := range g.Classes {
		v.classes[c.Name] = c
	}
	v.standard = standardClass(g.Classes)
	for _, d := range g.CSIDrivers {
		v.drivers[d.Name] = d
	}
	for _, n := range g.Drivers {
		for _, d := range n.Spec.Drivers {
			if d.Allocatable == nil || d.Allocatable.Count == nil {
				continue
			}
			if v.limits[d.Name] == nil {
				v.limits[d.Name] = map[string]int64{}
			}
			v.limits[d.Name][n.Name] = int64(*d.Allocatable.Count)
		}
	}
	for _, p := range g.Pods {
		for i := range p.Spec.Volumes {
			if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil && p.Spec.NodeName != "" {
				v.users[p.Namespace+"/"+c.ClaimName]++
			}
		}
	}
	return v
}

// standardClass is the class of claims that name none: of several the newest.
func standardClass(classes []*storagev1.StorageClass) string {
	best := &storagev1.StorageClass{}
	for _, c := range classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		newer := best.Name == "" || best.CreationTimestamp.Before(&c.CreationTimestamp)
		if newer || best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	return best.Name
}

func usesClaim(p *corev1.Pod, key string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName == key
	})
}

// readVolumes finds the claims of a candidate and what is known of each.
func (g *clusterState) readVolumes(c *candidate) {
	for i := range c.pod.Spec.Volumes {
		v := &c.pod.Spec.Volumes[i]
		if migrated := v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.AzureDisk != nil || v.Cinder != nil || v.PortworxVolume != nil; migrated && len(g.volumes.limits) > 0 {
			c.unsure("a disk is named in the pod, and how many of those nodes take was not counted")
		}
		key, claim := g.claimOf(c, v)
		switch {
		case key == "":
			continue
		case claim == nil && g.Unread.Claims:
			c.unsure("claim %s is used, and claims could not be read", key)
			continue
		case claim == nil:
			c.lose("ClaimNotFound", "claim %s does not exist", key)
			continue
		}
		g.volumes.users[key]++
		if slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			c.single = append(c.single, key)
		}
		g.readClaim(c, &claimUse{key: key, claim: claim})
	}
}

// claimOf returns the claim of a volume, which for an ephemeral one is still to be made.
func (g *clusterState) claimOf(c *candidate, v *corev1.Volume) (string, *corev1.PersistentVolumeClaim) {
	ns := c.pod.Namespace
	switch {
	case v.PersistentVolumeClaim != nil:
		key := ns + "/" + v.PersistentVolumeClaim.ClaimName
		return key, g.volumes.claims[key]
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		key := ns + "/" + c.pod.Name + "-" + v.Name
		if claim := g.volumes.claims[key]; claim != nil && c.asked < 0 {
			return key, claim
		}
		// Two pods that have no name yet would share the key.
		key += fmt.Sprintf("#%d", c.asked)
		return key, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: c.pod.Name + "-" + v.Name}, Spec: v.Ephemeral.VolumeClaimTemplate.Spec}
	}
	return "", nil
}

func (g *clusterState) readClaim(c *candidate, u *claimUse) {
	c.claims = append(c.claims, u)
	claim := u.claim
	if g.Unread.Storage {
		c.unsure("claims are used, and what nodes can attach and what storage is left could not be read")
	}
	bound := claim.Spec.VolumeName != "" && (metav1.HasAnnotation(claim.ObjectMeta, volumehelpers.AnnBindCompleted) || claim.Status.Phase == corev1.ClaimBound)
	switch {
	case claim.Status.Phase == corev1.ClaimLost:
		c.lose("ClaimLost", "claim %s has lost its volume %s", u.key, claim.Spec.VolumeName)
	case claim.DeletionTimestamp != nil:
		c.lose("ClaimEnding", "claim %s is being deleted", u.key)
	case claim.Spec.VolumeName == "":
		g.readUnbound(c, u)
	case !bound:
		c.unsure("claim %s names volume %s and is not bound to it yet", u.key, claim.Spec.VolumeName)
	default:
		u.volume = g.volumes.volumes[claim.Spec.VolumeName]
		switch {
		case u.volume == nil && g.Unread.Volumes:
			c.unsure("claim %s is bound to volume %s, and volumes could not be read", u.key, claim.Spec.VolumeName)
		case u.volume == nil:
			c.lose(reasonVolume, "claim %s is bound to volume %s, which does not exist", u.key, claim.Spec.VolumeName)
		case inTree(u.volume) && u.volume.Spec.NodeAffinity != nil:
			c.unsure("volume %s is of a kind that a CSI driver took over, and its node affinity was not translated", u.volume.Name)
		}
	}
}

// inTree says that a volume is of a kind that was moved to a CSI driver: the scheduler
// translates its node affinity.
func inTree(v *corev1.PersistentVolume) bool {
	s := v.Spec.PersistentVolumeSource
	return s.AWSElasticBlockStore != nil || s.GCEPersistentDisk != nil || s.AzureDisk != nil || s.AzureFile != nil || s.Cinder != nil || s.VsphereVolume != nil || s.PortworxVolume != nil || s.RBD != nil
}

// readUnbound finds the class of a claim and whether there is any way to a volume.
func (g *clusterState) readUnbound(c *candidate, u *claimUse) {
	class := volumehelpers.GetPersistentVolumeClaimClass(u.claim)
	named := u.claim.Spec.StorageClassName != nil || class != ""
	if !named {
		class = g.volumes.standard
		u.claim = u.claim.DeepCopy()
		u.claim.Spec.StorageClassName = &class
	}
	u.class = g.volumes.classes[class]
	if g.Unread.Classes && u.class == nil && (class != "" || !named) {
		c.unsure("the storage class of claim %s is unknown: storage classes could not be read", u.key)
		return
	}
	u.provisioned = u.class != nil && u.class.Provisioner != "" && u.class.Provisioner != volumehelpers.NotSupportedProvisioner
	for _, v := range g.volumes.byClass[class] {
		anywhere := *v
		anywhere.Spec.NodeAffinity = nil
		if found, err := volumehelpers.FindMatchingVolume(u.claim, []*corev1.PersistentVolume{&anywhere}, &corev1.Node{}, nil, true, true); err == nil && found != nil {
			u.choices = append(u.choices, v)
		}
	}
	waits := u.waits()
	if _, ok := u.claim.Annotations[volumehelpers.AnnSelectedNode]; ok && waits {
		c.unsure("a volume for claim %s is being made for a node", u.key)
	}
	switch {
	case waits && u.provisioned && g.Unread.Volumes && (len(u.class.AllowedTopologies) > 0 || g.tracksCapacity(u)):
		c.unsure("claim %s may have an existing volume, and volumes could not be read", u.key)
	case waits && (u.provisioned || len(u.choices) > 0):
	case u.provisioned:
		c.unsure("claim %s is bound before its pod is scheduled (class %s binds at once): where its volume can be used is known when it is made", u.key, class)
	case len(u.choices) > 0:
		c.unsure("claim %s is bound to one of %d volumes before its pod is scheduled", u.key, len(u.choices))
	case g.Unread.Volumes:
		c.unsure("claim %s needs an existing volume, and volumes could not be read", u.key)
	case waits:
		c.lose(reasonVolume, "no volume of class %s is free for claim %s, and none is made (its class has no provisioner)", class, u.key)
	case class == "" && !named:
		c.lose("ClaimUnbound", "claim %s names no storage class, there is no default class, and no volume without a class is free for it", u.key)
	case class == "":
		c.lose("ClaimUnbound", "claim %s asks for a volume without a class, and none is free for it", u.key)
	case u.class == nil:
		c.lose("ClaimUnbound", "storage class %s of claim %s does not exist, and no volume of that class is free for it", class, u.key)
	default:
		c.lose("ClaimUnbound", "no volume of class %s is free for claim %s, and none is made (its class has no provisioner)", class, u.key)
	}
}

// waits says that the claim is bound when its pod has a node.
func (u *claimUse) waits() bool {
	return u.class != nil && u.class.VolumeBindingMode != nil && *u.class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// choiceSet is the claims that could be bound to the same volumes.
type choiceSet struct {
	users int
	// overlaps says that others could be bound to some of the volumes; countable that each
	// volume is of one node, and that no claim could get one in another way.
	overlaps, countable bool
}

// choiceKey is equal for claims that could be bound to the same volumes.
func (u *claimUse) choiceKey() string {
	names := make([]string, 0, len(u.choices))
	for _, v := range u.choices {
		names = append(names, v.Name)
	}
	return strings.Join(names, " ")
}

func (g *clusterState) choiceSets() map[string]*choiceSet {
	sets, keyOf := map[string]*choiceSet{}, map[string]string{}
	for _, c := range g.candidates {
		for _, u := range c.claims {
			key := u.choiceKey()
			if sets[key] == nil {
				sets[key] = &choiceSet{countable: !slices.ContainsFunc(u.choices, func(v *corev1.PersistentVolume) bool { return g.reach(v) > 1 })}
			}
			set := sets[key]
			set.users++
			set.countable = set.countable && !u.provisioned && u.waits()
			for _, v := range u.choices {
				if other, ok := keyOf[v.Name]; ok && other != key {
					set.overlaps, sets[other].overlaps = true, true
				}
				keyOf[v.Name] = key
			}
		}
	}
	return sets
}

// contend counts what claims share: local volumes of which they could have the same ones are
// counted like a resource, as far as that is certain, and so is what nodes can attach.
func (g *clusterState) contend() {
	sets := g.choiceSets()
	for _, c := range g.candidates {
		for _, u := range c.claims {
			shared := g.volumes.users[u.key] > 1
			if u.volume == nil && shared {
				c.unsure("claim %s has no volume yet and is used by several pods: the first of them decides where the others can go", u.key)
			}
			switch set := sets[u.choiceKey()]; {
			case len(u.choices) == 0 || set.users == 1 && !set.overlaps:
			case set.overlaps || !set.countable:
				c.unsure("claim %s could be bound to volumes that others could take as well", u.key)
			default:
				u.pooled = true
				name := dimLocal + u.choiceKey() + "/" + u.class.Name
				g.volumes.pools[name] = u.choices
				c.requests[name]++
			}
			driver, _ := g.volumes.driverOf(u.claim)
			switch {
			case g.volumes.limits[driver] == nil:
			case shared:
				c.unsure("claim %s is used by several pods, and how many volumes their nodes can attach was not counted", u.key)
			default:
				c.requests[dimAttach+driver]++
			}
		}
	}
}

// reach counts the nodes that can use a volume.
func (g *clusterState) reach(v *corev1.PersistentVolume) int {
	count := 0
	for _, node := range g.nodes {
		if volumehelpers.CheckNodeAffinity(v, node.Labels) == nil {
			count++
		}
	}
	return count
}
