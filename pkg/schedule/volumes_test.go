package schedule

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func claim(name, class string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	if class != "-" {
		c.Spec.StorageClassName = &class
	}
	for _, do := range change {
		do(c)
	}
	return c
}

func boundTo(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		c.Status.Phase = corev1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
}

func once(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

// volume makes one that only the node can use, if one is named.
func volume(name, class, at string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.StorageClassName = class
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}
	v.Status.Phase = corev1.VolumeAvailable
	if at != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{at}}},
		}}}}
	}
	return v
}

func storageClass(name, provisioner string, mode storagev1.VolumeBindingMode, change ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	for _, do := range change {
		do(c)
	}
	return c
}

func mounts(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
}

// each gives each pod of a batch a claim of its own: data-1 and on.
func each(n int, p *corev1.Pod) []Pod {
	out := batch(n, p)
	for i := range out {
		mounts(fmt.Sprintf("data-%d", i+1))(out[i].Pod)
	}
	return out
}

func claims(n int, class string) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for i := range n {
		out = append(out, claim(fmt.Sprintf("data-%d", i+1), class))
	}
	return out
}

const (
	wait      = storagev1.VolumeBindingWaitForFirstConsumer
	immediate = storagev1.VolumeBindingImmediate
)

func limits(count int32) []*storagev1.CSINode {
	var out []*storagev1.CSINode
	for _, n := range three() {
		out = append(out, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}})
	}
	return out
}

