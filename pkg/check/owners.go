package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Owner returns the first existing owner of an object.
func (w *ClusterState) Owner(ref object.Ref) (object.Ref, bool) {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return object.Ref{}, false
	}
	for _, owner := range w.Graph.OwnersOf(id) {
		if w.Graph.State(owner) == graph.Present {
			return w.Graph.Ref(owner), true
		}
	}
	return object.Ref{}, false
}

// maxDepth bounds a walk up the owners, which may have a cycle.
const maxDepth = 16

// Owners returns the existing owners of an object at any height, the nearest first, without
// the object itself.
func (w *ClusterState) Owners(ref object.Ref) []object.Ref {
	if w == nil || w.Graph == nil {
		return nil
	}
	return w.reach(ref, func(id graph.ID) []graph.ID {
		return slices.DeleteFunc(slices.Clone(w.Graph.OwnersOf(id)), func(o graph.ID) bool { return w.Graph.State(o) != graph.Present })
	})
}

// Top returns the topmost owner of an object: Moodle/moodle-1 of its pod. It is the object
// itself where it has no owner.
func (w *ClusterState) Top(ref object.Ref) object.Ref {
	at := ref
	for range maxDepth {
		owner, ok := w.Owner(at)
		if !ok {
			return at
		}
		at = owner
	}
	return ref
}

// BuiltInTop returns the workload above a ReplicaSet or Job.
func (w *ClusterState) BuiltInTop(ref object.Ref) object.Ref {
	for range maxDepth {
		owner, ok := w.Owner(ref)
		if !ok || !runsPods(owner) {
			break
		}
		ref = owner
	}
	return ref
}

// runsPods reports whether a built-in controller makes pods, itself or through another one.
func runsPods(r object.Ref) bool {
	switch r.Group {
	case "apps":
		return true
	case "batch":
		return r.Kind == "Job" || r.Kind == "CronJob"
	}
	return r.Group == "" && r.Kind == "ReplicationController"
}

// Owned returns the objects that an object owns, at any depth, in order, without itself.
func (w *ClusterState) Owned(ref object.Ref) []object.Ref {
	out := w.reach(ref, w.Graph.Owned)
	slices.SortFunc(out, object.Compare)
	return out
}

// reach returns the objects that repeated steps from an object reach, the nearest first,
// without itself.
func (w *ClusterState) reach(ref object.Ref, step func(graph.ID) []graph.ID) []object.Ref {
	id, ok := w.Graph.Find(ref)
	if !ok {
		return nil
	}
	seen := map[graph.ID]bool{id: true}
	next := []graph.ID{id}
	var out []object.Ref
	for at := 0; at < len(next); at++ {
		for _, to := range step(next[at]) {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
				out = append(out, w.Graph.Ref(to))
			}
		}
	}
	return out
}

// HelmRelease returns the release that installed an object; empty where there is none.
func (w *ClusterState) HelmRelease(ref object.Ref) (name, namespace string) {
	name, _ = w.Facts.Annotation(ref, graph.HelmName)
	namespace, _ = w.Facts.Annotation(ref, graph.HelmNamespace)
	return name, namespace
}

// InstalledBy names the installer of an object, by the marks that installers set; empty where
// there is none.
func (w *ClusterState) InstalledBy(ref object.Ref) string {
	if name, ns := w.HelmRelease(ref); name != "" {
		return "Helm release " + ns + "/" + name
	}
	labels := w.Labels(ref)
	for _, key := range []string{
		"helm.sh/chart", "app.kubernetes.io/managed-by", "helm.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/name", "argocd.argoproj.io/instance",
		"applyset.kubernetes.io/part-of", "addonmanager.kubernetes.io/mode", "objectset.rio.cattle.io/hash", "kapp.k14s.io/app", "olm.owner", "olm.managed",
	} {
		if v := labels[key]; v != "" {
			return "label " + key + "=" + v
		}
	}
	if labels["heritage"] != "" && labels["chart"] != "" {
		return "label chart=" + labels["chart"]
	}
	for key := range labels {
		if strings.HasPrefix(key, "operators.coreos.com/") {
			return "label " + key
		}
	}
	for _, key := range []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "helm.sh/hook"} {
		if v, ok := w.Facts.Annotation(ref, key); ok {
			return "annotation " + key + "=" + v
		}
	}
	// An object that another one made follows it: a provider of Crossplane, an operator of
	// OLM.
	if owner, ok := w.Owner(ref); ok {
		return owner.String()
	}
	return ""
}

// CustomOwner returns the custom resource whose operator writes a workload, where changes must
// be made.
func (w *ClusterState) CustomOwner(wl *Workload) (object.Ref, bool) {
	top := w.Top(wl.Ref)
	if top == wl.Ref {
		return object.Ref{}, false
	}
	r, ok := w.Kinds.Kind(top.GroupKind())
	return top, ok && r.Custom
}

// RemedyFor adds to a remedy the object to change.
func (w *ClusterState) RemedyFor(wl *Workload, remedy string) string {
	if top, ok := w.CustomOwner(wl); ok {
		return fmt.Sprintf("%s Say so in %s, whose operator writes the %s.", remedy, Describe(top), wl.Ref.Kind)
	}
	return remedy
}
