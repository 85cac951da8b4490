package preflight

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// claim is a PersistentVolumeClaim that the batch would make.
type claim struct {
	*corev1.PersistentVolumeClaim
	// item says that it is to be, itself or by a template.
	item   *Item
	field  string
	podSet *podSet
}

func (c *claim) ref() object.Ref { return refOf(claimKind, c) }

// readClaims finds the claims that are to be made: those of the batch, those of the
// templates of StatefulSets, and those of volumes that live with their pods.
func (f *evaluation) readClaims() {
	for _, it := range f.ofKind(claimKind) {
		if _, ok := check.Of[*corev1.PersistentVolumeClaim](f.World.Facts, it.Ref); ok || it.Exists {
			continue
		}
		if p := typed[corev1.PersistentVolumeClaim](f, it); p != nil {
			f.claims = append(f.claims, f.newClaim(it, "spec", p.ObjectMeta, p.Spec))
		}
	}
	for _, c := range f.podSets {
		if c.later {
			continue
		}
		for i := range c.missing() {
			f.claimsOf(c, i)
		}
	}
}

// claimsOf adds the claims of one pod of a pod set that do not exist yet.
func (f *evaluation) claimsOf(c *podSet, i int) {
	for n := range c.templates {
		t := &c.templates[n]
		meta := metav1.ObjectMeta{Namespace: c.pod.Namespace, Name: fmt.Sprintf("%s-%s-%d", t.Name, c.base, c.ordinal(i)), Labels: t.Labels, Annotations: t.Annotations}
		ref := object.Ref{Kind: "PersistentVolumeClaim", Namespace: meta.Namespace, Name: meta.Name}
		if exists, _ := f.exists(ref); exists || f.inBatch(ref) {
			continue
		}
		created := f.newClaim(c.item, fmt.Sprintf("spec.volumeClaimTemplates[%d].spec", n), meta, t.Spec)
		created.podSet = c
		f.claims = append(f.claims, created)
	}
	for n := range c.pod.Spec.Volumes {
		v := &c.pod.Spec.Volumes[n]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		t := v.Ephemeral.VolumeClaimTemplate
		meta := metav1.ObjectMeta{Namespace: c.pod.Namespace, Name: c.podName(i) + "-" + v.Name, Labels: t.Labels, Annotations: t.Annotations}
		created := f.newClaim(c.item, fmt.Sprintf("spec.template.spec.volumes[%d].ephemeral.volumeClaimTemplate.spec", n), meta, t.Spec)
		created.podSet = c
		f.claims = append(f.claims, created)
	}
}

func (f *evaluation) newClaim(it *Item, field string, meta metav1.ObjectMeta, spec corev1.PersistentVolumeClaimSpec) *claim {
	p := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name, Labels: meta.Labels, Annotations: meta.Annotations}, Spec: *spec.DeepCopy()}
	p.Status.Phase = corev1.ClaimPending
	// What the admission plugin for default classes does.
	if _, old := p.Annotations[corev1.BetaStorageClassAnnotation]; p.Spec.StorageClassName == nil && !old {
		if class := f.defaultClass(); class != nil {
			p.Spec.StorageClassName = &class.Name
		}
	}
	return &claim{PersistentVolumeClaim: p, item: it, field: field}
}

// ordinal is the number of the i-th pod that is missing. Those that are kept have the
// numbers that they have.
func (c *podSet) ordinal(i int) int {
	has := map[string]bool{}
	for _, p := range c.kept {
		has[p.Name] = true
	}
	for n := c.start; ; n++ {
		if has[fmt.Sprintf("%s-%d", c.base, n)] {
			continue
		}
		if i == 0 {
			return n
		}
		i--
	}
}

// podName is what the i-th pod that is missing would be called, as far as that matters.
func (c *podSet) podName(i int) string {
	switch {
	case c.of.GroupKind() == check.PodKind:
		return c.base
	case c.of.Kind == "StatefulSet" || len(c.templates) > 0:
		return fmt.Sprintf("%s-%d", c.base, c.ordinal(i))
	}
	return fmt.Sprintf("%s-foreseen-%d", c.base, len(c.kept)+i)
}

const (
	defaultClassKey     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassKey = "storageclass.beta.kubernetes.io/is-default-class"
)

// defaultClass returns the class of claims that name none: of several the newest, as the
// API server takes it.
func (f *evaluation) defaultClass() *storagev1.StorageClass {
	var defaults []*storagev1.StorageClass
	for _, c := range together[storagev1.StorageClass](f, classKind) {
		if c.Annotations[defaultClassKey] == "true" || c.Annotations[betaDefaultClassKey] == "true" {
			defaults = append(defaults, c)
		}
	}
	if len(defaults) == 0 {
		return nil
	}
	slices.SortStableFunc(defaults, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return defaults[0]
}

func (f *evaluation) class(name string) *storagev1.StorageClass {
	for _, c := range together[storagev1.StorageClass](f, classKind) {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// volumes are those that there would be, each in the phase in which it can be bound.
func (f *evaluation) volumes() []*corev1.PersistentVolume {
	if f.pvs != nil {
		return f.pvs
	}
	all := slices.Clone(together[corev1.PersistentVolume](f, volumeKind))
	for i, v := range all {
		if it := f.items[refOf(volumeKind, v)]; it != nil && !it.Exists {
			v = v.DeepCopy()
			v.Status.Phase = corev1.VolumeAvailable
			all[i] = v
		}
	}
	f.pvs = all
	return all
}

// suits says whether a claim could be bound to a volume as it is.
func suits(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) bool {
	if c.Spec.VolumeName != "" && c.Spec.VolumeName != v.Name || !volumehelpers.CheckAccessModes(c, v) {
		return false
	}
	if c.Spec.VolumeName != "" {
		v = v.DeepCopy()
		v.Labels = nil
		named := *c
		named.Spec.Selector = nil
		c = &named
	}
	found, err := volumehelpers.FindMatchingVolume(c, []*corev1.PersistentVolume{v}, nil, nil, false, true)
	return err == nil && found != nil
}
