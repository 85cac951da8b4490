package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// split separates the objects to create from those that a maker creates, and from what belongs to
// one of these: their owner will be another object.
func split(m Makers, objects []*unstructured.Unstructured) (wanted []*unstructured.Unstructured, skipped []Skip) {
	reasons := map[*unstructured.Unstructured]string{}
	for _, o := range objects {
		if reason := made(m, o); reason != "" {
			reasons[o] = reason
		}
	}
	for owners := byUID(objects); ; { // until nothing changes: owners may come after what they own
		before := len(reasons)
		for _, o := range objects {
			if ref := skippedOwner(o, owners, reasons); ref != nil && reasons[o] == "" {
				reasons[o] = fmt.Sprintf("its owner %s %s is skipped", ref.Kind, ref.Name)
			}
		}
		if len(reasons) == before {
			break
		}
	}
	for _, o := range objects {
		if reason := reasons[o]; reason != "" {
			skipped = append(skipped, Skip{refOf(o), reason})
			continue
		}
		wanted = append(wanted, o)
	}
	return wanted, skipped
}

func skippedOwner(o *unstructured.Unstructured, owners map[types.UID]*unstructured.Unstructured, reasons map[*unstructured.Unstructured]string) *metav1.OwnerReference {
	for _, ref := range o.GetOwnerReferences() {
		if owner, ok := owners[ref.UID]; ok && reasons[owner] != "" {
			return &ref
		}
	}
	return nil
}

// made returns why a maker creates the object, or "".
func made(m Makers, o *unstructured.Unstructured) string {
	if group := o.GroupVersionKind().Group; group == "metrics.k8s.io" || group == "sysop.dev" {
		return "a sample, which nobody can create"
	}
	for _, ref := range o.GetOwnerReferences() {
		controller := ref.Controller != nil && *ref.Controller
		if makes(m, ref, controller) {
			return fmt.Sprintf("made for %s %s", ref.Kind, ref.Name)
		}
	}
	return ""
}

// makes reports whether a running controller creates the dependants of this owner.
func makes(m Makers, ref metav1.OwnerReference, controller bool) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return false
	}
	switch gv.WithKind(ref.Kind).GroupKind().String() {
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "CronJob.batch", "ReplicationController":
		return m.Controllers && controller
	case "Service":
		return m.Controllers
	case "Ingress.networking.k8s.io", "Certificate.cert-manager.io", "CertificateRequest.cert-manager.io":
		return m.Certificates
	}
	return false
}
