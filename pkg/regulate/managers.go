package regulate

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Managers of targets.
const (
	ByArgoCD = "argocd"
	ByFlux   = "flux"
	ByHelm   = "helm"
)

// HelmRelease is the kind of a Helm release as a Manager: it is no object of the cluster.
var HelmRelease = schema.GroupKind{Group: "helm.sh", Kind: "Release"}

var applicationKind = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// ManagerKinds are the kinds that manage objects of other namespaces. An object that Argo CD
// manages does not name the namespace of its Application, so suspending needs a list in all
// namespaces.
func ManagerKinds() []schema.GroupKind {
	return []schema.GroupKind{
		applicationKind,
		{Group: applicationKind.Group, Kind: "ApplicationSet"},
		{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"},
		{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"},
	}
}

// managers finds the managers of the targets of an app, for each the topmost first: a manager
// reverts changes of the one below it.
//
// Argo CD and Flux list managed objects in their status, and mark them: either is enough.
// ApplySets revert nothing, since a user must run kubectl again.
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

// keepers returns the managers of a node, and their managers, the topmost first.
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
			// An ApplicationSet owns its Applications, and reverts changes of them.
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

// revertingTool returns the tool of a manager; empty if it reverts nothing.
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

// release returns the Helm release of an object without another manager.
func (o *stateObserver) release(id graph.ID) []Manager {
	name, ok := o.Graph.Annotation(id, graph.HelmName)
	if !ok || name == "" {
		return nil
	}
	namespace, _ := o.Graph.Annotation(id, graph.HelmNamespace)
	if installedBy, _ := o.Graph.Label(id, InstalledLabel); installedBy != "" && installedBy == o.System.Name && namespace == o.Namespace {
		return nil // an app of this System: only install upgrades it
	}
	return []Manager{{Ref: object.Ref{Group: HelmRelease.Group, Kind: HelmRelease.Kind, Namespace: namespace, Name: name}, Tool: ByHelm}}
}

// marked are the managers whose marks an object has. They count even if they do not exist here:
// they may act from another cluster.
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

// tracked returns the Application that marks an object as managed. It may be in another cluster,
// or unread: its namespace is then unknown.
func (o *stateObserver) tracked(id graph.ID) (Manager, bool) {
	f, _ := o.Facts.factOf(o.Graph.Ref(id))
	if f.application == (object.Ref{}) {
		return Manager{}, false
	}
	m := Manager{Ref: f.application, Tool: ByArgoCD, Reverts: true}
	for app := range o.Graph.OfKind(applicationKind) {
		if ref := o.Graph.Ref(app); ref.Name == f.application.Name && (f.application.Namespace == "" || ref.Namespace == f.application.Namespace) {
			m.Ref = ref
			break
		}
	}
	return m, true
}
