package preflight

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// served reports kinds of the batch that the cluster does not serve.
func (f *evaluation) served() {
	defined := f.definitions()
	byKind := map[string][]*Item{}
	for _, it := range f.order {
		gk := it.Ref.GroupKind()
		if _, ok := f.World.Kinds.Kind(gk); !ok && defined[gk] == nil {
			byKind[gk.String()] = append(byKind[gk.String()], it)
		}
	}
	for _, it := range f.order {
		gk := it.Ref.GroupKind()
		items := byKind[gk.String()]
		if len(items) == 0 || items[0] != it {
			continue
		}
		j := Finding{
			Topic: References, Verdict: impossible, Object: it.Ref, Field: "kind", Value: gk.String(), Reason: "KindNotServed",
			Message: fmt.Sprintf("the cluster does not serve %s, and no CustomResourceDefinition of the batch defines it: %s cannot be created", gk, object.Count(len(items), "object")),
			Remedy:  "install what provides the kind first, or add its CustomResourceDefinition to the batch",
		}
		if !f.World.Kinds.NotServed(gk) {
			j.Verdict, j.Reason, j.Remedy = verdictUnknown, "KindUnknown", ""
			j.Message = fmt.Sprintf("whether the cluster serves %s is unknown", gk)
		}
		f.add(j)
	}
}

// namespaces reports the namespaces of the batch that are missing.
func (f *evaluation) namespaces() {
	reported := map[string]bool{}
	for _, it := range f.order {
		name := it.Ref.Namespace
		ref := object.Ref{Kind: "Namespace", Name: name}
		if name == "" || reported[name] || f.inBatch(ref) {
			continue
		}
		reported[name] = true
		n := 0
		for _, other := range f.order {
			if other.Ref.Namespace == name {
				n++
			}
		}
		j := Finding{Topic: References, Verdict: impossible, Object: it.Ref, Field: "metadata.namespace", Value: name}
		exists, known := f.exists(ref)
		switch ns, ok := check.Of[*corev1.Namespace](f.World.Facts, ref); {
		case ok && (ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating):
			j.Reason, j.Message = "NamespaceTerminating", fmt.Sprintf("Namespace/%s is being deleted: nothing can be created in it (%s)", name, object.Count(n, "object"))
			j.Remedy = "wait until it is gone, and create it again"
		case exists || ok:
			continue
		case known:
			j.Reason, j.Message = "NamespaceMissing", fmt.Sprintf("Namespace/%s does not exist, and is not in the batch: %s cannot be created", name, object.Count(n, "object"))
			j.Remedy = "create the namespace first, or add it to the batch"
		case f.asked(name):
			continue
		default:
			j.Verdict, j.Reason, j.Message = verdictUnknown, "Unread", fmt.Sprintf("whether Namespace/%s could not be read: existence unknown", name)
		}
		if j.Verdict == impossible {
			f.loseAll(name)
		}
		f.add(j)
	}
}

// asked says that the API server admitted an object of the namespace, so that it exists.
func (f *evaluation) asked(namespace string) bool {
	return slices.ContainsFunc(f.Admissions, func(a Admission) bool { return a.Ref.Namespace == namespace && a.Admitted != nil })
}

func (f *evaluation) loseAll(namespace string) {
	for _, it := range f.order {
		if it.Ref.Namespace == namespace {
			f.refuse(it)
		}
	}
}
