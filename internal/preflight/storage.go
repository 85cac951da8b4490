package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// noProvisioner is the provisioner of classes whose volumes are made by hand.
const noProvisioner = "kubernetes.io/no-provisioner"

// storage says whether the claims that are to be made find a volume, or a provisioner that
// creates one. Which node a volume suits is a matter of scheduling.
func (f *evaluation) storage() {
	f.sharedVolumes()
	if len(f.claims) == 0 {
		return
	}
	f.checked[Storage] = fmt.Sprintf("%s: each has a class that creates volumes, or a matching volume", object.Count(len(f.claims), "claim"))
	var byHand []*claim
	reported := map[string]bool{} // each template is reported once
	for _, c := range f.claims {
		j, hand := f.claimOutcome(c)
		if hand {
			byHand = append(byHand, c)
		}
		if j == nil {
			continue
		}
		j.Topic, j.Object, j.Origin = Storage, c.item.Ref, c.item.Origin
		if j.Field == "" {
			j.Field = c.field + ".storageClassName"
		}
		if j.Verdict == impossible && c.podSet != nil {
			c.podSet.lost = true
		}
		if key := c.item.Ref.String() + j.Field + j.Reason + j.Value; !reported[key] {
			reported[key] = true
			f.add(*j)
		}
	}
	f.byHand(byHand)
	f.markLost()
}

// claimOutcome returns the problem of a claim; nil if none is known. hand reports that it needs one
// of the existing volumes.
func (f *evaluation) claimOutcome(c *claim) (j *Finding, hand bool) {
	name := volumehelpers.GetPersistentVolumeClaimClass(c.PersistentVolumeClaim)
	class := f.class(name)
	switch {
	case c.Spec.VolumeName != "":
		return f.named(c), false
	case name == "" && c.Spec.StorageClassName == nil && !f.World.Read(classKind, ""):
		return &Finding{Verdict: verdictUnknown, Reason: "Unread", Message: fmt.Sprintf("claim %s names no class, and %s: whether there is a default is unknown", c.Name, unread(classKind, ""))}, false
	case f.anySuits(c.PersistentVolumeClaim):
		return nil, class == nil || class.Provisioner == noProvisioner
	case name == "":
		return f.withoutClass(c), false
	case class == nil && !f.World.Read(classKind, ""):
		return &Finding{Verdict: verdictUnknown, Reason: "Unread", Value: name, Message: fmt.Sprintf("whether StorageClass/%s exists is unknown: %s", name, unread(classKind, ""))}, false
	case class == nil:
		return &Finding{
			Verdict: impossible, Reason: "StorageClassMissing", Value: name,
			Message: fmt.Sprintf("claim %s names StorageClass/%s, which does not exist, and no volume of that class matches: it stays Pending, and pods that mount it too", c.Name, name),
			Remedy:  "create the class, or name one that exists",
		}, false
	case class.Provisioner == noProvisioner && !f.World.Read(volumeKind, ""):
		return &Finding{Verdict: verdictUnknown, Reason: "Unread", Value: name, Message: fmt.Sprintf("volumes of class %s are created by hand, and %s", name, unread(volumeKind, ""))}, false
	case class.Provisioner == noProvisioner:
		return &Finding{
			Verdict: impossible, Reason: "NoVolume", Value: name,
			Message: fmt.Sprintf("class %s creates no volumes (%s), and no available one matches claim %s (%s): it stays Pending", name, noProvisioner, c.Name, wants(c.PersistentVolumeClaim)),
			Remedy:  "create a matching PersistentVolume, or name a class that creates volumes",
		}, false
	}
	if c.Spec.Selector != nil {
		return &Finding{
			Verdict: verdictUnknown, Reason: "SelectorOnNewVolume", Field: c.field + ".selector",
			Message: fmt.Sprintf("claim %s selects volumes by label, no available one matches, and few provisioners create one for a claim with a selector", c.Name),
			Remedy:  "remove the selector, or create a PersistentVolume that it selects",
		}, false
	}
	f.note("whether %s creates volumes of class %s", class.Provisioner, name)
	return nil, false
}

func (f *evaluation) withoutClass(c *claim) *Finding {
	if !f.World.Read(volumeKind, "") {
		return &Finding{Verdict: verdictUnknown, Reason: "Unread", Message: fmt.Sprintf("claim %s has no class, and %s: whether one matches is unknown", c.Name, unread(volumeKind, ""))}
	}
	if c.Spec.StorageClassName != nil {
		return &Finding{
			Verdict: impossible, Reason: "NoVolume", Value: `""`,
			Message: fmt.Sprintf("claim %s requests a volume without a class, and no available one matches (%s): it stays Pending", c.Name, wants(c.PersistentVolumeClaim)),
			Remedy:  "create a matching PersistentVolume, or name a class that creates volumes",
		}
	}
	return &Finding{
		Verdict: impossible, Reason: "NoDefaultClass",
		Message: fmt.Sprintf("claim %s names no class, the cluster has no default class, and no volume without a class matches (%s): it stays Pending, and pods that mount it too", c.Name, wants(c.PersistentVolumeClaim)),
		Remedy:  "name a StorageClass in the claim, or mark one as the default",
	}
}

