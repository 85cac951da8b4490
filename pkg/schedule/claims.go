package schedule

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// claimUse is a claim that a pod uses, as the scheduler will look at it.
type claimUse struct {
	key   string
	claim *corev1.PersistentVolumeClaim
	// volume is the one that it is bound to; nil where there is none yet.
	volume *corev1.PersistentVolume
	// class is nil for a claim of a class that there is not.
	class     *storagev1.StorageClass
	className string
	// choices are the volumes that it could be bound to, on one node or another.
	choices []*corev1.PersistentVolume
	// provisioned says that a volume can be made for it.
	provisioned bool
	// pooled is the dimension that stands for its choices.
	pooled string
}

// volumeIndex has what concerns storage, by name.
type volumeIndex struct {
	claims   map[string]*corev1.PersistentVolumeClaim
	volumes  map[string]*corev1.PersistentVolume
	byClass  map[string][]*corev1.PersistentVolume
	classes  map[string]*storagev1.StorageClass
	standard string
	nodes    map[string]*storagev1.CSINode
	drivers  map[string]*storagev1.CSIDriver
	// users counts the candidates of each claim.
	users map[string]int
	// pools are the volumes behind a dimension.
	pools map[string][]*corev1.PersistentVolume
	// limited are drivers of which a node takes only so many volumes.
	limited map[string]bool
}

func newVolumeIndex(g *clusterState) *volumeIndex {
	v := &volumeIndex{
		claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{}, byClass: map[string][]*corev1.PersistentVolume{},
		classes: map[string]*storagev1.StorageClass{}, nodes: map[string]*storagev1.CSINode{}, drivers: map[string]*storagev1.CSIDriver{},
		users: map[string]int{}, pools: map[string][]*corev1.PersistentVolume{}, limited: map[string]bool{},
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
		v.nodes[n.Name] = n
		for _, d := range n.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				v.limited[d.Name] = true
			}
		}
	}
	return v
}

// standardClass is the class of claims that name none: of several the newest.
func standardClass(classes []*storagev1.StorageClass) string {
	var best *storagev1.StorageClass
	for _, c := range classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		newer := best == nil || best.CreationTimestamp.Before(&c.CreationTimestamp)
		if newer || best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// readVolumes finds the claims of a candidate and what is known of each.
func (g *clusterState) readVolumes(c *candidate) {
	for i := range c.pod.Spec.Volumes {
		vol := &c.pod.Spec.Volumes[i]
		g.readDisk(c, vol)
		key, claim := g.claimOf(c, vol)
		if key == "" {
			continue
		}
		if claim == nil {
			if g.Unread.Claims {
				c.unsure("claim %s is used, and claims could not be read", key)
			} else {
				c.lose("ClaimNotFound", "claim %s does not exist", key)
			}
			continue
		}
		g.volumes.users[key]++
		if slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			c.once = append(c.once, key)
		}
		g.readClaim(c, &claimUse{key: key, claim: claim})
	}
}

