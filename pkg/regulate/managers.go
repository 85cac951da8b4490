package regulate

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Who keeps objects as they are.
const (
	ByArgoCD = "argocd"
	ByFlux   = "flux"
	ByHelm   = "helm"
)

// HelmRelease is the kind by which a release of Helm goes as a Manager: it is no object of
// the cluster.
var HelmRelease = schema.GroupKind{Group: "helm.sh", Kind: "Release"}

var applicationKind = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// ManagerKinds are the kinds that keep objects of other namespaces as they are. Of an object
// that Argo CD keeps it is not said where its Application is, so who wants to suspend that
// reads these in all namespaces.
func ManagerKinds() []schema.GroupKind {
	return []schema.GroupKind{
		applicationKind,
		{Group: applicationKind.Group, Kind: "ApplicationSet"},
		{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"},
		{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"},
	}
}

// managers finds who keeps the targets of an app as they are, for each the topmost first:
// what stands above a manager undoes what is done to it.
//
// Argo CD and Flux list what they keep in their status, and mark it: either is enough. ApplySets revert
// nothing, since somebody must run kubectl again.
func (o *stateObserver) managers(a *observed) {
	a.state.Managers = map[object.Ref][]Manager{}
	for _, actions := range a.state.Actions {
		for i := range actions {
			for _, ref := range actions[i].Targets {
				if _, done := a.state.Managers[ref]; done {
					continue
				}
				if id, in := o.Graph.Find(ref); in {
					if chain := o.keepers(id); len(chain) > 0 {
						a.state.Managers[ref] = chain
					}
				}
			}
		}
	}
}

// keepers returns the managers of a node, and those of them, the topmost first.
func (o *stateObserver) keepers(id graph.ID) []Manager {
	var chain []Manager
	add := func(m Manager) bool {
		if slices.ContainsFunc(chain, func(have Manager) bool { return have.Ref == m.Ref }) {
			return false
		}
		chain = append(chain, m)
		return true
	}
	next := []graph.ID{id}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		above := o.Graph.ManagersOf(at)
		if at != id {
			// An ApplicationSet owns its Applications, and keeps them as well.
			above = append(above, o.Graph.OwnersOf(at)...)
		}
		for _, m := range above {
			ref := o.Graph.Ref(m)
			if tool := revertingTool(ref); tool != "" && m != id && add(Manager{Ref: ref, Tool: tool, Reverts: true}) {
				next = append(next, m)
			}
		}
		for _, m := range o.marked(at) {
			if m.Ref != o.Graph.Ref(id) && add(m) {
				if up, known := o.Graph.Find(m.Ref); known {
					next = append(next, up)
				}
			}
		}
	}
	slices.Reverse(chain)
	if len(chain) == 0 {
		return o.release(id)
	}
	return chain
}

// revertingTool says of a manager which tool it is of; empty for one that reverts nothing.
func revertingTool(r object.Ref) string {
	switch {
	case r.Group == applicationKind.Group && (r.Kind == applicationKind.Kind || r.Kind == "ApplicationSet"):
		return ByArgoCD
	case strings.HasSuffix(r.Group, ".toolkit.fluxcd.io"), r.Group == "fluxcd.controlplane.io":
		return ByFlux
	}
	return ""
}

// InstalledLabel is on the objects that were installed as apps of a System: its name.
const InstalledLabel = "sysop.dev/installed-by"

// release returns the release of Helm that an object is of, where nobody else keeps it.
func (o *stateObserver) release(id graph.ID) []Manager {
	name, ok := o.Graph.Annotation(id, graph.HelmName)
	if !ok || name == "" {
		return nil
	}
	namespace, _ := o.Graph.Annotation(id, graph.HelmNamespace)
	if installedBy, _ := o.Graph.Label(id, InstalledLabel); installedBy != "" && installedBy == o.System.Name && namespace == o.Namespace {
		return nil // It was installed as an app of this System, and nobody else upgrades it.
	}
	return []Manager{{Ref: object.Ref{Group: HelmRelease.Group, Kind: HelmRelease.Kind, Namespace: namespace, Name: name}, Tool: ByHelm}}
}

// tracking is the annotation by which Argo CD knows its own: NAME:GROUP/KIND:NAMESPACE/NAME,
// where NAME is that of the Application, with its namespace and _ before it where that is
// not the controller's (argo-cd@v3.6.1:util/argo/resource_tracking.go).
const tracking = "argocd.argoproj.io/tracking-id"

// trackedBy returns the NAME of the annotation; empty where there is none, or where it is
// that of another object: controllers copy annotations.
func trackedBy(o object.Object) string {
	app, rest, ok := strings.Cut(o.Meta.GetAnnotations()[tracking], ":")
	kind, self, both := strings.Cut(rest, ":")
	if !ok || !both || kind != o.Group+"/"+o.Kind {
		return ""
	}
	// Of a cluster-scoped object the namespace is that of the destination.
	namespace, name, _ := strings.Cut(self, "/")
	if name != o.Name || o.Namespace != "" && namespace != o.Namespace {
		return ""
	}
	return app
}

// marked are the managers that an object carries the marks of. They count whether or not the
// managers themselves are there: they may act from another cluster.
func (o *stateObserver) marked(id graph.ID) []Manager {
	var out []Manager
	if m, in := o.tracked(id); in {
		out = append(out, m)
	}
	if f, _ := o.Facts.factOf(o.Graph.Ref(id)); f.flux != (object.Ref{}) {
		out = append(out, Manager{Ref: f.flux, Tool: ByFlux, Reverts: true})
	}
	return out
}

// labeledBy returns the Kustomization or HelmRelease whose labels an object carries: Flux writes
// GROUP/name and GROUP/namespace on all that it applies (fluxcd/kustomize-controller and
// helm-controller, docs/spec). What a
// controller made may have them by copy, so there they say nothing.
func labeledBy(o object.Object) object.Ref {
	if o.Meta == nil || metav1.GetControllerOfNoCopy(o.Meta) != nil {
		return object.Ref{}
	}
	labels := o.Meta.GetLabels()
	for _, gk := range ManagerKinds() {
		name, namespace := labels[gk.Group+"/name"], labels[gk.Group+"/namespace"]
		if revertingTool(object.Ref{Group: gk.Group, Kind: gk.Kind}) == ByFlux && name != "" && namespace != "" {
			return object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
		}
	}
	return object.Ref{}
}

// tracked returns the Application that marks an object as its own. It may be in another
// cluster, or could not be read: then its namespace is not known.
func (o *stateObserver) tracked(id graph.ID) (Manager, bool) {
	f, _ := o.Facts.factOf(o.Graph.Ref(id))
	if f.tracking == "" {
		return Manager{}, false
	}
	namespace, name, qualified := strings.Cut(f.tracking, "_")
	if !qualified {
		namespace, name = "", f.tracking
	}
	m := Manager{Ref: object.Ref{Group: applicationKind.Group, Kind: applicationKind.Kind, Namespace: namespace, Name: name}, Tool: ByArgoCD, Reverts: true}
	for app := range o.Graph.OfKind(applicationKind) {
		if ref := o.Graph.Ref(app); ref.Name == name && (namespace == "" || ref.Namespace == namespace) {
			m.Ref = ref
			break
		}
	}
	return m, true
}