// named returns the problem of a claim that names its volume.
func (f *evaluation) named(c *claim) *Finding {
	ref := object.Ref{Kind: "PersistentVolume", Name: c.Spec.VolumeName}
	for _, v := range f.volumes() {
		if v.Name != ref.Name {
			continue
		}
		if suits(c.PersistentVolumeClaim, v) {
			return nil
		}
		return &Finding{
			Verdict: impossible, Reason: "VolumeUnsuitable", Field: c.field + ".volumeName", Value: ref.Name,
			Message: fmt.Sprintf("claim %s names PersistentVolume/%s, which does not match: it requests %s, and the volume is %s", c.Name, ref.Name, wants(c.PersistentVolumeClaim), offers(v)),
			Remedy:  "correct the claim, or free the volume",
		}
	}
	if !f.World.Read(volumeKind, "") {
		return &Finding{Verdict: verdictUnknown, Reason: "Unread", Field: c.field + ".volumeName", Value: ref.Name, Message: unread(volumeKind, "")}
	}
	return &Finding{
		Verdict: impossible, Reason: "VolumeMissing", Field: c.field + ".volumeName", Value: ref.Name,
		Message: fmt.Sprintf("claim %s names PersistentVolume/%s, which does not exist: it stays Pending", c.Name, ref.Name),
		Remedy:  "create the volume, or remove volumeName",
	}
}

func (f *evaluation) anySuits(c *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(f.volumes(), func(v *corev1.PersistentVolume) bool { return suits(c, v) })
}

// byHand says whether there are enough volumes for the claims that need an existing one: no
// two can have the same.
func (f *evaluation) byHand(claims []*claim) {
	suiting := make([]map[string]bool, len(claims))
	for n, c := range claims {
		suiting[n] = map[string]bool{}
		for _, v := range f.volumes() {
			if suits(c.PersistentVolumeClaim, v) {
				suiting[n][v.Name] = true
			}
		}
	}
	var unsure *claim
	for n, c := range slices.Backward(claims) {
		rivals, needy := contenders(suiting, n)
		if needy > len(suiting[n]) {
			if c.podSet != nil {
				c.podSet.lost = true
			}
			f.add(Finding{
				Topic: Storage, Verdict: impossible, Object: c.item.Ref, Field: c.field, Reason: "TooFewVolumes",
				Message: fmt.Sprintf("%s would match claim %s (%s), and other claims of the batch need all of them: one stays Pending", object.Count(len(suiting[n]), "volume"), c.Name, wants(c.PersistentVolumeClaim)),
				Remedy:  "create another matching PersistentVolume",
			})
			return
		}
		if rivals > len(suiting[n]) {
			unsure = c
		}
	}
	if unsure != nil {
		f.add(Finding{
			Topic: Storage, Verdict: verdictUnknown, Object: unsure.item.Ref, Field: unsure.field, Reason: "BindingOrder",
			Message: fmt.Sprintf("which claim gets which volume is not certain: %s may get none", unsure.Name),
			Remedy:  "name the volume in the claim, or set a claimRef on the volume",
		})
	}
}

// contenders counts the claims that could take a volume that suits the n-th, and those that
// no other volume suits; the n-th is among both.
func contenders(suiting []map[string]bool, n int) (rivals, needy int) {
	for _, other := range suiting {
		shared := 0
		for v := range other {
			if suiting[n][v] {
				shared++
			}
		}
		if shared > 0 {
			rivals++
		}
		if shared == len(other) {
			needy++
		}
	}
	return rivals, needy
}

// markLost marks the podSets that mount a claim of the batch that finds no volume.
func (f *evaluation) markLost() {
	lostClaims := map[object.Ref]bool{}
	for _, j := range f.found {
		if j.Topic == Storage && j.Verdict == impossible {
			lostClaims[j.Object] = true
		}
	}
	for _, c := range f.podSets {
		for i := range c.pod.Spec.Volumes {
			if v := c.pod.Spec.Volumes[i].PersistentVolumeClaim; v != nil && lostClaims[object.Ref{Kind: "PersistentVolumeClaim", Namespace: c.pod.Namespace, Name: v.ClaimName}] {
				c.lost = true
			}
		}
	}
}

// wants writes what a claim requests: 10Gi ReadWriteOnce.
func wants(c *corev1.PersistentVolumeClaim) string {
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	words := []string{size.String()}
	for _, m := range c.Spec.AccessModes {
		words = append(words, string(m))
	}
	return strings.Join(words, " ")
}

func offers(v *corev1.PersistentVolume) string {
	size := v.Spec.Capacity[corev1.ResourceStorage]
	words := []string{size.String()}
	for _, m := range v.Spec.AccessModes {
		words = append(words, string(m))
	}
	words = append(words, fmt.Sprintf("of class %q", v.Spec.StorageClassName))
	if v.Spec.ClaimRef != nil {
		words = append(words, fmt.Sprintf("reserved for %s/%s", v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name))
	}
	if v.Status.Phase != "" {
		words = append(words, string(v.Status.Phase))
	}
	return strings.Join(words, " ")
}