// readDisk notes volumes in the pod itself that CSI drivers took over: how many of them a
// node takes is not counted here.
func (g *clusterState) readDisk(c *candidate, v *corev1.Volume) {
	migrated := v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.AzureDisk != nil || v.Cinder != nil || v.PortworxVolume != nil
	if migrated && len(g.volumes.limited) > 0 {
		c.unsure("a disk is named in the pod, and how many of those nodes take was not counted")
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

func (c *candidate) lose(reason, format string, args ...any) {
	if c.lost == nil {
		c.lost = &Reason{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
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
	case bound:
		g.readBound(c, u)
	case claim.Spec.VolumeName != "":
		c.unsure("claim %s names volume %s and is not bound to it yet", u.key, claim.Spec.VolumeName)
	default:
		g.readUnbound(c, u)
	}
}

func (g *clusterState) readBound(c *candidate, u *claimUse) {
	u.volume = g.volumes.volumes[u.claim.Spec.VolumeName]
	switch {
	case u.volume == nil && g.Unread.Volumes:
		c.unsure("claim %s is bound to volume %s, and volumes could not be read", u.key, u.claim.Spec.VolumeName)
	case u.volume == nil:
		c.lose("NoVolume", "claim %s is bound to volume %s, which does not exist", u.key, u.claim.Spec.VolumeName)
	case inTree(u.volume) && u.volume.Spec.NodeAffinity != nil:
		c.unsure("volume %s is of a kind that a CSI driver took over, and its node affinity was not translated", u.volume.Name)
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
	u.className = volumehelpers.GetPersistentVolumeClaimClass(u.claim)
	named := u.claim.Spec.StorageClassName != nil || u.className != ""
	if !named && g.Unread.Classes {
		c.unsure("claim %s names no storage class, and storage classes could not be read", u.key)
		return
	}
	if !named {
		u.className = g.volumes.standard
	}
	u.class = g.volumes.classes[u.className]
	if u.class == nil && u.className != "" && g.Unread.Classes {
		c.unsure("claim %s is of class %s, and storage classes could not be read", u.key, u.className)
		return
	}
	u.provisioned = u.class != nil && u.class.Provisioner != "" && u.class.Provisioner != volumehelpers.NotSupportedProvisioner
	u.choices = g.choices(u)
	waits := u.class != nil && u.class.VolumeBindingMode != nil && *u.class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if !waits {
		g.readImmediate(c, u, named)
		return
	}
	if _, ok := u.claim.Annotations[volumehelpers.AnnSelectedNode]; ok {
		c.unsure("a volume for claim %s is being made for a node", u.key)
	}
	if len(u.choices) == 0 && !u.provisioned && !g.Unread.Volumes {
		c.lose("NoVolume", "no volume of class %s is free for claim %s, and none is made (its class has no provisioner)", u.className, u.key)
	}
}

// readImmediate judges a claim that is bound before the pod is looked at.
func (g *clusterState) readImmediate(c *candidate, u *claimUse, named bool) {
	switch {
	case u.provisioned:
		c.unsure("claim %s is bound before its pod is scheduled (class %s binds at once): where its volume can be used is known when it is made", u.key, u.className)
	case len(u.choices) > 0:
		c.unsure("claim %s is bound to one of %d volumes before its pod is scheduled", u.key, len(u.choices))
	case g.Unread.Volumes:
		c.unsure("claim %s needs an existing volume, and volumes could not be read", u.key)
	case !named && u.className == "":
		c.lose("ClaimUnbound", "claim %s names no storage class, there is no default class, and no volume without a class is free for it", u.key)
	case u.className == "":
		c.lose("ClaimUnbound", "claim %s asks for a volume without a class, and none is free for it", u.key)
	case u.class == nil:
		c.lose("ClaimUnbound", "storage class %s of claim %s does not exist, and no volume of that class is free for it", u.className, u.key)
	default:
		c.lose("ClaimUnbound", "no volume of class %s is free for claim %s, and none is made (its class has no provisioner)", u.className, u.key)
	}
}

// choices lists the volumes that a claim could be bound to, wherever its pod goes.
func (g *clusterState) choices(u *claimUse) []*corev1.PersistentVolume {
	claim := u.claim
	if class := volumehelpers.GetPersistentVolumeClaimClass(claim); class != u.className {
		claim = claim.DeepCopy()
		claim.Spec.StorageClassName = &u.className
	}
	var out []*corev1.PersistentVolume
	anywhere := &corev1.Node{}
	for _, v := range g.volumes.byClass[u.className] {
		free := *v
		free.Spec.NodeAffinity = nil
		found, err := volumehelpers.FindMatchingVolume(claim, []*corev1.PersistentVolume{&free}, anywhere, nil, true, true)
		if err == nil && found != nil {
			out = append(out, v)
		}
	}
	return out
}