func TestPlaceVolumes(t *testing.T) {
	fast := storageClass("fast", "csi.example.com", wait)
	local := storageClass("local", "kubernetes.io/no-provisioner", wait)
	inY := func(c *storagev1.StorageClass) {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: []string{"y"}}}}}
	}
	standard := func(c *storagev1.StorageClass) {
		c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	zoned := volume("v", "", "")
	zoned.Labels = map[string]string{zone: "y"}
	capacity := func(size string) []*storagev1.CSIStorageCapacity {
		return []*storagev1.CSIStorageCapacity{{StorageClassName: "fast", Capacity: new(resource.MustParse(size)), NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{zone: "x"}}}}
	}
	drivers := []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: new(true)}}}
	web := func(claim string) []Pod { return batch(1, pod("web", "1", mounts(claim))) }
	type pvcs = []*corev1.PersistentVolumeClaim
	type pvs = []*corev1.PersistentVolume
	type scs = []*storagev1.StorageClass
	for _, c := range []struct {
		name    string
		cluster Cluster
		batch   []Pod
		verdict Verdict
		reason  string
		says    string
	}{
		{"no claim", Cluster{}, web("data"), DoesNotFit, "ClaimNotFound", "claim shop/data does not exist"},
		{"claims unread", Cluster{Unread: Unread{Claims: true}}, web("data"), Unknown, "", "claims could not be read"},
		{"no class", Cluster{Claims: pvcs{claim("data", "-")}}, web("data"), DoesNotFit, "ClaimUnbound", "names no storage class, there is no default class"},
		{"no class, a default", Cluster{Claims: pvcs{claim("data", "-")}, Classes: scs{storageClass("std", "csi.example.com", wait, standard)}}, web("data"), Fits, "", ""},
		{"no such class", Cluster{Claims: pvcs{claim("data", "gold")}}, web("data"), DoesNotFit, "ClaimUnbound", "storage class gold of claim shop/data does not exist"},
		{"no such class, but a volume of it", Cluster{Claims: pvcs{claim("data", "gold")}, Volumes: pvs{volume("v", "gold", "")}}, web("data"), Unknown, "", "1 volumes"},
		{"classes unread", Cluster{Claims: pvcs{claim("data", "gold")}, Unread: Unread{Classes: true}}, web("data"), Unknown, "", "storage classes could not be read"},
		{"made when the pod has a node", Cluster{Claims: claims(3, "fast"), Classes: scs{fast}}, each(3, pod("web", "1")), Fits, "", ""},
		{"made at once", Cluster{Claims: pvcs{claim("data", "now")}, Classes: scs{storageClass("now", "csi.example.com", immediate)}}, web("data"), Unknown, "", "binds at once"},
		{"made in one zone only", Cluster{Claims: claims(5, "fast"), Classes: scs{storageClass("fast", "csi.example.com", wait, inY)}}, each(5, pod("web", "1")), DoesNotFit, "InsufficientCPU", "at most 4 of 5"},
		{"made in no zone of its nodes", Cluster{Claims: pvcs{claim("data", "fast")}, Classes: scs{storageClass("fast", "csi.example.com", wait, inY)}}, batch(1, pod("web", "1", mounts("data"), selects(zone, "x"))), DoesNotFit, "VolumeTopology", "allowed topologies"},
		{"bound to a node", Cluster{Claims: pvcs{claim("data", "", boundTo("v"))}, Volumes: pvs{volume("v", "", "b")}}, web("data"), Fits, "", ""},
		{"bound to a node that is gone", Cluster{Claims: pvcs{claim("data", "", boundTo("v"))}, Volumes: pvs{volume("v", "", "z")}}, web("data"), DoesNotFit, "VolumeNodeAffinity", "node affinity of the volume"},
		{"bound in a zone", Cluster{Claims: pvcs{claim("data", "", boundTo("v"))}, Volumes: pvs{zoned}}, batch(1, pod("web", "1", mounts("data"), selects(zone, "x"))), DoesNotFit, "VolumeZone", "its volume is in another zone"},
		{"bound to nothing", Cluster{Claims: pvcs{claim("data", "", boundTo("v"))}}, web("data"), DoesNotFit, "NoVolume", "volume v, which does not exist"},
		{"bound to what was not read", Cluster{Claims: pvcs{claim("data", "", boundTo("v"))}, Unread: Unread{Volumes: true}}, web("data"), Unknown, "", "volumes could not be read"},
		{"local", Cluster{Claims: claims(3, "local"), Classes: scs{local}, Volumes: pvs{volume("1", "local", "a"), volume("2", "local", "b"), volume("3", "local", "c")}}, each(3, pod("web", "1")), Fits, "", ""},
		{"local, too few", Cluster{Claims: claims(3, "local"), Classes: scs{local}, Volumes: pvs{volume("1", "local", "a"), volume("2", "local", "b")}}, each(3, pod("web", "1")), DoesNotFit, "NoVolume", "at most 2 of 3 fit"},
		{"local, none", Cluster{Claims: claims(1, "local"), Classes: scs{local}}, each(1, pod("web", "1")), DoesNotFit, "NoVolume", "no provisioner"},
		{"local, on a full node", Cluster{Claims: claims(1, "local"), Classes: scs{local}, Volumes: pvs{volume("1", "local", "a")}, Pods: []*corev1.Pod{pod("old", "4", on("a"))}}, each(1, pod("web", "1")), DoesNotFit, "NoVolume", "no free volume"},
		{"one pod only", Cluster{Claims: pvcs{claim("data", "", boundTo("v"), once)}, Volumes: pvs{volume("v", "", "")}}, batch(2, pod("web", "1", mounts("data"))), DoesNotFit, "ClaimInUse", "at most 1 of 2"},
		{"one pod only, there already", Cluster{Claims: pvcs{claim("data", "", boundTo("v"), once)}, Volumes: pvs{volume("v", "", "")}, Pods: []*corev1.Pod{pod("old", "1", on("a"), mounts("data"))}}, web("data"), DoesNotFit, "ClaimInUse", "another has it"},
		{"attached", Cluster{Claims: claims(4, "fast"), Classes: scs{fast}, Drivers: limits(1)}, each(4, pod("web", "500m")), DoesNotFit, "VolumeLimit", "at most 3 of 4 fit"},
		{"attached, some left", Cluster{Claims: claims(3, "fast"), Classes: scs{fast}, Drivers: limits(1)}, each(3, pod("web", "500m")), Fits, "", ""},
		{"pool too small", Cluster{Claims: claims(1, "fast"), Classes: scs{fast}, CSIDrivers: drivers, Capacities: capacity("5Gi")}, each(1, pod("web", "1")), DoesNotFit, "StorageCapacity", "not enough storage"},
		{"pool in two nodes", Cluster{Claims: claims(9, "fast"), Classes: scs{fast}, CSIDrivers: drivers, Capacities: capacity("50Gi")}, each(9, pod("web", "1")), DoesNotFit, "InsufficientCPU", "at most 8 of 9"},
		{"shared and not made yet", Cluster{Claims: pvcs{claim("data", "fast")}, Classes: scs{fast}}, batch(2, pod("web", "1", mounts("data"))), Unknown, "", "the first of them decides"},
		{"being deleted", Cluster{Claims: pvcs{claim("data", "fast", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })}, Classes: scs{fast}}, web("data"), DoesNotFit, "ClaimEnding", "is being deleted"},
		{"storage unread", Cluster{Claims: claims(1, "fast"), Classes: scs{fast}, Unread: Unread{Storage: true}}, each(1, pod("web", "1")), Unknown, "", "could not be read"},
		{"in the pod", Cluster{Classes: scs{storageClass("fast", "csi.example.com", wait, standard)}}, batch(2, pod("web", "1", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim("x", "-").Spec}}}}}
		})), Fits, "", ""},
		{"the same disk", Cluster{}, batch(4, pod("web", "500m", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDPool: "p", RBDImage: "i"}}}}
		})), DoesNotFit, "DiskConflict", "at most 3 of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cluster.Nodes = three()
			a := c.cluster.Place(c.batch)
			if a.Verdict != c.verdict {
				t.Fatalf("the verdict is %v, not %v: %+v %q", a.Verdict, c.verdict, a.Proofs, a.Unknown)
			}
			text := strings.Join(a.Unknown, "\n")
			if len(a.Proofs) > 0 {
				text += a.Proofs[0].Message
				if a.Proofs[0].Reason != c.reason {
					t.Errorf("the reason is %s, not %s: %+v", a.Proofs[0].Reason, c.reason, a.Proofs[0])
				}
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("%q is not said in %q", c.says, text)
			}
		})
	}
}
