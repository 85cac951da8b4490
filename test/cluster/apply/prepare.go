package apply

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prepare returns the object for its creation: without the fields of the old cluster, and with the
// new UIDs of its owners. A reference to an owner outside of the input is unchanged; the garbage
// collector, if it runs, deletes an object all of whose owners are missing.
func (a *applier) prepare(in *unstructured.Unstructured) *unstructured.Unstructured {
	o := in.DeepCopy()
	for _, field := range []string{
		"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if refs := o.GetOwnerReferences(); len(refs) > 0 {
		for i := range refs {
			if uid, ok := a.uids[refs[i].UID]; ok {
				refs[i].UID = uid
			}
		}
		o.SetOwnerReferences(refs)
	}
	switch gk := o.GroupVersionKind().GroupKind(); gk.String() {
	case "CustomResourceDefinition.apiextensions.k8s.io":
		unstructured.RemoveNestedField(o.Object, "status")
	case "Service":
		prepareService(o)
	case "Pod":
		a.preparePod(o)
	case "Job.batch":
		prepareJob(o)
	case "PersistentVolume":
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "uid")
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "resourceVersion")
	case "PersistentVolumeClaim": // the binding is made anew: the volume does not know this claim's UID
		removeAnnotations(o, "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller")
	case "Secret", "ServiceAccount":
		removeAnnotations(o, "kubernetes.io/service-account.uid")
	}
	return o
}

// prepareService lets the new cluster choose the address, since its range differs. A headless
// Service stays one.
func prepareService(o *unstructured.Unstructured) {
	if ip, _, _ := unstructured.NestedString(o.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIPs")
	}
}

// preparePod lets the scheduler bind a pod whose node is not here, and the
// priority be computed from the class.
func (a *applier) preparePod(o *unstructured.Unstructured) {
	if node, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName"); a.makers.Scheduler && !a.nodes[node] {
		unstructured.RemoveNestedField(o.Object, "spec", "nodeName")
	}
	unstructured.RemoveNestedField(o.Object, "spec", "priority")
}

// prepareJob removes the selector with the old UID; the new cluster generates one, and refuses
// others.
func prepareJob(o *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(o.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(o.Object, "spec", "selector")
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
			unstructured.RemoveNestedField(o.Object, append(slices.Clone(path), label)...)
		}
	}
}

func removeAnnotations(o *unstructured.Unstructured, names ...string) {
	annotations := o.GetAnnotations()
	for _, n := range names {
		delete(annotations, n)
	}
	o.SetAnnotations(annotations)
}

// Condition reports whether the object's status has the condition, and it is true.
func Condition(o *unstructured.Unstructured, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions") // of another shape, it has none
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == name && m["status"] == string(metav1.ConditionTrue)
	})
}
