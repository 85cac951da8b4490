package preflight

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// charges are what the batch would use in a namespace: its objects, the pods, and what
// controllers make of them at once.
func (f *evaluation) charges(namespace string) []charge {
	var out []charge
	for _, it := range f.order {
		if it.Ref.Namespace == namespace {
			out = append(out, f.chargesOf(it)...)
		}
	}
	for _, c := range f.claims {
		if c.Namespace == namespace && c.podSet != nil {
			out = append(out, charge{item: c.item, usage: claimUsage(c.PersistentVolumeClaim), of: c.podSet})
		}
	}
	for _, c := range f.podSets {
		if c.pod.Namespace == namespace && !c.later {
			out = append(out, charge{item: c.item, usage: podUsage(c.pod), pod: c.pod, podSet: c})
		}
	}
	return out
}

// chargesOf is what the creation of an object of the batch uses; for an existing one, what
// the change uses more.
func (f *evaluation) chargesOf(it *Item) []charge {
	var usage corev1.ResourceList
	switch it.Ref.GroupKind() {
	case check.PodKind:
		return nil
	case claimKind:
		usage = f.changedClaim(it)
	case check.ServiceKind:
		usage = f.changedService(it)
	default:
		if !it.Exists {
			if resource := f.resourceOf(it.Ref.GroupKind()); resource.Resource != "" {
				usage = countUsage(resource)
			}
		}
	}
	out := []charge{{item: it, usage: usage}}
	for _, created := range f.madeBy(it) {
		out = append(out, charge{item: it, usage: countUsage(created)})
	}
	return out
}

func (f *evaluation) changedClaim(it *Item) corev1.ResourceList {
	if it.Exists {
		volumeClaim := typed[corev1.PersistentVolumeClaim](f, it)
		was, ok := check.Of[*corev1.PersistentVolumeClaim](f.World.Facts, it.Ref)
		if volumeClaim == nil || !ok {
			return nil
		}
		volumeClaim.Spec.StorageClassName, volumeClaim.Annotations = was.Spec.StorageClassName, was.Annotations
		return excess(claimUsage(volumeClaim), claimUsage(was))
	}
	for _, c := range f.claims {
		if c.item == it {
			return claimUsage(c.PersistentVolumeClaim)
		}
	}
	return countUsage(schema.GroupResource{Resource: "persistentvolumeclaims"})
}

func (f *evaluation) changedService(it *Item) corev1.ResourceList {
	service := typed[corev1.Service](f, it)
	if service == nil {
		return nil
	}
	if !it.Exists {
		return serviceUsage(service)
	}
	was, ok := check.Of[*corev1.Service](f.World.Facts, it.Ref)
	if !ok {
		return nil
	}
	return excess(serviceUsage(service), serviceUsage(was))
}

// madeBy are the objects that controllers make at once for a new object: ReplicaSets,
// revisions, EndpointSlices.
func (f *evaluation) madeBy(it *Item) []schema.GroupResource {
	if it.Exists {
		return nil
	}
	switch it.Ref.Group + "/" + it.Ref.Kind {
	case "apps/Deployment":
		return []schema.GroupResource{{Group: "apps", Resource: "replicasets"}}
	case "apps/StatefulSet", "apps/DaemonSet":
		return []schema.GroupResource{{Group: "apps", Resource: "controllerrevisions"}}
	case "/Service":
		if selector, _, _ := unstructured.NestedMap(it.Object.Object, "spec", "selector"); len(selector) > 0 {
			return []schema.GroupResource{{Group: "discovery.k8s.io", Resource: "endpointslices"}, {Resource: "endpoints"}}
		}
	}
	return nil
}

// resourceOf returns the plural name of a kind, of the cluster or of a definition of the
// batch; without a name where neither has it.
func (f *evaluation) resourceOf(gk schema.GroupKind) schema.GroupResource {
	if r, ok := f.World.Kinds.Kind(gk); ok {
		return schema.GroupResource{Group: gk.Group, Resource: r.Plural}
	}
	if it := f.definitions()[gk]; it != nil {
		plural, _, _ := unstructured.NestedString(it.Object.Object, "spec", "names", "plural")
		return schema.GroupResource{Group: gk.Group, Resource: plural}
	}
	return schema.GroupResource{Group: gk.Group}
}

// count finds out what is used of a new quota: the API server counts what exists.
func (f *evaluation) count(b *budget) {
	b.used = corev1.ResourceList{}
	for name := range b.hard {
		b.used[name] = resource.Quantity{}
	}
	if f.newNamespace(b.Namespace) {
		// What the control plane makes in every namespace.
		plus(b.used, masked(countUsage(schema.GroupResource{Resource: "configmaps"}), b.hard), 1)
		plus(b.used, masked(countUsage(schema.GroupResource{Resource: "serviceaccounts"}), b.hard), 1)
		return
	}
	for _, p := range check.All[*corev1.Pod](f.World.Facts, "", "Pod") {
		if p.Namespace == b.Namespace && covers(b.ResourceQuota, p) && !check.HasEnded(p) {
			plus(b.used, masked(podUsage(p), b.hard), 1)
		}
	}
	plain := len(b.Spec.Scopes) == 0 && b.Spec.ScopeSelector == nil
	for _, c := range check.All[*corev1.PersistentVolumeClaim](f.World.Facts, "", "PersistentVolumeClaim") {
		if plain && c.Namespace == b.Namespace {
			plus(b.used, masked(claimUsage(c), b.hard), 1)
		}
	}
	for _, s := range check.All[*corev1.Service](f.World.Facts, "", "Service") {
		if plain && s.Namespace == b.Namespace {
			plus(b.used, masked(serviceUsage(s), b.hard), 1)
		}
	}
	for name := range b.hard {
		f.countKind(b, name, plain)
	}
}

// countKind counts the objects of one kind, and says so where they were not read.
func (f *evaluation) countKind(b *budget, name corev1.ResourceName, whole bool) {
	gk := check.PodKind
	counted, byCount := strings.CutPrefix(string(name), "count/")
	switch {
	case strings.Contains(string(name), classSuffix), name == corev1.ResourceRequestsStorage:
		gk = claimKind
	case strings.HasPrefix(string(name), "services."):
		gk = check.ServiceKind
	case byCount, slices.Contains(legacy, string(name)):
		plural, group, _ := strings.Cut(counted, ".")
		r, ok := f.World.Kinds.Resource(schema.GroupResource{Group: group, Resource: plural})
		if !ok {
			return
		}
		gk = r.GroupKind()
		if whole && gk != check.PodKind && gk != claimKind && gk != check.ServiceKind {
			n := 0
			for _, ref := range f.World.Instances(gk) {
				if ref.Namespace == b.Namespace {
					n++
				}
			}
			plus(b.used, corev1.ResourceList{name: one()}, n)
		}
	}
	if !f.World.Read(gk, b.Namespace) {
		delete(b.used, name)
		b.unread[name] = unread(gk, b.Namespace)
	}
}

// masked leaves what a quota limits.
func masked(list, hard corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range list {
		if _, ok := hard[name]; ok {
			out[name] = q
		}
	}
	return out
}
